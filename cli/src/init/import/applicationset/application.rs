//! An application: a destination, and charts or manifests for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dropforge::bulk::values::SetKind;
use dropforge::value::{Data, DataMap};

use super::Filler;
use super::manifests::{self, Choice};
use crate::init::import::assemble::{Instance, Item};
use crate::init::import::fold::TODO_CLUSTER;
use crate::init::import::project::{Project, Setting, file_name};
use crate::init::import::sources::{Refusal, Remote, Sources, Vendored, assign, escaped};
use crate::init::import::yaml::Yaml;

/// The server of the cluster that Argo CD runs in, and its name.
const IN_CLUSTER: (&str, &str) = ("https://kubernetes.default.svc", "in-cluster");

/// An application with its parameters.
#[derive(Debug)]
pub(super) struct Application {
    name: String,
    /// The name of the destination.
    pub(super) cluster: String,
    namespace: Option<String>,
    labels: BTreeMap<String, String>,
    sources: Vec<Yaml>,
    params: Data,
    is_go: bool,
    is_strict: bool,
    is_done: bool,
}

/// What the sources of an application share.
struct Reader<'r> {
    application: &'r Application,
    files: &'r mut Sources,
    project: &'r mut Project,
    vendored: &'r mut Vendored,
}

impl Application {
    /// Reads an application, or fills the template of one.
    pub(super) fn of(
        template: &Yaml,
        params: &Data,
        filler: Option<&Filler<'_>>,
        project: &mut Project,
    ) -> Option<Self> {
        let notes = &mut project.notes;
        let Some(spec) = template.get("spec") else {
            notes.wrong(template.place(), "the application has no `spec`");
            return None;
        };
        for (key, name, _) in spec.entries("spec", notes) {
            if !["destination", "source", "sources"].contains(&&*key) {
                notes.at_installation(name.place(), &key);
            }
        }
        let mut text = |at: &Yaml, path: &str| {
            let value = at.at(path)?;
            let text = value.scalar(path, notes)?;
            Some(filler.map_or(text.clone(), |filler| filler.text(&value, &text, notes)))
        };
        let name = text(template, "metadata.name").unwrap_or_default();
        let server = text(&spec, "destination.server");
        let destination = text(&spec, "destination.name");
        let namespace = text(&spec, "destination.namespace").filter(|namespace| !namespace.is_empty());
        let cluster = file_name(&cluster_name(destination, server, params));
        let labels = template.at("metadata.labels");
        let labels = labels.map(|labels| labels.entries("labels", notes)).unwrap_or_default();
        let constant = labels.into_iter().filter(|(_, _, value)| !value.node.text.contains("{{"));
        let labels =
            constant.map(|(key, _, value)| (key.as_ref().to_owned(), value.node.text.as_ref().to_owned())).collect();
        let mut sources = spec.list("sources", notes);
        sources.extend(spec.get("source").filter(|_| sources.is_empty()));
        if sources.is_empty() {
            notes.wrong(spec.place(), "the application has neither `source` nor `sources`");
        }
        let (is_go, is_strict) = filler.map_or((false, false), |filler| (filler.is_go, filler.is_strict));
        let is_done = filler.is_some_and(|filler| filler.is_done);
        Some(Self { name, cluster, namespace, labels, sources, params: params.clone(), is_go, is_strict, is_done })
    }

    /// Returns the parameters.
    pub(super) fn params(&self) -> DataMap {
        self.params.as_map().cloned().unwrap_or_default()
    }

    /// Returns the condition that the clusters of a generator `clusters` meet, as CEL.
    fn condition(&self) -> Option<(String, bool)> {
        if self.cluster != TODO_CLUSTER {
            return None;
        }
        let nested = self.params.at_path("metadata.labels").and_then(Data::as_map).cloned().unwrap_or_default();
        let flat = self.params.as_map().into_iter().flatten();
        let flat =
            flat.filter_map(|(key, value)| Some((key.strip_prefix("metadata.labels.")?.to_owned(), value.clone())));
        let labels: BTreeMap<String, Data> = nested.into_iter().chain(flat).collect();
        let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
        let one = |(key, value): (&String, &Data)| {
            let value = value.as_str().unwrap_or("");
            format!("cluster.?metadata.?labels[?{}].orValue('') == {}", quoted(key), quoted(value))
        };
        let all: Vec<String> = labels.iter().map(one).collect();
        Some((if all.is_empty() { "has(cluster.server)".to_owned() } else { all.join(" && ") }, true))
    }

    /// Returns the releases of the application.
    pub(super) fn instances(
        &self,
        files: &mut Sources,
        project: &mut Project,
        vendored: &mut Vendored,
    ) -> Vec<Instance> {
        let cluster = project.cluster(&self.cluster, DataMap::default());
        let mut reader = Reader { application: self, files, project, vendored };
        let mut found = Vec::new();
        for source in &self.sources {
            let Some(mut instance) = reader.instance(source) else { continue };
            instance.cluster = cluster;
            // Two sources of one application have one name.
            let times = found.iter().filter(|other: &&Instance| other.name.starts_with(&instance.name)).count();
            if times > 0 {
                instance.name = format!("{}-{}", instance.name, times + 1);
            }
            found.push(instance);
        }
        found
    }
}

/// Returns the name of a destination.
fn cluster_name(name: Option<String>, server: Option<String>, params: &Data) -> String {
    let server = server.unwrap_or_default();
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        return name;
    }
    if server == IN_CLUSTER.0 || server.is_empty() {
        return IN_CLUSTER.1.to_owned();
    }
    // A server that is a parameter belongs to the cluster that others name.
    let named = ["name", "cluster", "clusterName", "cluster.name"].iter().find_map(|key| params.get(key)?.as_str());
    let host = server.split("://").nth(1).unwrap_or(&server);
    named.unwrap_or(host).to_owned()
}

impl Reader<'_> {
    fn fill(&mut self, at: &Yaml, text: &str) -> String {
        let Application { params, is_go, is_strict, is_done, .. } = self.application;
        if *params == Data::Null {
            return text.to_owned();
        }
        Filler { params, is_go: *is_go, is_strict: *is_strict, is_done: *is_done }.text(
            at,
            text,
            &mut self.project.notes,
        )
    }

    fn text(&mut self, of: &Yaml, path: &str) -> Option<String> {
        let value = of.at(path)?;
        let text = value.scalar(path, &mut self.project.notes)?;
        Some(self.fill(&value, &text)).filter(|text| !text.is_empty())
    }

    fn data(&mut self, of: &Yaml) -> Data {
        let Application { params, is_go, is_strict, is_done, .. } = self.application;
        match params {
            Data::Null => of.data(),
            _ => Filler { params, is_go: *is_go, is_strict: *is_strict, is_done: *is_done }.data(
                of,
                &of.data(),
                &mut self.project.notes,
            ),
        }
    }

    fn left_out(&mut self, at: &Yaml, message: impl Into<String>, help: impl Into<String>) {
        self.project.notes.left_out(Some(at.place()), message, help);
    }

    /// Returns the release of a source. One that others only take values from is none.
    fn instance(&mut self, source: &Yaml) -> Option<Instance> {
        let application = self.application;
        let mut instance = Instance {
            name: application.name.clone(),
            namespace: application.namespace.clone(),
            labels: application.labels.clone(),
            condition: application.condition(),
            is_wanted: true,
            ..Instance::default()
        };
        let (chart, path) = (self.text(source, "chart"), self.text(source, "path"));
        self.note_keys(source);
        match (chart, path) {
            (Some(chart), _) => instance.chart = Some(self.remote(source, &chart)),
            (None, Some(path)) => self.set_local(&mut instance, source, &path)?,
            (None, None) if source.get("ref").is_some() => return None,
            (None, None) => {
                self.left_out(
                    source,
                    "a source without `chart` and `path` is not translated",
                    "write the release by hand",
                );
                return None;
            }
        }
        if instance.chart.is_some() {
            self.set_helm(&mut instance, source);
        }
        Some(instance)
    }

    fn note_keys(&mut self, source: &Yaml) {
        const KNOWN: [&str; 9] =
            ["repoURL", "targetRevision", "path", "chart", "helm", "directory", "ref", "name", "kustomize"];
        for (key, name, value) in source.entries("source", &mut self.project.notes) {
            let is_known =
                KNOWN.contains(&&*key) && (*key != *"kustomize" || value.node.as_map().is_some_and(<[_]>::is_empty));
            if !is_known {
                self.left_out(&name, format!("`{key}` of a source is not translated"), "write what it changes by hand");
            }
        }
    }

    /// Returns the path of a chart of a repository.
    fn remote(&mut self, source: &Yaml, chart: &str) -> String {
        let url = self.text(source, "repoURL").unwrap_or_default();
        let version = self.text(source, "targetRevision").unwrap_or_default();
        let is_http = url.starts_with("http://") || url.starts_with("https://");
        let pulled = match is_http {
            true => format!("{chart} --repo {url}"),
            false => format!("oci://{}/{chart}", url.trim_start_matches("oci://").trim_end_matches('/')),
        };
        let shown = format!("{}/{chart}", url.trim_end_matches('/'));
        let remote = Remote { shown: &shown, version: &version, source: &pulled, needs: "" };
        remote.path((chart, source.place()), self.vendored, self.files, self.project)
    }

    /// Returns a file or folder of the repository at hand: below its root, or a folder between it and the file.
    fn find(&mut self, path: &str) -> Result<PathBuf, Refusal> {
        let path = path.trim_start_matches('/');
        let path = if path.is_empty() { "." } else { path };
        let (root, base) = (self.files.root().to_owned(), self.files.base().to_owned());
        let first = self.files.find(&root, path);
        if matches!(first, Err(Refusal::Missing)) {
            let folders = base.ancestors().take_while(|folder| folder.starts_with(&root));
            if let Some(found) = folders.filter_map(|folder| self.files.find(folder, path).ok()).next() {
                return Ok(found);
            }
        }
        first
    }

    /// Sets the chart or the manifests of a folder of the repository at hand.
    fn set_local(&mut self, instance: &mut Instance, source: &Yaml, path: &str) -> Option<()> {
        let found = match self.find(path) {
            Ok(found) => found,
            Err(refusal) => {
                let (why, _) = refusal.told(self.files.root());
                let url = self.text(source, "repoURL").unwrap_or_default();
                let help = format!("copy it from {url}, and add a release with it");
                self.left_out(source, format!("`{path}` {why} in the repository at hand"), help);
                return None;
            }
        };
        if found.join("Chart.yaml").is_file() {
            match self.project.copy_folder(self.files, &found) {
                Ok(path) => instance.chart = Some(path),
                Err(error) => self.project.notes.errors.push(error),
            }
            return instance.chart.as_ref().map(|_| ());
        }
        if ["kustomization.yaml", "kustomization.yml", "Kustomization"].iter().any(|name| found.join(name).is_file()) {
            let help = format!("import it as a project of its own: `dropforge init --from kustomize {path}`");
            self.left_out(source, format!("`{path}` is a folder of Kustomize"), help);
            return None;
        }
        instance.templates = vec![self.manifests(source, &found, path)?];
        Some(())
    }

    fn manifests(&mut self, source: &Yaml, folder: &Path, path: &str) -> Option<String> {
        let directory = source.get("directory");
        let mut text = |key: &str| directory.as_ref().and_then(|directory| self.text(directory, key));
        let choice = Choice {
            include: text("include"),
            exclude: text("exclude"),
            recurse: directory.as_ref().and_then(|directory| directory.flag("recurse")).unwrap_or(false),
        };
        if let Some(jsonnet) = directory.as_ref().and_then(|directory| directory.get("jsonnet")) {
            self.left_out(&jsonnet, "`jsonnet` is not translated", "render it to YAML");
        }
        match manifests::add(folder, &choice, self.files, self.project) {
            Ok(Some(path)) => Some(path),
            Ok(None) => {
                self.left_out(source, format!("`{path}` has no manifests"), "add some, or remove the application");
                None
            }
            Err(errors) => {
                self.project.notes.errors.extend(errors);
                None
            }
        }
    }

    /// Sets the values and the options of a chart.
    fn set_helm(&mut self, instance: &mut Instance, source: &Yaml) {
        // Argo CD renders the definitions of a chart's folder `crds`, too.
        let helm = source.get("helm");
        if !helm.as_ref().and_then(|helm| helm.flag("skipCrds")).unwrap_or(false) {
            instance.options.insert("include-crds", Setting::Flag);
        }
        let Some(helm) = helm else { return };
        for (key, name, value) in helm.entries("helm", &mut self.project.notes) {
            match &*key {
                "values" | "valuesObject" | "valueFiles" | "parameters" | "skipCrds" | "ignoreMissingValueFiles" => {}
                "fileParameters" | "releaseName" | "namespace" | "kubeVersion" | "apiVersions" => {}
                "skipTests" | "skipSchemaValidation" => {
                    let option = if &*key == "skipTests" { "skip-tests" } else { "no-schema" };
                    if value.node.text.as_ref() == "true" {
                        instance.options.insert(option, Setting::Flag);
                    }
                }
                "version" | "passCredentials" => self.project.notes.at_installation(name.place(), &key),
                key => self.left_out(&name, format!("`{key}` of `helm` is not translated"), "write it by hand"),
            }
        }
        if let Some(name) = self.text(&helm, "releaseName") {
            instance.name = name;
        }
        instance.namespace = self.text(&helm, "namespace").or(instance.namespace.take());
        if let Some(version) = self.text(&helm, "kubeVersion") {
            instance.options.insert("kube-version", Setting::Text(version));
        }
        let versions = helm.texts("apiVersions", &mut self.project.notes);
        if !versions.is_empty() {
            instance.options.insert("api-versions", Setting::Texts(versions));
        }
        let chart = instance.chart.clone().unwrap_or_default();
        instance.values = self.files_of(&helm, source, &chart);
        instance.values.extend(self.own_values(&helm));
        instance.values.extend(self.parameters(&helm));
    }

    fn files_of(&mut self, helm: &Yaml, source: &Yaml, chart: &str) -> Vec<Item> {
        let may_miss = helm.flag("ignoreMissingValueFiles").unwrap_or(false);
        let folder = self.text(source, "path").and_then(|path| self.find(&path).ok());
        let mut found = Vec::new();
        for item in helm.list("valueFiles", &mut self.project.notes) {
            let Some(text) = item.scalar("valueFiles", &mut self.project.notes) else { continue };
            let path = self.fill(&item, &text);
            // `$values/x` is a path of the repository that another source names.
            let of_repository = path.strip_prefix('$').and_then(|path| path.split_once('/')).map(|(_, path)| path);
            let found_at = match (of_repository.or(path.strip_prefix('/')), &folder) {
                (Some(path), _) => self.find(path),
                (None, Some(folder)) => self.files.find(folder, &path),
                (None, None) => {
                    let help = format!("copy `{chart}/{path}` to `releases/`, and add it to the values of the release");
                    self.left_out(&item, format!("`{path}` is a file of the chart"), help);
                    continue;
                }
            };
            match found_at {
                Ok(path) => found.push(Item::File(path)),
                Err(Refusal::Missing) if may_miss => {}
                Err(refusal) => {
                    let (why, help) = refusal.told(self.files.root());
                    self.left_out(&item, format!("`{path}` {why}"), help);
                }
            }
        }
        found
    }

    fn own_values(&mut self, helm: &Yaml) -> Option<Item> {
        let made = |data: Data| Item::Made { stem: "values".to_owned(), data };
        if let Some(object) = helm.get("valuesObject") {
            return Some(made(self.data(&object)));
        }
        let values = helm.get("values")?;
        let text = values.scalar("values", &mut self.project.notes)?;
        let text = self.fill(&values, &text);
        let source = dropforge::text::Source::new("values of the application", text);
        match Yaml::documents(&source, None) {
            Ok(documents) => Some(made(documents.first().map_or(Data::Null, Yaml::data))),
            Err(errors) => {
                for error in errors {
                    self.project.notes.wrong(values.place(), format!("`values` are no YAML: {}", error.message));
                }
                None
            }
        }
    }

    /// Returns the values of `parameters`, with the grammar of Helm's `--set`.
    fn parameters(&mut self, helm: &Yaml) -> Option<Item> {
        let mut map = DataMap::default();
        for (key, is_file) in [("parameters", false), ("fileParameters", true)] {
            for item in helm.list(key, &mut self.project.notes) {
                let Some(name) = self.text(&item, "name") else {
                    self.project.notes.wrong(item.place(), format!("an item of `{key}` has no `name`"));
                    continue;
                };
                if is_file {
                    self.left_out(
                        &item,
                        format!("`{name}` of `fileParameters` is not translated"),
                        "write its text to the values",
                    );
                    continue;
                }
                let text = self.text(&item, "value").unwrap_or_default();
                let is_text = item.flag("forceString").unwrap_or(false);
                let kind = if is_text { SetKind::Text } else { SetKind::Typed };
                if !assign(&mut map, kind, &name, &escaped(&text)) {
                    let help = "write the whole list to the values of the release";
                    self.left_out(&item, format!("`{name}` of `parameters` is not translated"), help);
                }
            }
        }
        (!map.is_empty()).then(|| Item::Made { stem: "parameters".to_owned(), data: Data::Map(map) })
    }
}
