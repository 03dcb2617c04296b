//! The command `dropforge`.
//!
//! | module | content |
//! |---|---|
//! | `command` | the command line: all commands, and how they run |
//! | `stamp`, `render`, `values`, `check`, `template_tests`, `compile`, `inspect`, `eval`, `interactive`, `functions`, `intent`, `hcl`, `catalog`, `serve`, `krm`, `init`, `why`, `explain`, `help`, `version` | a command each, with its arguments |
//! | `deps` | charts of repositories and registries, and their locks |
//! | `locked_charts` | charts of repositories in releases: the lock and the cache |
//! | `lsp` | the language server |
//! | `remote` | object stores and registries: inputs and outputs by URL, packs |
//! | `push` | artifacts in registries: `push` and `pull` |
//! | `project` | the project file, put into the command line |
//! | `run` | one run of `stamp` or `render`, from reading to the exit code |
//! | `chart` | `render` and `check` of a Helm chart |
//! | `options`, `fleet`, `outputs`, `stores`, `schema`, `run_options`, `specialise`, `duration` | arguments shared by several commands |
//! | `copies` | files beside templates |
//! | `watch` | stamping again after changes |
//! | `shards` | several processes that stamp one fleet |
//! | `changes` | existing files: what changes, and which templates made them |
//! | `input`, `layers`, `glob`, `artifacts` | input files, values, fleets, artifacts, the cache |
//! | `missing` | names that nothing gives, values that no template reads |
//! | `other_tools` | hints for users of Terraform and other tools |
//! | `output`, `stderr`, `summary` | standard output, standard error, errors for other tools |
//! | `keywords` | tags, directives and objects of the languages, for `help` and `lsp` |
//! | `absent` | commands that need a feature of the build |
//! | `exit`, `usage` | exit codes, interrupts, errors of the command line |
//!
//! Results go to standard output, everything else to standard error. `-` is standard input or output. Errors are printed
//! for people or as JSON lines.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

#[macro_use]
mod absent;
mod artifacts;
#[cfg(feature = "catalog")]
mod catalog;
mod changes;
mod chart;
mod check;
mod command;
mod compile;
mod copies;
#[cfg(feature = "remote")]
mod deps;
#[cfg(feature = "catalog")]
mod duration;
mod eval;
mod exit;
mod explain;
mod fleet;
mod functions;
mod glob;
mod hcl;
mod help;
mod init;
mod input;
mod inspect;
mod intent;
#[cfg(feature = "console")]
mod interactive;
mod keywords;
mod krm;
mod layers;
mod locked_charts;
#[cfg(feature = "lsp")]
mod lsp;
mod missing;
mod options;
mod other_tools;
mod output;
mod outputs;
mod project;
#[cfg(feature = "remote")]
mod push;
mod releases;
#[cfg_attr(not(feature = "remote"), path = "no_remote.rs")]
mod remote;
mod render;
mod run;
mod run_options;
mod schema;
#[cfg(feature = "catalog")]
mod serve;
mod shards;
mod specialise;
mod stamp;
mod stderr;
mod summary;
mod template_tests;
mod usage;
mod values;
mod version;
mod watch;
mod why;

pub use command::{definition, main, run_with};

absent!(catalog { CatalogArgs, run; }, "catalog", "catalog");
absent!(serve { ServeArgs, run; }, "catalog", "catalog");
absent!(lsp { LspArgs, run; }, "lsp", "language server");
absent!(push { PushArgs, run; PullArgs, pull; }, "remote", "object stores and registries");
absent!(deps { DepsArgs, run; }, "remote", "repositories of charts");
absent!(interactive { ConsoleArgs, run; }, "console", "console");
