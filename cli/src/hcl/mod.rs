//! `dropforge hcl`: decoding and formatting of HCL files, and the types that modules declare for variables.

mod decode;
mod fmt;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub(crate) use fmt::is_configuration;

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::stderr::Stderr;
use clap::Subcommand;
use dropforge::dialect::hcl::check::{VariableTypes, is_module};
use dropforge::limits::Limits;
use dropforge::text::Source;

/// Commands on HCL files.
#[derive(Debug, Subcommand)]
pub(crate) enum HclCommand {
    Decode(decode::DecodeArgs),
    Fmt(fmt::FmtArgs),
}

/// Runs the command.
pub(crate) fn run(command: &HclCommand, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    match command {
        HclCommand::Decode(args) => decode::run(args, files, stderr),
        HclCommand::Fmt(args) => fmt::run(args, files, stderr),
    }
}

/// The types of the variables of configurations.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    given: Option<VariableTypes>,
    /// The types for the files of a module, by its folder below the root.
    modules: BTreeMap<String, VariableTypes>,
}

impl Declared {
    /// Adds the variables that all files of each module declare to those that are given. Other files of the modules are read
    /// from their folders, below the root of the configurations and its path from here.
    pub(crate) fn of(
        configurations: &[Arc<Source>],
        (root, from_here): (&Path, Option<Arc<str>>),
        given: Option<&VariableTypes>,
        (inputs, limits): (&mut InputFiles, &Limits),
    ) -> Self {
        let mut folders: BTreeMap<&str, BTreeMap<&str, &Arc<Source>>> = BTreeMap::new();
        for source in configurations.iter().filter(|source| is_module(source.name())) {
            let (folder, name) = in_folder(source.name());
            folders.entry(folder).or_default().insert(name, source);
        }
        let mut modules = BTreeMap::new();
        for (folder, known) in folders {
            let (mut types, mut is_whole) = (given.cloned().unwrap_or_default(), true);
            known.values().for_each(|source| is_whole &= types.add_blocks(source, limits));
            for name in files_of(&root.join(folder)).iter().filter(|name| !known.contains_key(name.as_str())) {
                let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                let source = inputs.read_below(from_here.clone(), &path);
                is_whole &= source.is_ok_and(|source| types.add_blocks(&source, limits));
            }
            // Without any blocks, the rest of the module may be elsewhere.
            if given.is_some() || (is_whole && types.names().next().is_some()) {
                modules.insert(folder.to_owned(), types);
            }
        }
        Self { given: given.cloned(), modules }
    }

    /// Returns the types of the variables of a file below the root. Without them, every variable exists and has any type.
    pub(crate) fn of_file(&self, name: &str) -> Option<&VariableTypes> {
        let module = self.modules.get(in_folder(name).0).filter(|_| is_module(name));
        module.or(self.given.as_ref())
    }
}

/// Splits the name of a file into those of its folder and itself.
fn in_folder(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

/// Returns the names of the files of a module. Hidden files and those of editors are none, as in Terraform.
fn files_of(folder: &Path) -> Vec<String> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_module(name) && !name.starts_with(['.', '#'])).collect();
    names.sort_unstable();
    names
}
