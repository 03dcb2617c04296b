//! Loading a helmfile for one environment: parts, bases and values.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::bulk::values::merge;
use dropforge::diagnostics::Diagnostic;
use dropforge::engine::path_from_here;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};

use super::release;
use super::values::merged;
use crate::init::import::assemble::{Instance, Item};
use crate::init::import::gotmpl;
use crate::init::import::project::Project;
use crate::init::import::sources::{Sources, Vendored};
use crate::init::import::yaml::Yaml;

/// The maximum number of files that include one another.
const MAX_DEPTH: usize = 16;

/// Loads helmfiles for one environment.
pub(super) struct Loader<'l> {
    pub(super) environment: String,
    pub(super) cluster: usize,
    pub(super) sources: &'l mut Sources,
    pub(super) project: &'l mut Project,
    pub(super) vendored: &'l mut Vendored,
    /// The number of templates that the present release inherits.
    pub(super) inherited: usize,
    /// The files that are being loaded, outermost first.
    open: Vec<PathBuf>,
}

/// The folder that paths are relative to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folder<'f> {
    pub(super) path: &'f Path,
    /// Missing files are no mistake.
    pub(super) may_miss: bool,
}

/// What the parts of a helmfile and its bases give.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) folder: PathBuf,
    /// The names of all environments.
    pub(super) environments: Vec<String>,
    /// The values of the file for all environments, and those of this one.
    defaults: Vec<Item>,
    own: Vec<Item>,
    /// The values that the file with this one among its `helmfiles` gives.
    given: DataMap,
    pub(super) releases: Vec<Yaml>,
    pub(super) templates: Vec<(Arc<str>, Yaml)>,
    pub(super) repositories: Vec<Yaml>,
    pub(super) helm_defaults: Vec<Yaml>,
    pub(super) helmfiles: Vec<Yaml>,
    /// Texts such as `namespace` and `kubeVersion`, for all releases.
    pub(super) texts: Vec<(Arc<str>, Yaml)>,
    pub(super) may_miss_files: bool,
}

impl State {
    /// Returns the values, low to high.
    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.defaults.iter().chain(&self.own)
    }

    /// Returns the merged values.
    pub(super) fn values(&self) -> DataMap {
        let mut values = merged(self.items());
        merge(&mut values, self.given.clone());
        values
    }

    /// Returns where the files of its values are.
    pub(super) fn place(&self) -> Folder<'_> {
        Folder { path: &self.folder, may_miss: self.may_miss_files }
    }

    /// Returns the last text at a key for all releases.
    pub(super) fn text(&self, key: &str) -> Option<&Yaml> {
        self.texts.iter().rev().find(|(own, _)| **own == *key).map(|(_, value)| value)
    }
}

impl<'l> Loader<'l> {
    pub(super) fn new(
        environment: &str,
        cluster: usize,
        sources: &'l mut Sources,
        project: &'l mut Project,
        vendored: &'l mut Vendored,
    ) -> Self {
        Self {
            environment: environment.to_owned(),
            cluster,
            sources,
            project,
            vendored,
            inherited: 0,
            open: Vec::new(),
        }
    }

    /// Loads a file with its bases. `given` are values from outside.
    pub(super) fn load(&mut self, path: &Path, given: &DataMap) -> State {
        let folder = path.parent().unwrap_or(path).to_owned();
        let mut state = State { folder, given: given.clone(), ..State::default() };
        self.add_file(path, &mut state);
        state
    }

    fn add_file(&mut self, path: &Path, state: &mut State) {
        if self.open.iter().any(|open| open == path) || self.open.len() >= MAX_DEPTH {
            let message = format!("`{}` includes itself, or too many files include one another", path_from_here(path));
            return self.project.notes.left_out(None, message, "break the circle");
        }
        let source = match self.sources.text(path) {
            Ok(source) => source,
            Err(error) => return self.error(error),
        };
        self.open.push(path.to_owned());
        for (lines_before, text) in parts(source.text()) {
            let part = Source::part(source.name().to_owned(), lines_before, text.to_owned());
            self.add_part(&part, state);
        }
        self.open.pop();
    }

    fn error(&mut self, error: Box<Diagnostic>) {
        self.project.notes.error(error);
    }

    /// Adds a part. Its environments are read first: its other keys may use their values.
    fn add_part(&mut self, part: &Arc<Source>, state: &mut State) {
        let is_template = part.text().contains("{{");
        let data = self.data(&state.values(), None);
        let reach = self.sources.reach(&state.folder);
        let first = match gotmpl::render(part, &data, false, Some(&reach)) {
            Ok((text, _)) if is_template => self.parsed(part, Some(text), false),
            _ if !is_template => self.parsed(part, None, true),
            _ => None,
        };
        if let Some(first) = &first {
            self.add_bases(first, state);
            self.add_values(first, state);
        }
        let second = if is_template {
            let text = self.rendered(part, &self.data(&state.values(), None), &state.folder);
            let text = text.map_err(|errors| errors.into_iter().for_each(|error| self.error(error))).ok();
            text.and_then(|text| self.parsed(part, Some(text), true))
        } else {
            first.clone()
        };
        let Some(second) = second else { return };
        if first.is_none() {
            self.add_bases(&second, state);
            self.add_values(&second, state);
        }
        self.add_keys(&second, state);
    }

    /// Parses a part, or what it was rendered to. Errors count if they are those of the last reading.
    fn parsed(&mut self, part: &Arc<Source>, text: Option<String>, is_last: bool) -> Option<Yaml> {
        let read = match &text {
            Some(text) => Source::new(format!("{} (rendered)", part.name()), text.clone()),
            None => part.clone(),
        };
        match Yaml::documents(&read, text.is_some().then_some(part)) {
            Ok(mut documents) => documents.pop(),
            Err(errors) => {
                errors.into_iter().filter(|_| is_last).for_each(|error| self.error(error));
                None
            }
        }
    }

    /// Renders a template with data. Where Helmfile stops at a missing value, there is a note, and nothing in its place.
    ///
    /// # Errors
    /// Errors of the template.
    pub(super) fn rendered(
        &mut self,
        source: &Arc<Source>,
        data: &Data,
        folder: &Path,
    ) -> Result<String, Vec<Box<Diagnostic>>> {
        let reach = self.sources.reach(folder);
        let (text, asked) = match gotmpl::render(source, data, true, Some(&reach)) {
            Ok(rendered) => rendered,
            Err(strict) => {
                let rendered = gotmpl::render(source, data, false, Some(&reach))?;
                for error in strict {
                    let place = error.primary().map(|label| (label.source.clone(), label.span));
                    let message = format!("{}, and is rendered as nothing", error.message);
                    let help = format!("give it a value in the environment `{}`", self.environment);
                    self.project.notes.left_out(place, message, help);
                }
                rendered
            }
        };
        for what in asked {
            let at = what.split('`').nth(1).and_then(|name| source.text().find(name));
            let place = at.map(|at| (source.clone(), dropforge::text::Span::of(at..at)));
            let message = format!("{what} is not read: a needed one is `TODO-…`, an optional one is empty");
            self.project.notes.left_out(place, message, "replace `TODO-…`, or give a value in a layer");
        }
        Ok(text)
    }

    /// Returns what templates see: that of a release, or else its own expressions in place of its name.
    pub(super) fn data(&self, values: &DataMap, release: Option<DataMap>) -> Data {
        let text = |text: &str| Data::Str(text.to_owned());
        let own = |key: &str| (key.to_owned(), text(&format!("{{{{ .Release.{key} }}}}")));
        let release_namespace = release.as_ref().and_then(|release| release.get("Namespace").cloned());
        let release = release.unwrap_or_else(|| {
            let labels = ("Labels".to_owned(), Data::Map(DataMap::default()));
            ["Name", "Namespace", "Chart"].map(own).into_iter().chain([labels]).collect()
        });
        let values = Data::Map(values.clone());
        let environment = [("Name", text(&self.environment)), ("Values", values.clone()), ("KubeContext", text(""))];
        let map = |entries: &[(&str, Data)]| {
            Data::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        // Above releases, it is that of the command line.
        let namespace = match &release_namespace {
            Some(namespace) => namespace.clone(),
            None => text(""),
        };
        map(&[
            ("Values", values.clone()),
            ("StateValues", values),
            ("Environment", map(&environment)),
            ("Release", Data::Map(release)),
            ("Namespace", namespace),
            ("KubeContext", text("")),
        ])
    }

    fn add_bases(&mut self, part: &Yaml, state: &mut State) {
        for base in part.list("bases", &mut self.project.notes) {
            let Some(path) = base.scalar("bases", &mut self.project.notes) else { continue };
            if let Some(path) = self.found(&base, &state.folder.clone(), &path, false) {
                self.add_file(&path, state);
            }
        }
    }

    /// Returns the file that a text names. A missing one is noted, unless it may be missing.
    pub(super) fn found(&mut self, at: &Yaml, folder: &Path, path: &str, may_miss: bool) -> Option<PathBuf> {
        let found = self.sources.find(folder, path);
        let refusal = match found {
            Ok(path) => return Some(path),
            Err(refusal) => refusal,
        };
        if may_miss && matches!(refusal, crate::init::import::sources::Refusal::Missing) {
            return None;
        }
        let (why, help) = refusal.told(self.sources.root());
        self.project.notes.left_out(Some(at.place()), format!("`{path}` {why}"), help);
        None
    }

    /// Adds the values of a part: `values`, and those of its environments.
    fn add_values(&mut self, part: &Yaml, state: &mut State) {
        if let Some(handler) = part.text("missingFileHandler", &mut self.project.notes) {
            state.may_miss_files = handler != "Error";
        }
        if let Some(values) = part.get("values") {
            let items = self.value_items(&values, state);
            state.defaults.extend(items);
        }
        let Some(environments) = part.get("environments") else { return };
        for (name, _, environment) in environments.entries("environments", &mut self.project.notes) {
            if !state.environments.iter().any(|known| *known == *name) {
                state.environments.push(name.as_ref().to_owned());
            }
            if *name == *self.environment {
                self.add_environment(&environment, state);
            }
        }
    }

    fn add_environment(&mut self, environment: &Yaml, state: &mut State) {
        let handler = environment.text("missingFileHandler", &mut self.project.notes);
        let before = state.may_miss_files;
        state.may_miss_files |= handler.is_some_and(|handler| handler != "Error");
        for (key, name, value) in environment.entries("environments", &mut self.project.notes) {
            match &*key {
                "values" => {
                    let items = self.value_items(&value, state);
                    state.own.extend(items);
                }
                "secrets" => {
                    for item in value.items("secrets", &mut self.project.notes) {
                        let files = self.secret_files(&item, state.place());
                        state.own.extend(files);
                    }
                }
                "missingFileHandler" => {}
                key if release::is_at_installation(key) => self.at_installation(key, &name),
                key => self.untranslated(None, key, &name),
            }
        }
        state.may_miss_files = before;
    }

    /// Notes a key that changes nothing that is rendered.
    pub(super) fn at_installation(&mut self, key: &str, at: &Yaml) {
        self.project.notes.at_installation(at.place(), key);
    }

    /// Notes a key that is not translated.
    pub(super) fn untranslated(&mut self, release: Option<&str>, key: &str, at: &Yaml) {
        let message = format!("`{key}` is not translated");
        self.project.notes.left_out_of(release, Some(at.place()), message, release::advice(key));
    }

    /// Adds all other keys of a part.
    fn add_keys(&mut self, part: &Yaml, state: &mut State) {
        for (key, name, value) in part.entries("helmfile", &mut self.project.notes) {
            let notes = &mut self.project.notes;
            match &*key {
                "environments" | "bases" | "values" | "missingFileHandler" => {}
                "releases" => state.releases.extend(value.items("releases", notes)),
                "repositories" => state.repositories.extend(value.items("repositories", notes)),
                "helmfiles" => state.helmfiles.extend(value.items("helmfiles", notes)),
                "helmDefaults" => state.helm_defaults.push(value),
                "templates" => {
                    let templates = value.entries("templates", notes);
                    state.templates.extend(templates.into_iter().map(|(name, _, template)| (name, template)));
                }
                "namespace" | "kubeVersion" | "apiVersions" | "commonLabels" => {
                    state.texts.push((key.clone(), value));
                }
                // Anchors stand in keys of any name.
                key if key.starts_with("x-") || key.starts_with('.') => {}
                key if release::is_at_installation(key) => self.at_installation(key, &name),
                key => self.untranslated(None, key, &name),
            }
        }
    }

    /// Adds the instances of the releases of a state and of its further files, and its values.
    pub(super) fn collect(&mut self, state: State, instances: &mut Vec<Instance>, items: &mut Vec<Item>) {
        items.extend(state.items().cloned());
        if !state.given.is_empty() {
            items.push(Item::Made { stem: "given".to_owned(), data: Data::Map(state.given.clone()) });
        }
        self.note_defaults(&state);
        let releases = self.instances(&state);
        instances.extend(releases);
        for entry in &state.helmfiles {
            for (path, given) in self.further_files(entry, &state) {
                let further = self.load(&path, &given);
                if self.open.len() < MAX_DEPTH {
                    self.open.push(path);
                    self.collect(further, instances, items);
                    self.open.pop();
                }
            }
        }
    }

    fn note_defaults(&mut self, state: &State) {
        for defaults in &state.helm_defaults {
            for (key, name, _) in defaults.entries("helmDefaults", &mut self.project.notes) {
                match &*key {
                    "includeCRDs" | "skipSchemaValidation" => {}
                    key if release::is_at_installation(key) => self.at_installation(key, &name),
                    key => self.untranslated(None, key, &name),
                }
            }
        }
    }

    /// Returns the files that an entry of `helmfiles` names, and the values that it gives.
    fn further_files(&mut self, entry: &Yaml, state: &State) -> Vec<(PathBuf, DataMap)> {
        let (path, mut given) = match entry.node.as_map() {
            None => (entry.scalar("helmfiles", &mut self.project.notes), DataMap::default()),
            Some(_) => (entry.text("path", &mut self.project.notes), DataMap::default()),
        };
        for (key, name, value) in
            entry.node.as_map().map(|_| entry.entries("helmfiles", &mut self.project.notes)).into_iter().flatten()
        {
            match &*key {
                "path" => {}
                "values" => given = merged(self.value_items(&value, state).iter()),
                key => self.untranslated(None, key, &name),
            }
        }
        let Some(path) = path else { return Vec::new() };
        if path.contains("::") || path.contains("://") {
            let message = format!("the helmfile `{path}` is not in the repository");
            self.project.notes.left_out(
                Some(entry.place()),
                message,
                "clone it, and import it as a project of its own",
            );
            return Vec::new();
        }
        match self.sources.find_all(&state.folder, &path) {
            Ok(found) => {
                let files = found.into_iter().flat_map(|path| super::entry_files(&path).unwrap_or_default());
                let files: Vec<PathBuf> = files.filter(|file| !self.open.contains(file)).collect();
                files.into_iter().map(|file| (file, given.clone())).collect()
            }
            Err(_) => {
                self.found(entry, &state.folder, &path, false);
                Vec::new()
            }
        }
    }
}

/// Splits a helmfile at the lines `---`. Returns each part with the number of lines before it.
fn parts(text: &str) -> Vec<(u32, &str)> {
    let (mut found, mut start, mut at, mut before, mut line) = (Vec::new(), 0, 0, 0, 0);
    for one in text.split_inclusive('\n') {
        line += 1;
        if one.trim_end() == "---" {
            found.push((before, text.get(start..at).unwrap_or("")));
            (start, before) = (at + one.len(), line);
        }
        at += one.len();
    }
    found.push((before, text.get(start..).unwrap_or("")));
    // A part of directives, such as `%YAML 1.1`, gives nothing.
    let is_content = |line: &str| !line.trim().is_empty() && !line.starts_with('%');
    found.retain(|(_, part)| part.lines().any(is_content));
    found
}
