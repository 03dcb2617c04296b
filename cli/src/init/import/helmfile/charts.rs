//! Charts of a helmfile: folders of the repository, and those of repositories, which have to be fetched.

use std::path::Path;

use super::state::{Loader, State};
use crate::init::import::charts::Remote;
use crate::init::import::yaml::Yaml;

impl Loader<'_> {
    /// Returns the path of a chart in the project.
    pub(super) fn chart(
        &mut self,
        release: &str,
        at: &Yaml,
        chart: &str,
        version: &str,
        state: &State,
    ) -> Option<String> {
        let is_path = chart.starts_with(['.', '/']);
        match self.sources.find(&state.folder, chart) {
            Ok(found) => return self.local_chart(release, at, &found),
            Err(_) if is_path => {
                self.found(at, &state.folder, chart, false);
                return None;
            }
            Err(_) => {}
        }
        if chart.contains("::") || chart.starts_with("http") {
            let message = format!("the chart `{chart}` is not in the repository");
            self.project.notes.left_out_of(
                Some(release),
                Some(at.place()),
                message,
                "download it to `charts/`, and add a release with its folder",
            );
            return None;
        }
        let (source, needs) = self.repository_of(chart, state);
        let remote = Remote { shown: chart, version, source: &source, needs: &needs };
        Some(remote.path((release, at.place()), self.vendored, self.sources, self.project))
    }

    fn local_chart(&mut self, release: &str, at: &Yaml, path: &Path) -> Option<String> {
        if path.is_file() {
            return Some(self.project.copy(self.sources, path));
        }
        if !path.join("Chart.yaml").is_file() {
            let message = format!("`{}` is a folder without `Chart.yaml`", dropforge::engine::path_from_here(path));
            let help =
                "add a release with `templates` for manifests; for Kustomize, see `dropforge init --from kustomize`";
            self.project.notes.left_out_of(Some(release), Some(at.place()), message, help);
            return None;
        }
        match self.project.copy_folder(self.sources, path) {
            Ok(path) => Some(path),
            Err(error) => {
                self.project.notes.errors.push(error);
                None
            }
        }
    }

    /// Returns a chart as `helm pull` names it, and what else is needed for it.
    fn repository_of(&mut self, chart: &str, state: &State) -> (String, String) {
        if chart.starts_with("oci://") {
            return (chart.to_owned(), String::new());
        }
        let Some((alias, name)) = chart.split_once('/') else { return (chart.to_owned(), String::new()) };
        for repository in state.repositories.iter().rev() {
            let mut text = |key: &str| repository.text(key, &mut self.project.notes);
            if text("name").is_none_or(|own| own != alias) {
                continue;
            }
            let Some(url) = text("url") else { break };
            if repository.flag("oci").unwrap_or(false) {
                let url = url.trim_start_matches("oci://").trim_end_matches('/').to_owned();
                return (format!("oci://{url}/{name}"), String::new());
            }
            let needs_login =
                ["username", "passwordEnv", "certFile", "password"].iter().any(|key| repository.get(key).is_some());
            let help = if needs_login { ", with the credentials of the repository" } else { "" };
            return (format!("{name} --repo {url}"), help.to_owned());
        }
        (chart.to_owned(), format!(", after `helm repo add {alias} URL`"))
    }
}
