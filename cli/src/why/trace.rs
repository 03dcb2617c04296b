//! `dropforge trace`: the conditions, loops and calls of a render, with their values.

use std::fmt::Write;

use clap::{ArgMatches, Args, FromArgMatches};

use dropforge::bulk::why::{Around, RecordedOutput};
use dropforge::engine::recording::TraceRow;
use serde::Serialize;

use super::{Subject, Values, each_recorded};
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::output::print;
use crate::render::RenderArgs;
use crate::stderr::Stderr;

/// Maximum number of conditions, loops and calls of an output.
const ROWS: usize = 20_000;

/// Print the conditions, loops and calls of a render
///
///     dropforge trace app.yaml.tera -f values.yaml
///     dropforge trace chart/ -f prod.yaml --all
///     dropforge trace app.yaml.tera -f values.yaml --step
///
/// It takes the templates and options of `render`. A render that fails is traced
/// up to its error. Iterations of a loop that go the same way as the one before are
/// counted, unless `--all` is given.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
struct Own {
    /// Print every iteration of a loop
    #[arg(long)]
    all: bool,
    /// Print each instruction with what it pushes, writes or tests
    #[arg(long, conflicts_with = "all")]
    step: bool,
    /// Print a JSON object per line for each condition, turn and call
    #[arg(long, conflicts_with = "step")]
    json: bool,
}

/// The arguments of the command: its own, and those of `render`.
#[derive(Debug)]
pub(crate) struct TraceArgs {
    own: Own,
    pub(crate) render: RenderArgs,
}

impl Args for TraceArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        // The documentation of the last one is that of the command. Its options are not under the last heading of `render`.
        Own::augment_args(RenderArgs::augment_args(command).next_help_heading(None::<&'static str>))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TraceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { own: Own::from_arg_matches(matches)?, render: RenderArgs::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Maximum number of levels by which a row is indented. Chains of `else if` nest as deep as they are long.
const INDENTED: usize = 50;

/// A row of a trace as JSON.
#[derive(Serialize)]
struct Row {
    output: String,
    depth: usize,
    #[serde(flatten)]
    what: Around,
    times: usize,
}

/// Runs the command.
pub(crate) fn run(args: TraceArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let TraceArgs { own, render } = args;
    let run = Subject::Render(Box::new(render)).read(files, stderr)?;
    let (mut text, mut errors) = (String::new(), Vec::new());
    each_recorded(&run, &mut |name, recorded, values| {
        own.write(name, recorded, values, &mut text);
        errors.extend(recorded.error.clone());
    })?;
    print(text)?;
    if errors.is_empty() { Ok(Exit::Ok) } else { Err(errors.into()) }
}

impl Own {
    fn write(&self, name: &str, recorded: &RecordedOutput, (layers, cluster): Values<'_>, out: &mut String) {
        let Some(recording) = recorded.recording() else { return };
        if !self.json {
            let _ = writeln!(out, "{name}");
        }
        let given = recorded.givens(layers, Some(cluster));
        if self.step {
            recording.steps(&|flow| given(flow).is_secret, &mut |at, text, shown| {
                let shown = shown.map(|shown| format!("  ; {shown}")).unwrap_or_default();
                let _ = writeln!(out, "{at:>5}  {text}{shown}");
            });
            return;
        }
        let (rows, are_all) = recording.trace(!self.all, ROWS);
        for TraceRow { depth, what, times } in rows {
            let mut what = Around::of(&what, &given);
            what.hide(recording.mask());
            if self.json {
                let row = Row { output: name.to_owned(), depth, what, times };
                let _ = writeln!(out, "{}", serde_json::to_string(&row).unwrap_or_default());
            } else {
                let more =
                    if times > 1 { format!(", and {} more that went the same way", times - 1) } else { String::new() };
                let _ = writeln!(out, "{:indent$}{}{more}", "", what.summary(), indent = 2 + 2 * depth.min(INDENTED));
            }
        }
        if !are_all && !self.json {
            let _ = writeln!(out, "  … the run goes on, which is too long to be shown");
        }
    }
}
