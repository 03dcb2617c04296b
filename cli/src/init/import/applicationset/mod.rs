//! Argo CD's ApplicationSets: each destination becomes a cluster, and each application a release of it. Generators and
//! `templatePatch` may change the template, which is filled with parameters.

mod application;
mod generators;
mod manifests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dropforge::bulk::{ObjectPatch, WrittenObject};
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::text::Source;
use dropforge::value::{Data, DataMap, yaml};

use super::assemble::assemble;
use super::project::{Notes, Project, file_name};
use super::sources::{Sources, Vendored};
use super::yaml::Yaml;
use super::{fold, gotmpl};
use application::Application;
use generators::Generators;

/// The maximum number of applications.
const MAX_APPLICATIONS: usize = 10_000;

/// Keys of clusters that a project uses for other things.
const OWN_KEYS: [&str; 3] = ["name", "path", "releases"];

/// Imports the ApplicationSets and Applications of a file.
///
/// # Errors
/// All errors of its files.
pub(super) fn import(path: &Path, sources: &mut Sources, project: &mut Project) -> Result<(), Vec<Box<Diagnostic>>> {
    let path = path.canonicalize().map_err(|error| vec![dropforge::files::unreadable(path, error)])?;
    let source = sources.text(&path).map_err(|error| vec![error])?;
    let mut found = Vec::new();
    for document in Yaml::documents(&source, None)? {
        add_document(&document, &mut found, sources, project);
    }
    if found.is_empty() && project.notes.errors.is_empty() && project.notes.len() == 0 {
        let message = format!("`{}` has no ApplicationSet", source.name());
        return Err(vec![Diagnostic::new(Code::Usage, message).with_help("name the file of one")]);
    }
    if found.len() > MAX_APPLICATIONS {
        let message = format!("only the first {MAX_APPLICATIONS} of {} applications are imported", found.len());
        project.notes.left_out(None, message, "import a part of the generators at a time");
        found.truncate(MAX_APPLICATIONS);
    }
    add_clusters(&found, project);
    let mut vendored = Vendored::default();
    let mut instances = Vec::new();
    for application in &found {
        instances.extend(application.instances(sources, project, &mut vendored));
    }
    if !project.notes.errors.is_empty() {
        return Err(std::mem::take(&mut project.notes.errors));
    }
    set_subjects(&mut instances);
    assemble(instances, "name", project, sources);
    Ok(())
}

/// Adds the applications of a document.
fn add_document(document: &Yaml, found: &mut Vec<Application>, sources: &mut Sources, project: &mut Project) {
    let notes = &mut project.notes;
    let entries = document.entries("ApplicationSet", notes);
    let kind = document.text("kind", notes);
    match kind.as_deref() {
        Some("ApplicationSet") => add_set(document, found, sources, project),
        Some("Application") => found.extend(Application::of(document, &Data::default(), None, project)),
        Some("List") => {
            for item in document.list("items", notes) {
                add_document(&item, found, sources, project);
            }
        }
        _ if entries.is_empty() => {}
        other => {
            let kind = other.unwrap_or("no kind");
            let message = format!("a document of {kind} is no ApplicationSet");
            notes.left_out(Some(document.place()), message, "add it to the templates of a release");
        }
    }
}

fn add_set(document: &Yaml, found: &mut Vec<Application>, sources: &mut Sources, project: &mut Project) {
    let Some(spec) = document.get("spec") else {
        return project.notes.wrong(document.place(), "the ApplicationSet has no `spec`");
    };
    for (key, name, _) in spec.entries("spec", &mut project.notes) {
        match &*key {
            "generators" | "template" | "templatePatch" | "goTemplate" | "goTemplateOptions" => {}
            key => project.notes.at_installation(name.place(), key),
        }
    }
    let Some(template) = spec.get("template") else {
        return project.notes.wrong(spec.place(), "the ApplicationSet has no `template`");
    };
    let is_go = spec.flag("goTemplate").unwrap_or(false);
    let options = spec.texts("goTemplateOptions", &mut project.notes);
    let is_strict = options.iter().any(|option| option == "missingkey=error");
    let mut generators = Generators { sources, project, is_go, listed: [None, None] };
    let mut all = Vec::new();
    for generator in spec.list("generators", &mut generators.project.notes) {
        let template = of_generator(&template, &generator, &mut generators.project.notes);
        let params = generators.params(&generator, None, 0);
        all.extend(params.into_iter().map(|params| (params, template.clone())));
    }
    let patch = spec.get("templatePatch").filter(|patch| patch.node.as_str().is_some());
    for (params, template) in all {
        if found.len() > MAX_APPLICATIONS {
            return;
        }
        let mut filler = Filler { params: &params, is_go, is_strict, is_done: false };
        let template = match &patch {
            Some(patch) => patched(&template, patch, &mut filler, &mut project.notes),
            None => template,
        };
        found.extend(Application::of(&template, &params, Some(&filler), project));
    }
}

/// Adds the destinations as clusters. Their values are the parameters that all applications of a cluster share.
fn add_clusters(found: &[Application], project: &mut Project) {
    let mut clusters: Vec<(String, DataMap)> = Vec::new();
    let mut differing: BTreeSet<(String, String)> = BTreeSet::new();
    for application in found {
        let name = &application.cluster;
        let at = clusters.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            clusters.push((name.clone(), DataMap::default()));
            clusters.len() - 1
        });
        let Some((_, shared)) = clusters.get_mut(at) else { continue };
        for (key, value) in application.params() {
            match shared.get(&key) {
                Some(known) if *known != value => drop(differing.insert((name.clone(), key))),
                Some(_) => {}
                None => drop(shared.insert(key, value)),
            }
        }
    }
    for (name, shared) in &mut clusters {
        shared.retain(|key, _| !differing.contains(&(name.clone(), key.clone())));
    }
    for (name, shared) in clusters {
        let mut own = DataMap::default();
        for (key, value) in shared {
            let top = key.split(['.', '[']).next().unwrap_or("");
            let is_name = key == "cluster" && value.as_str() == Some(&name);
            if !OWN_KEYS.contains(&top) && !key.contains('[') && !is_name {
                fold::put(&mut own, &key, value);
            }
        }
        project.cluster(&name, own);
    }
}

/// Names what instances have in common: the chart or the templates, and the place among those of a cluster.
fn set_subjects(instances: &mut [super::assemble::Instance]) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut times: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for instance in instances {
        let content = instance.chart.clone().unwrap_or_else(|| instance.templates.join(" "));
        let nth = times.entry((instance.cluster, content.clone())).or_default();
        *nth += 1;
        let identity = format!("{content} {nth}");
        let last = content.trim_end_matches('/').rsplit('/').next().unwrap_or("app");
        let stem = file_name(last.split(' ').next().unwrap_or(last));
        let is_taken = |name: &str, names: &BTreeMap<String, String>| names.values().any(|known| known == name);
        if !names.contains_key(&identity) {
            let numbered = (2..).map(|number| format!("{stem}-{number}"));
            let free = std::iter::once(stem.clone()).chain(numbered).find(|name| !is_taken(name, &names));
            names.insert(identity.clone(), free.unwrap_or_default());
        }
        instance.subject = names.get(&identity).cloned().unwrap_or_default();
    }
}

/// Returns the template with that of a generator over it.
fn of_generator(template: &Yaml, generator: &Yaml, notes: &mut Notes) -> Yaml {
    let own = generator.entries("generators", notes).into_iter().find_map(|(_, _, value)| {
        value.node.as_map()?;
        value.get("template")
    });
    match own {
        Some(own) => template.with_data(&filled(own.data(), &template.data())),
        None => template.clone(),
    }
}

/// Returns a value with the parts of another that it lacks. As with Argo CD, empty ones are lacking.
fn filled(own: Data, base: &Data) -> Data {
    match (own.try_into_map(), base) {
        (Ok(mut own), Data::Map(base)) => {
            for (key, value) in base {
                let known = own.shift_remove(key).unwrap_or_default();
                own.insert(key.clone(), filled(known, value));
            }
            Data::Map(own)
        }
        (Ok(own), base) if own.is_empty() => base.clone(),
        (Ok(own), _) => Data::Map(own),
        (Err(own), base) if is_empty(&own) => base.clone(),
        (Err(own), _) => own,
    }
}

fn is_empty(value: &Data) -> bool {
    match value {
        Data::Null | Data::Bool(false) | Data::Int(0) => true,
        Data::Str(text) => text.is_empty(),
        Data::List(items) => items.is_empty(),
        _ => false,
    }
}

/// Returns a template with `templatePatch`, once both are filled. A patch that does not fit is noted.
fn patched(template: &Yaml, patch: &Yaml, filler: &mut Filler<'_>, notes: &mut Notes) -> Yaml {
    let data = template.data();
    let filled = filler.data(template, &data, notes);
    let text = filler.text(patch, &patch.node.text, notes);
    match merged(&filled, text) {
        Ok(new) => {
            let name = |data: &Data| data.at_path("metadata.name").cloned();
            if name(&filled) != name(&new) {
                let help = "change the name in the template";
                notes.left_out(Some(patch.place()), "`metadata.name` of `templatePatch` is not translated", help);
            }
            filler.is_done = true;
            template.with_data(&new)
        }
        Err(why) => {
            let message = format!("`templatePatch` is left out: {why}");
            notes.left_out(Some(patch.place()), message, "write what it changes to the releases by hand");
            template.clone()
        }
    }
}

/// # Errors
/// The reason why the text is no patch.
fn merged(template: &Data, text: String) -> Result<Data, String> {
    let source = Source::new("templatePatch", text);
    let first = |errors: &[Box<dropforge::diagnostics::Diagnostic>]| {
        errors.first().map_or_else(String::new, |error| error.message.clone())
    };
    let documents = Yaml::documents(&source, None).map_err(|errors| first(&errors))?;
    let Some(patch) = documents.first().filter(|patch| patch.data() != Data::Null) else { return Ok(template.clone()) };
    if patch.node.as_map().is_none() {
        return Err(format!("it must be a map, found {}", patch.node.kind_name()));
    }
    let written = WrittenObject::of_node(&patch.node, &patch.data());
    let patch = ObjectPatch::new(&source, &written).map_err(|errors| first(&errors.into_vec()))?;
    let patched = patch.apply(&WrittenObject::of_data(template)).map_err(|error| error.message.clone())?;
    patched.map(|patched| patched.to_data()).ok_or_else(|| "it removes the application".to_owned())
}

impl Yaml {
    /// Returns a document with another value. Its lines stand where the same lines of this one do.
    fn with_data(&self, data: &Data) -> Self {
        let (written, _) = self.place();
        let text = Source::new(written.name(), yaml::to_string(data));
        let read = Self::documents(&text, Some(&written)).ok().and_then(|mut all| all.drain(..).next());
        read.unwrap_or_else(|| self.clone())
    }
}

/// Fills texts with parameters.
#[derive(Debug)]
struct Filler<'f> {
    /// The parameters: a map, which is flat unless the templates are Go's.
    params: &'f Data,
    is_go: bool,
    is_strict: bool,
    /// The texts are filled already.
    is_done: bool,
}

impl Filler<'_> {
    /// Fills a text.
    fn text(&self, at: &Yaml, text: &str, notes: &mut Notes) -> String {
        match self.is_go {
            _ if self.is_done || !text.contains("{{") => text.to_owned(),
            true => self.go(at, text, notes),
            false => self.plain(text),
        }
    }

    /// Replaces `{{name}}`. An unknown name stays.
    fn plain(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            let Some((name, behind)) = after.split_once("}}") else {
                out.push_str("{{");
                rest = after;
                continue;
            };
            match self.params.get(name.trim()) {
                Some(value) => out.push_str(&text_of(value)),
                None => out.push_str(&format!("{{{{{name}}}}}")),
            }
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    fn go(&self, at: &Yaml, text: &str, notes: &mut Notes) -> String {
        let (place, _) = at.place();
        let source = Source::new(format!("{} (text)", place.name()), text.to_owned());
        match gotmpl::render(&source, self.params, self.is_strict, None) {
            Ok((text, _)) => text,
            Err(errors) => {
                for error in errors {
                    notes.wrong(at.place(), format!("`{}` cannot be filled: {}", text.trim(), error.message));
                }
                text.to_owned()
            }
        }
    }

    /// Fills all texts of a value.
    fn data(&self, at: &Yaml, data: &Data, notes: &mut Notes) -> Data {
        match data {
            Data::Str(text) => Data::Str(self.text(at, text, notes)),
            Data::List(items) => Data::List(items.iter().map(|item| self.data(at, item, notes)).collect()),
            Data::Map(map) => Data::Map(
                map.iter().map(|(key, value)| (self.text(at, key, notes), self.data(at, value, notes))).collect(),
            ),
            other => other.clone(),
        }
    }
}

/// Returns the text of a scalar.
fn text_of(value: &Data) -> String {
    match value {
        Data::Str(text) => text.clone(),
        Data::Null => String::new(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
