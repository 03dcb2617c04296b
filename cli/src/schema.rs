//! The options of schemas for values and of Kubernetes kinds, and finding `values.schema.json`. The doc comments are help texts.

use std::path::{Path, PathBuf};

use clap::Args;

use dropforge::bulk::schema::{SCHEMA_FILE, Schemas, ValuesSchema};
use dropforge::bulk::{KubeSchemas, Layers};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result, joined};
use dropforge::dialect::hcl::Variables;

use crate::input::{InputFiles, is_dash};
use crate::options::limits;
use crate::project::key;
use crate::stderr::Stderr;
use crate::{glob, usage};

/// Options of commands that check values against a schema.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checks")]
pub(crate) struct SchemaArgs {
    /// Check merged values by this JSON Schema
    ///
    /// The default is `values.schema.json` beside the templates.
    #[arg(long, value_name = "FILE", add = key("checks"))]
    schema: Option<PathBuf>,
    /// Do not check values against a schema
    #[arg(long, visible_alias = "skip-schema-validation", conflicts_with_all = ["schema", "schema_defaults"], add = key("checks"), hide_short_help = true)]
    no_schema: bool,
    /// Fill in missing values with the defaults of the schema
    #[arg(long, add = key("checks"), hide_short_help = true)]
    schema_defaults: bool,
    /// Read the types of HCL variables, and their defaults and validations, from a file
    ///
    /// `name = TYPE` or `variable "name" { type = TYPE }`; in a .json file
    /// {"name": "TYPE"} or {"name": ["list", "string"]}
    #[arg(long, value_name = "FILE", add = key("checks"), hide_short_help = true)]
    var_types: Option<PathBuf>,
}

impl SchemaArgs {
    /// Returns the first of these options that is given, apart from `--no-schema`, which charts have, too.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        self.schema.is_some().then_some("--schema").or_else(|| self.first_beside_schema())
    }

    /// Returns the first of these options but `--schema` and `--no-schema` that is given.
    pub(crate) fn first_beside_schema(&self) -> Option<&'static str> {
        usage::first(&[("--schema-defaults", self.schema_defaults), ("--var-types", self.var_types.is_some())])
    }

    /// Returns `true` if values are not checked.
    pub(crate) fn is_off(&self) -> bool {
        self.no_schema
    }

    /// Returns the file that `--schema` names.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.schema.as_deref()
    }

    /// Returns the file that declares HCL variables.
    pub(crate) fn var_types(&self) -> Option<&Path> {
        self.var_types.as_deref()
    }

    /// Returns the schemas for values of `templates`.
    pub(crate) fn paths(&self, templates: &[PathBuf]) -> Vec<PathBuf> {
        match &self.schema {
            Some(path) => vec![path.clone()],
            None if self.no_schema => Vec::new(),
            None => beside(templates),
        }
    }

    /// Reads the schemas for values of `templates`.
    ///
    /// # Errors
    /// Errors of reading the files and of [`ValuesSchema::read`]; `usage` for `--schema-defaults` without a schema.
    pub(crate) fn read(&self, templates: &[PathBuf], files: &mut InputFiles) -> Result<Vec<ValuesSchema>> {
        let paths = self.paths(templates);
        if paths.is_empty() && self.schema_defaults {
            let message =
                format!("`--schema-defaults` needs a schema, and there is no `{SCHEMA_FILE}` beside the templates");
            return Err(Diagnostic::new(Code::Usage, message).with_help("name it with `--schema FILE`"));
        }
        let read = |path: &PathBuf| match self.schema {
            Some(_) => files.read(path, "--schema -"),
            None => files.read_regular(path),
        };
        paths.iter().map(read).map(|source| ValuesSchema::read(&source?)).collect()
    }

    /// Adds the schemas for values of `templates` to `layers`.
    ///
    /// # Errors
    /// Errors of [`SchemaArgs::read`] and [`Layers::with_schemas`].
    pub(crate) fn add_to(&self, layers: Layers, templates: &[PathBuf], files: &mut InputFiles) -> Result<Layers> {
        let variables = self.variables(files)?;
        layers.with_schemas(Schemas {
            schemas: self.read(templates, files)?,
            defaults: self.schema_defaults,
            variables,
        })
    }

    /// Reads the declarations of variables.
    ///
    /// # Errors
    /// Errors of reading the file and of [`Variables::read`].
    pub(crate) fn variables(&self, files: &mut InputFiles) -> Result<Option<Variables>> {
        let Some(path) = &self.var_types else { return Ok(None) };
        Variables::read(&files.read(path, "--var-types -")?, &limits()).map(Some).map_err(only)
    }
}

/// Combines the errors into one.
fn only(errors: Diagnostics) -> Box<Diagnostic> {
    joined(errors.into_vec()).unwrap_or_else(|| Diagnostic::new(Code::InputSyntax, "invalid declarations"))
}

/// Returns the schemas in the directories among `templates`, and in those of the files, each once.
fn beside(templates: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in templates.iter().filter(|path| !is_dash(path)) {
        let dir = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let schema = dir.join(SCHEMA_FILE);
        let is_new = || found.iter().all(|known| known.canonicalize().ok() != schema.canonicalize().ok());
        if schema.is_file() && is_new() {
            found.push(schema);
        }
    }
    found
}

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
