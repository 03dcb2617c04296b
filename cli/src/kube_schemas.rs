//! The option for schemas of Kubernetes kinds. The doc comment is a help text.

use std::path::PathBuf;

use clap::Args;

use dropforge::bulk::KubeSchemas;
use dropforge::diagnostics::Result;

use crate::glob;
use crate::project::key;
use crate::stderr::Stderr;

/// Options of commands that check outputs by the schemas of Kubernetes kinds.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct KubeArgs {
    /// Check outputs by schemas of Kubernetes kinds
    ///
    /// The schemas are OpenAPI documents (`kubectl get --raw /openapi/v2`),
    /// CustomResourceDefinitions, and JSON Schemas named as kubeconform names
    /// them: `deployment-apps-v1.json`. A kind without a schema is a warning.
    #[arg(long, value_name = "PATH", add = key("checks"))]
    kube_schemas: Vec<PathBuf>,
}

impl KubeArgs {
    /// Returns the files and directories of schemas.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.kube_schemas.iter()
    }

    /// Reads the schemas, if there are any. With `strict`, a kind without a schema is an error.
    ///
    /// # Errors
    /// Errors of [`KubeSchemas::read`] and of listing directories.
    pub(crate) fn read(&self, strict: bool) -> Result<Option<KubeSchemas>> {
        if self.kube_schemas.is_empty() {
            return Ok(None);
        }
        let mut files = Vec::new();
        for path in &self.kube_schemas {
            match path.is_dir() {
                true => files.extend(glob::data_files(path)?),
                false => files.push(path.clone()),
            }
        }
        KubeSchemas::read(&files).map(|schemas| Some(schemas.with_strict(strict)))
    }
}

/// Prints a warning for each kind without a schema.
pub(crate) fn warn(kinds: Option<&KubeSchemas>, stderr: &Stderr) {
    kinds.iter().flat_map(|kinds| kinds.warnings()).for_each(|warning| stderr.warning(&warning));
}
