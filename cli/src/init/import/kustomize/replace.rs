//! Replacements: a value of one object in the fields of others.

use dropforge::value::Data;

use super::build::Builder;
use super::object::Object;
use crate::init::import::yaml::Yaml;

/// The field that a source or a target has if it names none.
const NAME: &str = "metadata.name";

impl Builder<'_> {
    /// Applies the replacements of a file. One that is not understood is noted, and changes nothing.
    pub(super) fn replace_all(&mut self, file: &Yaml, folder: &std::path::Path, objects: &mut [Object]) {
        for item in file.list("replacements", &mut self.project.notes) {
            let own = match item.text("path", &mut self.project.notes) {
                Some(path) => self.replacement_file(&item, folder, &path),
                None => vec![item.clone()],
            };
            for one in own {
                if let Err(why) = self.replacement(&one, objects) {
                    let message = format!("a replacement is not translated: {why}");
                    let help = "write the value where it is used, or as a value of the clusters";
                    self.project.notes.left_out(Some(one.place()), message, help);
                }
            }
        }
    }

    /// Returns the replacements of a file.
    fn replacement_file(&mut self, at: &Yaml, folder: &std::path::Path, path: &str) -> Vec<Yaml> {
        let Some(path) = self.found(at, folder, path) else { return Vec::new() };
        let documents = match self.sources.text(&path) {
            Ok(source) => Yaml::documents(&source, None),
            Err(error) => Err(vec![error]),
        };
        match documents {
            Ok(documents) => documents
                .iter()
                .flat_map(|one| match one.node.as_list() {
                    Some(_) => one.items("replacements", &mut self.project.notes),
                    None => vec![one.clone()],
                })
                .collect(),
            Err(errors) => {
                errors.into_iter().for_each(|error| self.project.notes.error(error));
                Vec::new()
            }
        }
    }

    /// # Errors
    /// The reason why it is not understood.
    fn replacement(&mut self, one: &Yaml, objects: &mut [Object]) -> Result<(), String> {
        let source = one.get("source").ok_or("it has no `source`")?;
        let path = source.text("fieldPath", &mut self.project.notes).unwrap_or_else(|| NAME.to_owned());
        let is_source = selects(&source);
        let mut found = objects.iter().filter(|object| is_source(object));
        let (Some(object), None) = (found.next(), found.next()) else {
            return Err("its source is not one object".to_owned());
        };
        let value = values_at(&object.data, &path).first().cloned().cloned().ok_or(format!("there is no `{path}`"))?;
        let value = match source.get("options") {
            Some(options) => Data::Str(part(&value, &options)?),
            None => value,
        };
        for target in one.list("targets", &mut self.project.notes) {
            let select = target.get("select").ok_or("a target has no `select`")?;
            let rejects: Vec<_> = target.list("reject", &mut self.project.notes).iter().map(selects).collect();
            let is_target = selects(&select);
            let mut paths = target.texts("fieldPaths", &mut self.project.notes);
            if paths.is_empty() {
                paths.push(NAME.to_owned());
            }
            let options = target.get("options");
            for object in objects.iter_mut().filter(|object| is_target(object)) {
                if rejects.iter().any(|rejects| rejects(object)) {
                    continue;
                }
                for path in &paths {
                    put(&mut object.data, &steps(path)?, &value, options.as_ref())?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the test of a selector: each key that it has must be that of the object.
fn selects(selector: &Yaml) -> impl Fn(&Object) -> bool + use<> {
    let text = |key: &str| selector.get(key).map(|value| value.node.text.as_ref().to_owned());
    let (kind, name, namespace) = (text("kind"), text("name"), text("namespace"));
    let (group, version) = (text("group"), text("version"));
    move |object: &Object| {
        let (own_group, own_version) = object.group_version();
        kind.as_deref().is_none_or(|kind| kind == object.kind())
            && name.as_deref().is_none_or(|name| object.is_named(name))
            && namespace.as_deref().is_none_or(|namespace| object.is_within(namespace))
            && group.as_deref().is_none_or(|group| group == own_group)
            && version.as_deref().is_none_or(|version| version == own_version)
    }
}

/// Splits a path of fields: `spec.containers.[name=web].image`, with `\.` for a point in a name.
fn steps(path: &str) -> Result<Vec<String>, String> {
    let (mut found, mut step, mut is_escaped, mut is_open) = (Vec::new(), String::new(), false, false);
    for c in path.chars() {
        match c {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            '.' if !is_escaped && !is_open => found.push(std::mem::take(&mut step)),
            c => {
                is_open = (is_open || c == '[') && c != ']';
                step.push(c);
            }
        }
        is_escaped = false;
    }
    found.push(step);
    found.retain(|step| !step.is_empty());
    if found.is_empty() { Err(format!("`{path}` is no path")) } else { Ok(found) }
}

/// Returns the key and the value of a step such as `[name=web]`.
fn choice(step: &str) -> Option<(&str, &str)> {
    step.strip_prefix('[')?.strip_suffix(']')?.split_once('=')
}

fn values_at<'d>(data: &'d Data, path: &str) -> Vec<&'d Data> {
    let steps = steps(path).unwrap_or_default();
    steps.iter().fold(vec![data], |found, step| {
        let below = |data: &'d Data| -> Vec<&'d Data> {
            match (data, choice(step)) {
                (Data::List(items), Some((key, value))) => {
                    items.iter().filter(|item| item.get(key).and_then(Data::as_str) == Some(value)).collect()
                }
                (Data::List(items), None) if step == "*" => items.iter().collect(),
                (Data::List(items), None) => {
                    step.parse::<usize>().ok().and_then(|at| items.get(at)).into_iter().collect()
                }
                (data, _) => data.get(step).into_iter().collect(),
            }
        };
        found.into_iter().flat_map(below).collect()
    })
}

/// Puts a value at all places of a path.
///
/// # Errors
/// The reason why there is no such place.
fn put(data: &mut Data, steps: &[String], value: &Data, options: Option<&Yaml>) -> Result<(), String> {
    let Some((step, rest)) = steps.split_first() else {
        *data = match options.filter(|options| options.get("delimiter").is_some()) {
            Some(options) => Data::Str(with_part(data, value, options)?),
            None => value.clone(),
        };
        return Ok(());
    };
    let missing = || format!("there is no `{step}`");
    let is_made = options.and_then(|options| options.flag("create")).unwrap_or(false);
    match (data, choice(step)) {
        (Data::List(items), Some((key, wanted))) => {
            let is_meant = |item: &&mut Data| item.get(key).and_then(Data::as_str) == Some(wanted);
            items.iter_mut().filter(is_meant).try_for_each(|item| put(item, rest, value, options))
        }
        (Data::List(items), None) if step == "*" => {
            items.iter_mut().try_for_each(|item| put(item, rest, value, options))
        }
        (Data::List(items), None) => {
            let item = step.parse::<usize>().ok().and_then(|at| items.get_mut(at)).ok_or_else(missing)?;
            put(item, rest, value, options)
        }
        (Data::Map(map), _) if is_made => put(map.entry(step.clone()).or_default(), rest, value, options),
        (data @ Data::Null, None) if is_made => {
            *data = Data::Map(Default::default());
            put(data, steps, value, options)
        }
        (Data::Map(map), _) => put(map.get_mut(step).ok_or_else(missing)?, rest, value, options),
        _ => Err(missing()),
    }
}

fn delimiter_and_index(options: &Yaml) -> Result<(String, usize), String> {
    let text = |key: &str| options.get(key).map(|value| value.node.text.as_ref().to_owned());
    let index = text("index").unwrap_or_else(|| "0".to_owned());
    let index = index.parse().map_err(|_| format!("the index `{index}` is not translated"))?;
    Ok((text("delimiter").unwrap_or_default(), index))
}

fn as_text(value: &Data) -> String {
    value.as_str().map_or_else(|| serde_json::to_string(value).unwrap_or_default(), str::to_owned)
}

/// Returns the part of a text that the options of a source choose.
fn part(value: &Data, options: &Yaml) -> Result<String, String> {
    let (delimiter, index) = delimiter_and_index(options)?;
    let text = as_text(value);
    if delimiter.is_empty() {
        return Ok(text);
    }
    text.split(&*delimiter).nth(index).map(str::to_owned).ok_or_else(|| format!("`{text}` has no part {index}"))
}

/// Replaces the part of a text that the options of a target choose.
fn with_part(data: &Data, value: &Data, options: &Yaml) -> Result<String, String> {
    let (delimiter, index) = delimiter_and_index(options)?;
    let text = as_text(data);
    let mut parts: Vec<String> = text.split(&*delimiter).map(str::to_owned).collect();
    let own = parts.get_mut(index).ok_or_else(|| format!("`{text}` has no part {index}"))?;
    *own = as_text(value);
    Ok(parts.join(&delimiter))
}
