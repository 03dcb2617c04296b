//! Texts with placeholders for values of clusters: `values/env/{env}.yaml`.

use super::output_path::check_value;
use super::view::{View, dotted, scalar_text};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, nearest};
use dropforge_value::Data;

/// A part of a text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternPart {
    Text(String),
    /// The dotted path of a value or the name of something, and its default.
    Placeholder(String, Option<String>),
}

/// Splits a text at its placeholders: `{a.b}`, and `{a.b|none}` with a default. Every placeholder stands between two texts.
/// `bad` makes the error of a text that is invalid for a reason.
///
/// # Errors
/// That error, for braces that do not match and an empty placeholder; `plan.bad_output_name` for a default that cannot be
/// part of a path.
pub(super) fn split(text: &str, bad: &dyn Fn(&str) -> Box<Diagnostic>) -> Result<Vec<PatternPart>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, behind)) = behind.split_once('}') else {
            return Err(bad("unclosed `{`").with_help("add the closing `}` after the name"));
        };
        if before.contains('}') || name.contains('{') {
            return Err(bad("braces do not match"));
        }
        parts.push(PatternPart::Text(before.to_owned()));
        let (path, default) = split_default(name);
        let (path, default) = (path.trim(), default.map(str::trim));
        if path.is_empty() {
            return Err(bad("empty placeholder `{}`"));
        }
        default.map_or(Ok(()), |default| check_value(default, &format!("the default of `{path}`")))?;
        parts.push(PatternPart::Placeholder(dotted(path), default.map(str::to_owned)));
        rest = behind;
    }
    if rest.contains('}') {
        return Err(bad("`}` without `{`"));
    }
    parts.push(PatternPart::Text(rest.to_owned()));
    Ok(parts)
}

/// Splits a placeholder into its path and its default.
pub(super) fn split_default(placeholder: &str) -> (&str, Option<&str>) {
    placeholder.split_once('|').map_or((placeholder, None), |(path, default)| (path, Some(default)))
}

/// Adds the help for a placeholder that `some`, clusters or documents, have no value for, unless there is another.
pub(super) fn helped(mut error: Box<Diagnostic>, path: &str, some: &str) -> Box<Diagnostic> {
    error.help.get_or_insert_with(|| format!("`{{{path}|TEXT}}` is `TEXT` for {some} without it"));
    error
}

/// Returns the text of the scalar at a dotted path of a cluster's inputs. `None` if it is missing.
///
/// # Errors
/// The error of `bad` for a list or a map; `plan.bad_output_name` if the text cannot be part of a path.
pub(super) fn text_of(
    inputs: &View<'_>,
    path: &str,
    bad: &dyn Fn(String) -> Box<Diagnostic>,
) -> Result<Option<String>> {
    let text = scalar_of(inputs, path, bad)?;
    text.iter().try_for_each(|text| check_value(text, &format!("`{path}` value")))?;
    Ok(text)
}

/// Works like [`text_of`] for a text that need not be part of a path.
fn scalar_of(inputs: &View<'_>, path: &str, bad: &dyn Fn(String) -> Box<Diagnostic>) -> Result<Option<String>> {
    match inputs.get(path) {
        None | Some(Data::Null) => Ok(None),
        Some(other @ (Data::List(_) | Data::Map(_))) => Err(bad(format!("`{path}` is a {}", other.kind()))),
        Some(scalar) => Ok(Some(scalar_text(scalar))),
    }
}

/// Adds the name of a value that may be meant by the missing one at `path`.
pub(super) fn with_near(error: Box<Diagnostic>, path: &str, inputs: &View<'_>, more: &[&str]) -> Box<Diagnostic> {
    let top = path.split('.').next().unwrap_or(path);
    match nearest(top, inputs.names_at("").chain(more.iter().copied())) {
        Some(near) if near != top => error.with_help(format!("did you mean `{near}`?")),
        _ => helped(error, path, "clusters"),
    }
}

/// A text whose placeholders are values of clusters, or `{cluster}`, the name of one.
///
/// ```
/// use dropforge::bulk::{Merge, Pattern, View};
/// use dropforge::value::{Data, DataMap};
/// let pattern = Pattern::parse("layer", "values/{env}/{cluster}.yaml").unwrap();
/// let own = DataMap::from_iter([("env".to_owned(), Data::Str("prod".to_owned()))]);
/// let path = pattern.text_for("eu-1", &View::new(&DataMap::default(), &own, Merge::Deep)).unwrap();
/// assert_eq!(path, "values/prod/eu-1.yaml");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The noun for it in errors.
    what: &'static str,
    text: String,
    parts: Vec<PatternPart>,
}

/// The placeholder for the name of the cluster.
const CLUSTER: &str = "cluster";

impl Pattern {
    /// Parses a text. `what` is a noun for it, for errors.
    ///
    /// # Errors
    /// `plan.bad_layout` if braces do not match or a placeholder is empty; `plan.bad_output_name` for a default that cannot be
    /// part of a path.
    pub fn parse(what: &'static str, text: &str) -> Result<Self> {
        let bad = |why: &str| Diagnostic::new(Code::BadLayout, format!("invalid {what} `{text}`: {why}"));
        Ok(Self { what, text: text.to_owned(), parts: split(text, &bad)? })
    }

    /// Returns the text as it was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the paths of values in the text, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            PatternPart::Placeholder(path, _) if path != CLUSTER => Some(path.as_str()),
            _ => None,
        })
    }

    /// Returns `true` if the text is the same for all clusters.
    pub fn is_constant(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, PatternPart::Text(_)))
    }

    /// Returns the text for a cluster.
    ///
    /// # Errors
    /// `plan.bad_layout` if a value is missing or not a scalar; `plan.bad_output_name` if one cannot be part of a path.
    pub fn text_for(&self, cluster: &str, inputs: &View<'_>) -> Result<String> {
        self.known_text_for(cluster, inputs)?.map_err(|path| self.missing(path, inputs))
    }

    /// Returns the texts of a list for a cluster, which need not be parts of a path: the items of the list that the only
    /// placeholder stands for, or else the text, split at commas. Empty ones are left out.
    ///
    /// # Errors
    /// `plan.bad_layout` if a value is missing, or neither a scalar nor a list of scalars.
    pub fn items_for(&self, cluster: &str, inputs: &View<'_>) -> Result<Vec<String>> {
        if let [PatternPart::Text(before), PatternPart::Placeholder(path, _), PatternPart::Text(after)] = &*self.parts
            && let (Some(Data::List(items)), true) = (inputs.get(path), before.is_empty() && after.is_empty())
        {
            let item = |item: &Data| match item {
                Data::List(_) | Data::Map(_) => Err(self.bad(format!("an item of `{path}` is a {}", item.kind()))),
                scalar => Ok(scalar_text(scalar)),
            };
            return items.iter().map(item).collect();
        }
        let text = self.filled(cluster, &|path| scalar_of(inputs, path, &|why| self.bad(why)))?;
        let text = text.map_err(|path| self.missing(path, inputs))?;
        Ok(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
    }

    fn missing(&self, path: &str, inputs: &View<'_>) -> Box<Diagnostic> {
        with_near(self.bad(format!("the cluster has no `{path}`")), path, inputs, &[CLUSTER])
    }

    /// Returns the text for a cluster, or the path of the first value that is missing.
    pub(super) fn known_text_for(&self, cluster: &str, inputs: &View<'_>) -> Result<std::result::Result<String, &str>> {
        self.filled(cluster, &|path| text_of(inputs, path, &|why| self.bad(why)))
    }

    /// Returns the text with the values that `get` finds, or the path of the first one that is missing.
    fn filled(
        &self,
        cluster: &str,
        get: &dyn Fn(&str) -> Result<Option<String>>,
    ) -> Result<std::result::Result<String, &str>> {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                PatternPart::Text(text) => all.push_str(text),
                PatternPart::Placeholder(path, _) if path == CLUSTER => {
                    check_value(cluster, "cluster name")?;
                    all.push_str(cluster);
                }
                PatternPart::Placeholder(path, default) => match get(path)?.or_else(|| default.clone()) {
                    Some(text) => all.push_str(&text),
                    None => return Ok(Err(path)),
                },
            }
        }
        Ok(Ok(all))
    }

    fn bad(&self, why: String) -> Box<Diagnostic> {
        Diagnostic::new(Code::BadLayout, format!("cannot fill in {} `{}`: {why}", self.what, self.text))
    }
}
