//! The outputs of a run: which templates and files make them.

use std::path::{Path, PathBuf};

use crate::copies::{Copies, NamedFiles};
use crate::exit::Failed;
use crate::input::InputFiles;
use crate::options::LanguageArgs;
use crate::project::key;
use crate::run::{ReadSet, RunArgs};
use crate::stderr::Stderr;
use crate::{artifacts, compile, glob, usage};
use clap::Args;
use dropforge::bulk::{self, Options, Order, Specialise, TemplateFile, TemplatePaths, TemplateSet, Templates};
use dropforge::diagnostics::Result;
use dropforge::engine::Artifact;
use dropforge::stdlib::globs::Glob;

/// Options of commands that write many outputs.
#[derive(Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// Write YAML and JSON even if it is not valid
    ///
    /// The checks are of files named `*.yaml`, `*.yml` and `*.json`.
    #[arg(long, help_heading = "Checks", conflicts_with = "kube_schemas", add = key("output"))]
    pub(crate) no_check_output: bool,
    /// Do not check files whose paths below the output directory match: `**/*.tpl.yaml`
    #[arg(long, help_heading = "Checks", value_name = "GLOB", value_parser = glob::parse, add = key("output"), hide_short_help = true)]
    pub(crate) unchecked: Vec<Glob>,
    /// Copy files beside templates as they are: a glob, or `none` [default: *.yaml, *.yml and *.json of folders]
    ///
    /// A glob with a `/` matches paths below the folder, one without matches names.
    /// Files that other options name, `values*.yaml`, `*.schema.json`, `*.test.yaml`,
    /// `dropforge.toml`, `Chart.yaml`, and names that begin with `_` or `.` are
    /// never copied.
    #[arg(long, value_name = "GLOB", add = key("output"), hide_short_help = true)]
    pub(crate) copy: Vec<String>,
    /// Write files for templates that render nothing but white space
    #[arg(long, add = key("output"), hide_short_help = true)]
    pub(crate) keep_empty: bool,
    /// Sort the documents of a stream by kind as Helm installs them (install), or not (none) [default: install]
    #[arg(long, value_name = "ORDER", add = key("output"), hide_short_help = true)]
    pub(crate) order: Option<Order>,
    /// Overwrite files that dropforge did not write
    ///
    /// Those that it wrote for another project are overwritten, too.
    #[arg(long)]
    pub(crate) force: bool,
    /// Own the outputs under this name, so that the project may move [default: its path in the repository]
    ///
    /// A run neither overwrites nor prunes the files of other projects in the same
    /// output directory.
    #[arg(long, value_name = "ID", add = key("").named("id"), hide_short_help = true)]
    pub(crate) project_id: Option<String>,
}

impl OutputArgs {
    /// Returns the first of these options that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        usage::first(&[
            ("--no-check-output", self.no_check_output),
            ("--unchecked", !self.unchecked.is_empty()),
            ("--copy", !self.copy.is_empty()),
            ("--keep-empty", self.keep_empty),
            ("--order", self.order.is_some()),
            ("--force", self.force),
        ])
    }

    /// Returns the options of a run.
    pub(crate) fn options(&self) -> Options {
        Options {
            check_outputs: !self.no_check_output,
            unchecked: self.unchecked.clone(),
            keep_empty: self.keep_empty,
            order: self.order.unwrap_or(Order::Install),
            force: self.force,
            ..Options::default()
        }
    }
}

/// Options of outputs in object stores, and of packs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Object stores and packs")]
pub(crate) struct StoreArgs {
    /// Write packs of many outputs, as `tar.zst` or `parquet`, instead of a file or object for each output
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    pub(crate) pack: Option<String>,
    /// Take the lock of the prefix from a run that is dead
    #[arg(long, hide_short_help = true)]
    pub(crate) break_lock: bool,
    /// Write to an object store without a lock: no other run may write there
    #[arg(long, conflicts_with = "break_lock", hide_short_help = true)]
    pub(crate) no_lock: bool,
}

impl StoreArgs {
    /// Returns the first given option.
    pub(crate) fn given(&self) -> Option<&'static str> {
        usage::first(&[("--pack", self.pack.is_some()), ("--break-lock", self.break_lock), ("--no-lock", self.no_lock)])
    }
}

impl RunArgs<'_> {
    /// Loads the templates from sources and artifacts, and the files to copy.
    pub(crate) fn templates(&self, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<ReadSet, Failed> {
        self.templates_of(self.paths, self.language, files, stderr)
    }

    /// Works like [`RunArgs::templates`], for other paths and options.
    ///
    /// # Errors
    /// Errors of reading and compiling.
    pub(crate) fn templates_of(
        &self,
        given: &[PathBuf],
        language: &LanguageArgs,
        files: &mut InputFiles,
        stderr: &Stderr,
    ) -> std::result::Result<ReadSet, Failed> {
        let fleets = self.fleet.map_or(&[][..], |fleet| &fleet.fleet);
        let named = NamedFiles::new(self.values, self.output).with_fleets(fleets)?.with(self.schema.file());
        let (artifacts, sources) = artifacts::split(given);
        let (mut templates, mut found, mut copies) = (Templates::default(), Vec::new(), Vec::new());
        let mut paths = TemplatePaths::default();
        for path in &artifacts {
            let artifact = artifacts::read(path, language, self.values.allow.grant(language.engine())?, files)?;
            templates.add(Templates::of_artifact(&artifact)?)?;
            add_artifact(&mut paths, files, path, &artifact);
            found.extend(artifacts::files(&artifact));
        }
        if !sources.is_empty() {
            let set = language.discover(&sources, &named)?;
            stderr.diagnostics(set.skipped.warnings());
            files.note_templates(&set);
            let engine = compile::with_cache(self.values.allow.grant(language.engine())?, self.cache);
            let (compiled, errors) = Templates::compile_logged(&set, language.lang, engine, files.log())?;
            if !errors.is_empty() {
                return Err(errors.into());
            }
            stderr.ignored_arguments(compiled.lints());
            templates.add(compiled)?;
            copies = self.copies((&set, &named), &sources, &templates, files, stderr)?;
            let copied = copies.iter().map(|(file, _)| file.name.as_str());
            add_sources(&mut paths, files, &sources, &set, copied);
            found.extend(set.files);
        }
        templates.iter().for_each(|template| compile::print_origin(template, stderr));
        let mut names = bulk::outputs(&found, &mut |name| templates.references(name))?;
        if let Some(format) = self.format {
            templates = templates.with_format(format);
        }
        for (TemplateFile { name, executable, .. }, bytes) in copies {
            names.push(name.clone());
            templates.add_file(name, bytes, executable);
        }
        let is_general = self.options.specialise == Specialise::Never;
        let templates = if is_general { templates.general() } else { templates };
        let outputs = templates.outputs(names, self.format, self.target.is_single())?;
        Ok((Box::new(templates), outputs, paths))
    }

    /// Reads the files beside the templates of `set` that are copied.
    fn copies(
        &self,
        (set, named): (&TemplateSet, &NamedFiles),
        paths: &[PathBuf],
        templates: &Templates,
        files: &mut InputFiles,
        stderr: &Stderr,
    ) -> Result<Vec<(TemplateFile, Vec<u8>)>> {
        let used = templates.iter().flat_map(|template| template.reaches().iter().cloned()).collect();
        let folders = paths.iter().filter(|path| path.is_dir()).cloned().collect();
        Copies { globs: &self.outputs.copy, folders, set, used, named }.read(files, stderr)
    }
}

/// Adds the templates of `set`, which were found in the files and directories `given`, and the files beside them that are
/// copied.
pub(crate) fn add_sources<'c>(
    paths: &mut TemplatePaths,
    files: &InputFiles,
    given: &[PathBuf],
    set: &'c TemplateSet,
    copied: impl Iterator<Item = &'c str>,
) {
    given.iter().for_each(|path| paths.give(files.path_from_here(path)));
    let names = set.files.iter().map(|file| file.name.as_str()).chain(copied);
    names.for_each(|name| paths.add(name, files.path_from_here(&set.root.join(name))));
}

/// Adds the templates of the artifact at `path`, as if it were a directory.
pub(crate) fn add_artifact(paths: &mut TemplatePaths, files: &InputFiles, path: &Path, artifact: &Artifact) {
    let path = files.path_from_here(path);
    artifact.names().for_each(|name| paths.add(name, format!("{path}/{name}")));
    paths.give(path);
}
