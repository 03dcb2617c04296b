//! `helmCharts`: charts become releases of their own, with the patches that are for their objects.

use std::path::Path;

use dropforge::value::Data;

use super::build::Builder;
use crate::init::import::assemble::{Instance, InstancePatch, Item};
use crate::init::import::project::{PatchHead, Setting};
use crate::init::import::sources::Remote;
use crate::init::import::yaml::Yaml;

/// The folder of charts beside a kustomization.
const HOME: &str = "charts";

/// Keys of charts, and the options of releases with the same meaning.
const FLAGS: [(&str, &str); 3] =
    [("includeCRDs", "include-crds"), ("skipHooks", "no-hooks"), ("skipTests", "skip-tests")];

/// Transformers that charts do not get.
const TRANSFORMERS: [&str; 8] =
    ["namePrefix", "nameSuffix", "labels", "commonLabels", "commonAnnotations", "images", "replicas", "replacements"];

impl Builder<'_> {
    /// Adds the charts of a file.
    pub(super) fn add_charts(&mut self, file: &Yaml, folder: &Path) {
        let home = file.at("helmGlobals.chartHome").and_then(|home| home.scalar("chartHome", &mut self.project.notes));
        let home = home.unwrap_or_else(|| HOME.to_owned());
        for chart in file.list("helmCharts", &mut self.project.notes) {
            let Some(name) = chart.text("name", &mut self.project.notes) else {
                self.project.notes.wrong(chart.place(), "an item of `helmCharts` has no `name`");
                continue;
            };
            let mut instance = Instance { cluster: self.cluster, is_wanted: true, ..Instance::default() };
            instance.name = chart.text("releaseName", &mut self.project.notes).unwrap_or_else(|| name.clone());
            instance.subject.clone_from(&instance.name);
            instance.namespace = chart.text("namespace", &mut self.project.notes);
            self.set_chart_options(&chart, &mut instance);
            instance.values = self.chart_values(&chart, folder);
            instance.chart = self.chart_path(&chart, &name, &folder.join(home.as_str()));
            self.charts.extend(instance.chart.is_some().then_some(instance));
        }
    }

    /// Returns the path of a chart in the project: a folder of the repository, or one to fetch.
    fn chart_path(&mut self, chart: &Yaml, name: &str, home: &Path) -> Option<String> {
        let version = chart.text("version", &mut self.project.notes).unwrap_or_default();
        let places = [home.join(name), home.join(format!("{name}-{version}")).join(name)];
        let found = places.iter().find(|place| place.join("Chart.yaml").is_file());
        let within = found.and_then(|place| self.sources.find(place, ".").ok());
        if let Some(path) = within {
            match self.project.copy_folder(self.sources, &path) {
                Ok(path) => return Some(path),
                Err(error) => self.project.notes.errors.push(error),
            }
        }
        let Some(url) = chart.text("repo", &mut self.project.notes) else {
            let message = format!("the chart `{name}` is not in the repository");
            self.project.notes.left_out(
                Some(chart.place()),
                message,
                "add a release with the chart: `chart`, `values`",
            );
            return None;
        };
        let pulled = match url.strip_prefix("oci://") {
            Some(rest) => format!("oci://{}/{name}", rest.trim_end_matches('/')),
            None => format!("{name} --repo {url}"),
        };
        let shown = format!("{}/{name}", url.trim_end_matches('/'));
        let remote = Remote { shown: &shown, version: &version, source: &pulled, needs: "" };
        Some(remote.path((name, chart.place()), &mut self.vendored, self.sources, self.project))
    }

    fn set_chart_options(&mut self, chart: &Yaml, instance: &mut Instance) {
        for (key, name, value) in chart.entries("helmCharts", &mut self.project.notes) {
            match &*key {
                "name"
                | "releaseName"
                | "namespace"
                | "version"
                | "repo"
                | "valuesFile"
                | "valuesInline"
                | "valuesMerge"
                | "additionalValuesFiles" => {}
                "kubeVersion" => {
                    let version = value.scalar("kubeVersion", &mut self.project.notes);
                    instance.options.extend(version.map(|version| ("kube-version", Setting::Text(version))));
                }
                "apiVersions" => {
                    let apis = chart.texts("apiVersions", &mut self.project.notes);
                    instance.options.insert("api-versions", Setting::Texts(apis));
                }
                key => match FLAGS.iter().find(|(flag, _)| *flag == key) {
                    Some((_, option)) if chart.flag(key).unwrap_or(false) => {
                        instance.options.insert(option, Setting::Flag);
                    }
                    Some(_) => {}
                    None => self.untranslated("helmCharts", key, &name),
                },
            }
        }
    }

    /// Returns the values of a chart, low to high.
    fn chart_values(&mut self, chart: &Yaml, folder: &Path) -> Vec<Item> {
        let file = |builder: &mut Self, at: &Yaml| {
            let path = at.scalar("valuesFile", &mut builder.project.notes)?;
            builder.found(at, folder, &path).map(Item::File)
        };
        let own = chart.get("valuesFile").and_then(|at| file(self, &at));
        let inline = chart.get("valuesInline").map(|at| Item::Made { stem: "values".to_owned(), data: at.data() });
        let how = chart.text("valuesMerge", &mut self.project.notes);
        let mut values: Vec<Item> = match how.as_deref() {
            Some("merge") => inline.into_iter().chain(own).collect(),
            Some("replace") if inline.is_some() => inline.into_iter().collect(),
            _ => own.into_iter().chain(inline).collect(),
        };
        for more in chart.list("additionalValuesFiles", &mut self.project.notes) {
            values.extend(file(self, &more));
        }
        values
    }

    /// Adds a patch to the charts of the folder. Returns `false` if there are none.
    pub(super) fn patch_charts(&mut self, head: Option<&PatchHead>, patch: &Yaml) -> bool {
        let charts = self.charts.get_mut(self.first_chart..).unwrap_or_default();
        let Some(head) = head.filter(|_| !charts.is_empty()) else { return false };
        let is_json = patch.node.as_list().is_some();
        let head = PatchHead { is_json, ..head.clone() };
        let content = Item::Made { stem: "patch".to_owned(), data: patch.data() };
        charts
            .iter_mut()
            .for_each(|one| one.patches.push(InstancePatch { head: head.clone(), content: content.clone() }));
        true
    }

    /// Notes the transformers of a file that the charts of its folder do not get.
    pub(super) fn note_transformers(&mut self, file: &Yaml) {
        let first = self.first_chart;
        let names: Vec<String> = self.charts.iter().skip(first).map(|chart| format!("`{}`", chart.name)).collect();
        if names.is_empty() {
            return;
        }
        let namespace = file.text("namespace", &mut self.project.notes);
        for chart in self.charts.iter_mut().skip(first) {
            chart.namespace = chart.namespace.take().or_else(|| namespace.clone());
        }
        for (key, name, value) in file.entries("kustomization", &mut self.project.notes) {
            let is_empty = value.data() == Data::List(Vec::new());
            let help = match &*key {
                "namespace" => "it is the namespace of the release: set that of objects that ignore it in a patch",
                key if TRANSFORMERS.contains(&key) => {
                    "write it to the values of the chart, or to `patches` of the release"
                }
                _ => continue,
            };
            if !is_empty {
                let message = format!("`{key}` is not applied to the objects of the chart {}", names.join(", "));
                self.project.notes.left_out(Some(name.place()), message, help);
            }
        }
    }
}
