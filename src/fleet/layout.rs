//! Layouts: patterns of output paths such as `{cluster}/{template}`.

use super::output_path::fit_file_name;
use super::pattern::{PatternPart, split, split_default, text_of, with_near};
use super::view::View;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The default layout.
pub const DEFAULT_LAYOUT: &str = "{cluster}/{template}";

/// The default layout of a run with several releases.
pub const RELEASES_LAYOUT: &str = "{cluster}/{release}/{template}";

/// A path with placeholders for the cluster name, the template name and the cluster's inputs.
///
/// ```
/// use dropforge::bulk::Layout;
/// let layout = Layout::parse("{region}/{cluster}/{template}").unwrap();
/// assert_eq!(layout.inputs().collect::<Vec<_>>(), ["region"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    text: String,
    parts: Vec<LayoutPart>,
    /// `true` if there is one cluster, which has no name.
    is_of_one: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LayoutPart {
    Text(String),
    Cluster,
    /// The name of the release, in a run with several.
    Release,
    Template,
    /// The scalar at a dotted path of the cluster's layered inputs, with its default: `region|none`.
    Input(String),
    /// The scalar at a dotted path of the document that the file contains, with its default.
    Field(String),
    /// The extension of the template name, with its dot.
    Extension,
}

/// Top-level fields of a document that a layout can use without a prefix.
const FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "name", "namespace"];

/// The prefix of all other fields of a document.
const DOCUMENT: &str = "document.";

/// Returns the document field that a placeholder refers to in a layout of documents.
fn field(path: &str) -> Option<&str> {
    let top = split_default(path).0.split('.').next().unwrap_or(path);
    path.strip_prefix(DOCUMENT).or_else(|| FIELDS.contains(&top).then_some(path))
}

impl Layout {
    /// Parses a layout. `{cluster}` and `{template}` are the names; any other `{a.b}` is a scalar of the cluster's
    /// layered inputs, and `{a.b|none}` one with a default.
    ///
    /// # Errors
    /// `plan.bad_layout` if braces do not match or a placeholder is empty; `plan.bad_output_name` for a default that cannot be
    /// part of a path.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_of(text, false)
    }

    /// Parses a layout of a run with several releases, in which `{release}` is the name of one.
    ///
    /// # Errors
    /// Same as [`Layout::parse`].
    #[doc(hidden)]
    pub fn of_releases(text: &str) -> Result<Self> {
        Self::parse_of(text, true)
    }

    fn parse_of(text: &str, of_releases: bool) -> Result<Self> {
        let bad = |why: &str| {
            Diagnostic::new(Code::BadLayout, format!("invalid layout `{text}`: {why}"))
                .with_help(format!("the default layout is `{DEFAULT_LAYOUT}`"))
        };
        let named = |part| match part {
            PatternPart::Text(text) => Ok(LayoutPart::Text(text)),
            PatternPart::Placeholder(path, default) => Ok(match (path.as_str(), default) {
                ("cluster", None) => LayoutPart::Cluster,
                ("template", None) => LayoutPart::Template,
                ("release", None) if of_releases => LayoutPart::Release,
                ("cluster" | "template", _) => return Err(bad("`{cluster}` and `{template}` take no default")),
                (_, None) => LayoutPart::Input(path),
                (_, Some(default)) => LayoutPart::Input(format!("{path}|{default}")),
            }),
        };
        let parts = split(text, &bad)?.into_iter().map(named).collect::<Result<Vec<_>>>()?;
        if parts.len() == 1 {
            return Err(bad("no placeholder such as `{cluster}`"));
        }
        Ok(Self { text: text.to_owned(), parts, is_of_one: false })
    }

    /// Converts the layout for one cluster without a name, which is how a folder is rendered without a fleet.
    ///
    /// # Errors
    /// `plan.bad_layout` if the layout has the placeholder `{cluster}`.
    ///
    /// ```
    /// use dropforge::bulk::Layout;
    /// assert!(Layout::parse("{kind}-{name}").unwrap().of_one().unwrap().of_documents().is_ok());
    /// assert!(Layout::parse("{cluster}/{template}").unwrap().of_one().is_err());
    /// ```
    #[doc(hidden)]
    pub fn of_one(mut self) -> Result<Self> {
        self.is_of_one = true;
        match self.parts.contains(&LayoutPart::Cluster) {
            false => Ok(self),
            true => {
                let message = format!("layout `{}` uses `{{cluster}}`, but there is no fleet", self.text);
                Err(Diagnostic::new(Code::BadLayout, message)
                    .with_help("remove it, or name a fleet: `dropforge stamp`"))
            }
        }
    }

    /// Returns `true` if there is [one cluster](Layout::of_one), which has no name.
    pub(super) fn is_of_one(&self) -> bool {
        self.is_of_one
    }

    /// Converts the layout for templates that produce documents: the placeholders `{kind}`, `{apiVersion}`, `{name}`,
    /// `{namespace}`, `{metadata.a}` and `{document.a.b}` become fields of the document. If there are any, each document
    /// gets its own file, and the extension of the format is added if the layout has none.
    ///
    /// # Errors
    /// `plan.bad_layout` if two clusters could share a path. Fields are known only after rendering, so the cluster name
    /// must be a directory.
    ///
    /// ```
    /// use dropforge::bulk::Layout;
    /// let layout = Layout::parse("{region}/{cluster}/{kind}-{name}").unwrap().of_documents().unwrap();
    /// assert_eq!(layout.inputs().collect::<Vec<_>>(), ["region"]);
    /// assert_eq!(layout.fields().collect::<Vec<_>>(), ["kind", "name"]);
    /// ```
    #[doc(hidden)]
    pub fn of_documents(mut self) -> Result<Self> {
        for part in &mut self.parts {
            if let LayoutPart::Input(path) = part
                && let Some(field) = field(path)
            {
                *part = LayoutPart::Field(field.to_owned());
            }
        }
        if self.fields().next().is_some() {
            if !self.is_of_one {
                self.check_cluster_directory()?;
            }
            self.add_extension();
        }
        Ok(self)
    }

    /// Checks that the cluster name is a directory, before any template name.
    fn check_cluster_directory(&self) -> Result<()> {
        // Every placeholder stands between two texts.
        let is_directory = |(at, window): (usize, &[LayoutPart])| match window {
            [LayoutPart::Text(before), LayoutPart::Cluster, LayoutPart::Text(after)] => {
                (before.ends_with('/') || (before.is_empty() && at == 0)) && after.starts_with('/')
            }
            _ => false,
        };
        let template = self.parts.iter().position(|part| *part == LayoutPart::Template).unwrap_or(self.parts.len());
        if self.parts.windows(3).take(template).enumerate().any(is_directory) {
            return Ok(());
        }
        let message = format!("layout `{}` uses document fields without the directory `{{cluster}}`", self.text);
        Err(Diagnostic::new(Code::BadLayout, message)
            .with_note("document fields are known only after rendering, so two clusters could write the same file")
            .with_help("start the layout with `{cluster}/`"))
    }

    /// Returns `true` if paths of clusters with different names are different, whatever their inputs, and if the paths of
    /// one cluster collide as those of any other do.
    pub(super) fn divides_clusters(&self) -> bool {
        // Inputs and cluster names have no `/`, template names may have some.
        let (mut named, mut names) = (false, [0; 3]);
        let mut ends = |[clusters, templates, others]: [usize; 3]| {
            named |= clusters == 1 && templates + others == 0;
            templates == 0 || (named && others == 0)
        };
        for part in &self.parts {
            match part {
                LayoutPart::Text(text) if text.contains('/') => {
                    if !ends(std::mem::take(&mut names)) {
                        return false;
                    }
                }
                LayoutPart::Text(_) => {}
                LayoutPart::Cluster => names[0] += 1,
                LayoutPart::Template => names[1] += 1,
                LayoutPart::Release | LayoutPart::Input(_) | LayoutPart::Field(_) | LayoutPart::Extension => {
                    names[2] += 1;
                }
            }
        }
        ends(names) && named
    }

    /// Adds the extension of the format, unless the layout ends in an extension or in the template name, which has one.
    fn add_extension(&mut self) {
        let last = self.parts.iter().rfind(|part| !matches!(part, LayoutPart::Text(text) if text.is_empty()));
        let has_one = match last {
            Some(LayoutPart::Text(text)) => text.rsplit('/').next().is_some_and(|name| name.contains('.')),
            Some(LayoutPart::Template) => true,
            _ => false,
        };
        if !has_one {
            self.parts.push(LayoutPart::Extension);
        }
    }

    /// Returns the first placeholder that [would become](Layout::of_documents) a field of a document.
    #[doc(hidden)]
    pub fn names_field(&self) -> Option<&str> {
        self.inputs().find(|path| field(path).is_some())
    }

    /// Returns the paths of document fields in the layout, in order.
    #[doc(hidden)]
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.placeholders_of_fields().map(|field| split_default(field).0)
    }

    /// Returns the document fields in the layout with their defaults, in order.
    pub(super) fn placeholders_of_fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| if let LayoutPart::Field(path) = part { Some(path.as_str()) } else { None })
    }

    /// Returns `true` if each document goes to its own file.
    #[doc(hidden)]
    pub fn is_of_documents(&self) -> bool {
        self.fields().next().is_some()
    }

    /// Returns `true` if the layout has the placeholder `{cluster}`.
    pub(super) fn names_cluster(&self) -> bool {
        self.parts.contains(&LayoutPart::Cluster)
    }

    /// Returns `true` if the layout has the placeholder `{template}`.
    pub(super) fn names_template(&self) -> bool {
        self.parts.contains(&LayoutPart::Template)
    }

    /// Returns the paths of inputs in the layout, in order.
    #[doc(hidden)]
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.placeholders_of_inputs().map(|input| split_default(input).0)
    }

    fn placeholders_of_inputs(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| if let LayoutPart::Input(path) = part { Some(path.as_str()) } else { None })
    }

    /// Returns the values of [`Layout::inputs`] for one cluster.
    ///
    /// # Errors
    /// `plan.bad_layout` if one is missing or not a scalar; `plan.bad_output_name` if one cannot be part of a path.
    #[doc(hidden)]
    pub fn values(&self, cluster: &str, inputs: &View<'_>) -> Result<Vec<String>> {
        let value = |(path, default): (&str, Option<&str>)| {
            let given = text_of(inputs, path, &|why| self.bad(why))?;
            given.or_else(|| default.map(str::to_owned)).ok_or_else(|| self.missing(path, inputs))
        };
        let placeholders = self.placeholders_of_inputs().map(split_default);
        placeholders.map(|one| value(one).map_err(|error| error.for_cluster(cluster))).collect()
    }

    fn missing(&self, path: &str, inputs: &View<'_>) -> Box<Diagnostic> {
        let error = self.bad(format!("the cluster has no `{path}`"));
        if field(path).is_none() && self.is_of_documents() {
            return error.with_help(format!("use `{{{DOCUMENT}{path}}}` for a field of the document"));
        }
        with_near(error, path, inputs, &["cluster", "template"])
    }

    fn bad(&self, why: String) -> Box<Diagnostic> {
        Diagnostic::new(Code::BadLayout, format!("cannot fill in layout `{}`: {why}", self.text))
    }

    /// Writes the path of one output to `path`, replacing its content. The names are those of the cluster, the release and
    /// the template, `values` are those of [`Layout::values`], `fields` those of the document in the order of
    /// [`Layout::fields`].
    #[doc(hidden)]
    pub fn fill(
        &self,
        [cluster, release, template]: [&str; 3],
        values: &[String],
        fields: &[String],
        path: &mut String,
    ) {
        path.clear();
        let (mut values, mut fields) = (values.iter(), fields.iter());
        for part in &self.parts {
            path.push_str(match part {
                LayoutPart::Text(text) => text,
                LayoutPart::Cluster => cluster,
                LayoutPart::Release => release,
                LayoutPart::Template => template,
                LayoutPart::Input(_) => values.next().map_or("", String::as_str),
                // A plan checks paths before any document is known. Only directories and clusters matter then.
                LayoutPart::Field(_) => fields.next().map_or("x", String::as_str),
                LayoutPart::Extension => template.rfind('.').and_then(|at| template.get(at..)).unwrap_or(""),
            });
        }
        if self.is_of_documents() {
            fit_file_name(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Merge;
    use dropforge_value::{Data, DataMap};

    #[test]
    fn layouts_are_filled_in() {
        let layout = Layout::parse("{ cluster.env }/x-{cluster}/{template}").unwrap();
        let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
        let values_of = |shared: &DataMap, own| layout.values("a", &View::new(shared, &map(own), Merge::Deep));
        let shared = map(r#"{"cluster": {"env": "dev"}}"#);
        let values = values_of(&shared, r#"{"cluster": {"env": 7}}"#).unwrap();
        let mut path = String::from("old");
        layout.fill(["a", "", "t.yaml"], &values, &[], &mut path);
        assert_eq!(path, "7/x-a/t.yaml");
        let code = |own| values_of(&DataMap::default(), own).unwrap_err().code;
        assert_eq!(code("{}"), Code::BadLayout);
        assert_eq!(code(r#"{"cluster": {"env": []}}"#), Code::BadLayout);
        assert_eq!(code(r#"{"cluster": {"env": "../x"}}"#), Code::BadOutputName);
        assert_eq!(code(r#"{"cluster": {"env": ""}}"#), Code::BadOutputName);
    }

    #[test]
    fn layouts_of_documents() {
        let layout = |text: &str| Layout::parse(text).unwrap().of_documents();
        let path = |text: &str, fields: &[&str]| {
            let (layout, mut path) = (layout(text).unwrap(), String::new());
            let fields: Vec<String> = fields.iter().map(|field| field.to_string()).collect();
            layout.fill(["eu", "", "app.json"], &[], &fields, &mut path);
            path
        };
        assert_eq!(path("{cluster}/{kind}-{metadata.name}", &["Pod", "a.b"]), "eu/Pod-a.b.json");
        assert_eq!(path("x/{cluster}/{ name }.yml", &["a"]), "x/eu/a.yml");
        assert_eq!(path("{cluster}/{document.spec.x}-{template}", &["7"]), "eu/7-app.json");
        assert_eq!(path("{cluster}/{template}", &[]), "eu/app.json");
        let indexed = layout("{zones[0]}/{cluster}/{document.spec.rules[12].host}").unwrap();
        assert_eq!((indexed.inputs().next(), indexed.fields().next()), (Some("zones.0"), Some("spec.rules.12.host")));
        assert!(!layout("{template}").unwrap().is_of_documents());
        for text in
            ["{kind}", "{cluster}-{kind}", "a{cluster}/{kind}", "{template}/{cluster}/{kind}", "{kind}/{cluster}"]
        {
            assert_eq!(layout(text).map_err(|error| error.code), Err(Code::BadLayout), "{text}");
        }
        let none = DataMap::default();
        let error = layout("{cluster}/{spec.x}/{kind}")
            .unwrap()
            .values("eu", &View::new(&none, &none, Merge::Deep))
            .unwrap_err();
        assert_eq!(error.help.as_deref(), Some("use `{document.spec.x}` for a field of the document"));
    }

    #[test]
    fn clusters_are_divided_by_a_part_of_the_path() {
        for (text, divides) in [
            ("{cluster}/{template}", true),
            ("{region}/{cluster}/{template}", true),
            ("x/{a}-{b}/c-{cluster}.d/{region}/{template}", true),
            ("{cluster}", true),
            ("{template}/{cluster}", false),
            ("{cluster}-{region}/{template}", false),
            ("{cluster}/{region}-{template}", false),
            ("{cluster}-{template}", false),
            ("{cluster}{cluster}/{template}", false),
            ("{region}/{template}", false),
        ] {
            assert_eq!(Layout::parse(text).unwrap().divides_clusters(), divides, "{text}");
        }
    }

    #[test]
    fn malformed_layouts_are_refused() {
        for text in ["", "out", "{", "}", "{}", "{a", "a}", "{{a}}", "{cluster}}", "}{cluster}"] {
            assert_eq!(Layout::parse(text).map_err(|error| error.code), Err(Code::BadLayout), "{text}");
        }
    }
}
