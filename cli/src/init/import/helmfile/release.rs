//! A release of a helmfile, with what it inherits, as one environment has it; the keys that are not translated.

use std::collections::BTreeMap;
use std::sync::Arc;

use dropforge::bulk::values::SetKind;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};

use super::state::{Folder, Loader, State};
use crate::init::import::assemble::{Instance, Item};
use crate::init::import::gotmpl::{self, Known};
use crate::init::import::project::Setting;
use crate::init::import::sources::{assign, escaped};
use crate::init::import::yaml::Yaml;

/// The maximum number of templates that inherit from one another.
const MAX_DEPTH: usize = 16;
/// The maximum number of templates that one release inherits.
const MAX_INHERITED: usize = 500;

/// The fields of a release: the values of each, those that it inherits first.
type Fields = BTreeMap<Arc<str>, Vec<(Yaml, Yaml)>>;

impl Loader<'_> {
    /// Returns the releases of a state.
    pub(super) fn instances(&mut self, state: &State) -> Vec<Instance> {
        let mut found = Vec::new();
        let values = state.values();
        for release in &state.releases {
            let mut fields = Fields::new();
            self.inherited = 0;
            self.add_fields(release, state, &mut fields, &[], 0);
            found.extend(self.instance(release, &fields, state, &values));
        }
        found
    }

    /// Adds the fields of a release or a template, after those that it inherits.
    fn add_fields(&mut self, from: &Yaml, state: &State, fields: &mut Fields, except: &[String], depth: usize) {
        for inherited in from.list("inherit", &mut self.project.notes) {
            self.inherited += 1;
            let Some(name) = inherited.text("template", &mut self.project.notes) else { continue };
            let except = inherited.texts("except", &mut self.project.notes);
            let template = state.templates.iter().rev().find(|(own, _)| **own == *name).map(|(_, template)| template);
            match template {
                Some(template) if depth < MAX_DEPTH && self.inherited < MAX_INHERITED => {
                    self.add_fields(template, state, fields, &except, depth + 1)
                }
                _ => {
                    let message = format!("the template `{name}` is not defined, or inherits itself");
                    self.project.notes.left_out(Some(inherited.place()), message, "define it in `templates`");
                }
            }
        }
        for (key, name, value) in from.entries("releases", &mut self.project.notes) {
            if &*key != "inherit" && !except.iter().any(|left_out| **left_out == *key) {
                fields.entry(key).or_default().push((name, value));
            }
        }
    }

    fn instance(&mut self, release: &Yaml, fields: &Fields, state: &State, values: &DataMap) -> Option<Instance> {
        let plain = self.data(values, None);
        let Some(name) = self.text_of(fields, "name", &plain) else {
            self.project.notes.wrong(release.place(), "a release has no `name`");
            return None;
        };
        let own = |text: &str| Data::Str(text.to_owned());
        let named = DataMap::from_iter([("Name".to_owned(), own(&name))]);
        let data = self.data(values, Some(named.clone()));
        let namespace = self.text_of(fields, "namespace", &data);
        let general = || state.text("namespace").map(|text| text.node.text.as_ref().to_owned());
        let namespace = namespace.or_else(general).filter(|namespace| !namespace.is_empty());
        let mut labels = self.labels(fields, state, &data);
        let mut all = named;
        all.insert("Namespace".to_owned(), own(namespace.as_deref().unwrap_or("")));
        let as_data = labels.iter().map(|(key, value)| (key.clone(), own(value))).collect();
        all.insert("Labels".to_owned(), Data::Map(as_data));
        let data = self.data(values, Some(all));
        labels.retain(|_, value| !value.is_empty());
        let mut instance = Instance { cluster: self.cluster, name, namespace, labels, ..Instance::default() };
        instance.subject = instance.name.clone();
        self.set_wanted(&mut instance, fields, values, &data);
        self.set_options(&mut instance, fields, state, &data);
        self.note_others(&instance, fields);
        if !instance.is_wanted {
            return Some(instance);
        }
        self.set_chart(&mut instance, fields, state, &data)?;
        instance.values = self.release_values(&instance, fields, state, &data);
        // As with Helmfile, operations apply after merges.
        let merges = self.items_of(fields, &["strategicMergePatches"]);
        instance.patches = self.merges(&merges, state, &data);
        let operations = self.items_of(fields, &["jsonPatches"]);
        instance.patches.extend(self.operations(&operations, state, &data));
        Some(instance)
    }

    /// Returns the text of a field, rendered if it is a template.
    fn text_of(&mut self, fields: &Fields, key: &str, data: &Data) -> Option<String> {
        let templated = fields.get(&*format!("{key}Template"));
        let (_, value) = templated.or_else(|| fields.get(key))?.last()?;
        let text = value.scalar(key, &mut self.project.notes)?;
        Some(self.filled(value, text, data))
    }

    /// Renders a text that has expressions.
    fn filled(&mut self, at: &Yaml, text: String, data: &Data) -> String {
        if !text.contains("{{") {
            return text;
        }
        let (place, _) = at.place();
        let source = Source::new(format!("{} (text)", place.name()), text.clone());
        let folder = self.sources.base().to_owned();
        match self.rendered(&source, data, &folder) {
            Ok(text) => text,
            Err(errors) => {
                let why = errors.first().map_or(String::new(), |error| error.message.clone());
                let message = format!("`{}` cannot be rendered: {why}", text.trim());
                self.project.notes.left_out(Some(at.place()), message, "write its value by hand");
                text
            }
        }
    }

    /// Renders all texts of a value that have expressions.
    pub(super) fn filled_data(&mut self, at: &Yaml, data: Data, context: &Data) -> Data {
        match data {
            Data::Str(ref text) if text.contains("{{") => Data::Str(self.filled(at, text.clone(), context)),
            Data::List(ref items) => {
                Data::List(items.iter().map(|item| self.filled_data(at, item.clone(), context)).collect())
            }
            Data::Map(ref map) => Data::Map(
                map.iter().map(|(key, value)| (key.clone(), self.filled_data(at, value.clone(), context))).collect(),
            ),
            _ => data,
        }
    }

    fn labels(&mut self, fields: &Fields, state: &State, data: &Data) -> BTreeMap<String, String> {
        let own = fields.get("labels").into_iter().flatten().map(|(_, value)| value);
        let all: Vec<Yaml> = state.text("commonLabels").into_iter().chain(own).cloned().collect();
        let mut found = BTreeMap::new();
        for labels in all {
            for (key, _, value) in labels.entries("labels", &mut self.project.notes) {
                let Some(text) = value.scalar("labels", &mut self.project.notes) else { continue };
                found.insert(key.as_ref().to_owned(), self.filled(&value, text, data));
            }
        }
        found
    }

    /// Sets if the environment has the release: `installed`, and `condition`, a path into the values.
    fn set_wanted(&mut self, instance: &mut Instance, fields: &Fields, values: &DataMap, data: &Data) {
        let installed = self.text_of(fields, "installed", data);
        let is_installed = installed.is_none_or(|text| !["false", "no", "off", ""].contains(&text.trim()));
        instance.is_wanted = is_installed;
        let Some(path) = self.text_of(fields, "condition", data).filter(|path| !path.is_empty()) else { return };
        let all = Data::Map(values.clone());
        let value = gotmpl::at_path(&all, &path);
        let holds = value.is_some_and(|value| *value == Data::Bool(true) || value.as_str() == Some("true"));
        instance.is_wanted = is_installed && holds;
        let is_own = path.starts_with("name") || path.starts_with("env.") || path == "env";
        if matches!(value, Some(Data::Bool(_))) && !is_own {
            instance.condition = Some((cel_path(&path), holds));
        }
    }

    fn set_options(&mut self, instance: &mut Instance, fields: &Fields, state: &State, data: &Data) {
        let general = state.text("kubeVersion").map(|text| text.node.text.as_ref().to_owned());
        if let Some(version) = self.text_of(fields, "kubeVersion", data).or(general).filter(|text| !text.is_empty()) {
            instance.options.insert("kube-version", Setting::Text(version));
        }
        let own = fields.get("apiVersions").and_then(|all| all.last()).map(|(_, value)| value.clone());
        if let Some(list) = own.or_else(|| state.text("apiVersions").cloned()) {
            let items = list.items("apiVersions", &mut self.project.notes);
            let texts = items.iter().filter_map(|item| item.scalar("apiVersions", &mut self.project.notes));
            instance.options.insert("api-versions", Setting::Texts(texts.collect()));
        }
        for (key, option) in [("includeCRDs", "include-crds"), ("skipSchemaValidation", "no-schema")] {
            let own = fields.get(key).and_then(|all| all.last()).map(|(_, value)| value.node.text.as_ref() == "true");
            let general = || state.helm_defaults.iter().rev().find_map(|defaults| defaults.flag(key));
            if own.or_else(general).unwrap_or(false) {
                instance.options.insert(option, Setting::Flag);
            }
        }
    }

    /// Notes the fields that are not translated.
    fn note_others(&mut self, instance: &Instance, fields: &Fields) {
        const KNOWN: [&str; 28] = [
            "name",
            "nameTemplate",
            "namespace",
            "namespaceTemplate",
            "chart",
            "chartTemplate",
            "version",
            "versionTemplate",
            "values",
            "valuesTemplate",
            "set",
            "setTemplate",
            "setString",
            "secrets",
            "secretsTemplate",
            "condition",
            "installed",
            "installedTemplate",
            "labels",
            "kubeVersion",
            "apiVersions",
            "missingFileHandler",
            "includeCRDs",
            "skipSchemaValidation",
            "directory",
            "tags",
            "strategicMergePatches",
            "jsonPatches",
        ];
        for (key, all) in fields.iter().filter(|(key, _)| !KNOWN.contains(&key.as_ref())) {
            let Some((name, _)) = all.last() else { continue };
            match is_at_installation(key) {
                true => self.at_installation(key, name),
                false => self.untranslated(Some(&instance.subject), key, name),
            }
        }
    }

    fn set_chart(&mut self, instance: &mut Instance, fields: &Fields, state: &State, data: &Data) -> Option<()> {
        let Some(chart) = self.text_of(fields, "chart", data) else {
            let place = fields.values().flatten().next().map(|(name, _)| name.place())?;
            self.project.notes.wrong(place, format!("the release `{}` has no `chart`", instance.name));
            return None;
        };
        let version = self.text_of(fields, "version", data).unwrap_or_default();
        let (_, at) = fields.get("chart").or_else(|| fields.get("chartTemplate"))?.last()?.clone();
        instance.chart = Some(self.chart(&instance.subject, &at, &chart, &version, state)?);
        Some(())
    }

    /// Returns the values of a release, low to high: `values`, `secrets`, `set`.
    fn release_values(&mut self, instance: &Instance, fields: &Fields, state: &State, data: &Data) -> Vec<Item> {
        let known = Known { name: Some(instance.name.clone()), namespace: instance.namespace.clone() };
        let handler = self.text_of(fields, "missingFileHandler", data);
        let mut folder = state.place();
        folder.may_miss |= handler.is_some_and(|handler| handler != "Error");
        let mut found = Vec::new();
        for item in self.items_of(fields, &["values", "valuesTemplate"]) {
            if item.node.as_map().is_some() {
                let values = self.filled_data(&item, item.data(), data);
                found.push(Item::Made { stem: "values".to_owned(), data: values });
                continue;
            }
            let Some(path) = item.scalar("values", &mut self.project.notes) else { continue };
            let path = self.filled(&item, path, data);
            found.extend(self.value_files(&item, &path, folder, data, Some(&known)));
        }
        for item in self.items_of(fields, &["secrets", "secretsTemplate"]) {
            found.extend(self.secret_files(&item, folder));
        }
        found.extend(self.set_values(fields, folder, data));
        found
    }

    fn items_of(&mut self, fields: &Fields, keys: &[&str]) -> Vec<Yaml> {
        let lists = keys.iter().filter_map(|key| Some((*key, fields.get(*key)?)));
        lists
            .flat_map(|(key, all)| all.iter().map(move |(_, list)| (key, list)))
            .flat_map(|(key, list)| list.items(key, &mut self.project.notes))
            .collect()
    }

    /// Returns the values that `set` gives, with the grammar of Helm's `--set`.
    fn set_values(&mut self, fields: &Fields, folder: Folder<'_>, data: &Data) -> Option<Item> {
        let mut map = DataMap::default();
        for (keys, kind) in [(&["set", "setTemplate"][..], SetKind::Typed), (&["setString"], SetKind::Text)] {
            for item in self.items_of(fields, keys) {
                self.set_value(&item, kind, (folder, data), &mut map);
            }
        }
        (!map.is_empty()).then(|| Item::Made { stem: "set".to_owned(), data: Data::Map(map) })
    }

    fn set_value(&mut self, item: &Yaml, kind: SetKind, (folder, data): (Folder<'_>, &Data), map: &mut DataMap) {
        let Some(name) = item.text("name", &mut self.project.notes) else {
            return self.project.notes.wrong(item.place(), "an item of `set` has no `name`");
        };
        let filled = |loader: &mut Self, value: &Yaml| {
            let text = value.scalar("set", &mut loader.project.notes).unwrap_or_default();
            escaped(&loader.filled(value, text, data))
        };
        let text = if let Some(list) = item.get("values") {
            let items = list.items("values", &mut self.project.notes);
            let texts: Vec<String> = items.iter().map(|value| filled(self, value)).collect();
            format!("{{{}}}", texts.join(","))
        } else if let Some(file) = item.text("file", &mut self.project.notes) {
            let Some(path) = self.found(item, folder.path, &file, folder.may_miss) else { return };
            match self.sources.text(&path) {
                Ok(source) => escaped(source.text()),
                Err(error) => return self.project.notes.errors.push(error),
            }
        } else {
            item.get("value").map(|value| filled(self, &value)).unwrap_or_default()
        };
        let kind = if item.get("file").is_some() { SetKind::Text } else { kind };
        if !assign(map, kind, &name, &text) {
            let message = format!("`{name}` of `set` is not translated");
            let help = "write the whole list to the values of the release";
            self.project.notes.left_out(Some(item.place()), message, help);
        }
    }
}

/// Returns a dotted path into the values of a cluster as CEL.
fn cel_path(path: &str) -> String {
    path.split('.').fold("cluster".to_owned(), |text, key| {
        let is_name = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !key.starts_with(|c: char| c.is_ascii_digit());
        if is_name { format!("{text}.{key}") } else { format!("{text}['{}']", key.replace('\'', "\\'")) }
    })
}

/// Keys that act when releases are installed, and change nothing that is rendered.
const AT_INSTALLATION: [&str; 62] = [
    "args",
    "atomic",
    "cascade",
    "cleanupOnFail",
    "context",
    "createNamespace",
    "deleteTimeout",
    "deleteWait",
    "deprecated",
    "description",
    "devel",
    "diffArgs",
    "disableAutoDetectedKubeVersionForDiff",
    "disableOpenAPIValidation",
    "disableValidation",
    "disableValidationOnInstall",
    "enableDNS",
    "force",
    "forceUpdate",
    "helmBinary",
    "historyMax",
    "insecureSkipTLSVerify",
    "insecureSkipTLSverify",
    "keyring",
    "kubeContext",
    "kustomizeBinary",
    "lockFile",
    "lockFilePath",
    "minimumHelmVersion",
    "name",
    "passCredentials",
    "plainHttp",
    "recreatePods",
    "resetValues",
    "reuseValues",
    "rollbackOnFailure",
    "serverSide",
    "showOnly",
    "skipDeps",
    "skipRefresh",
    "suppressDiff",
    "suppressOutputLineRegex",
    "syncArgs",
    "syncReleaseLabels",
    "takeOwnership",
    "templateArgs",
    "tillerNamespace",
    "tillerless",
    "timeout",
    "tls",
    "tlsCACert",
    "tlsCert",
    "tlsKey",
    "trackLogs",
    "trackMode",
    "unitTests",
    "updateStrategy",
    "verify",
    "version",
    "wait",
    "waitForJobs",
    "waitRetries",
];

/// Returns `true` for a key that changes nothing that is rendered.
pub(super) fn is_at_installation(key: &str) -> bool {
    AT_INSTALLATION.contains(&key)
}

/// Returns the advice for a key that is not translated.
pub(super) fn advice(key: &str) -> &'static str {
    match key {
        "hooks" => "run the commands in the pipeline that stamps or applies",
        "needs" => "files have no order: let the tool that applies them wait, with sync waves or `dependsOn`",
        "transformers" | "postRenderer" | "postRendererArgs" | "postRendererHooks" => {
            "write what it changes to `patches` of the release"
        }
        "dependencies" => "add the charts to `dependencies` of the chart's `Chart.yaml`",
        "adopt" | "forceNamespace" => "set the namespace in the chart's values",
        "selectors" => "select with `-r` when you stamp, or remove the releases that are not meant",
        "commonLabels" | "labels" => "give the releases `labels`",
        "kubeContext" => "name the context where the files are applied",
        _ => "look it up in Helmfile's documentation, and write it by hand if it changes what is rendered",
    }
}
