//! The answer, for people and programs.

use std::fmt::Write;
use std::sync::Arc;

use dropforge::bulk::values::Step;
use dropforge::bulk::{Cluster, Given, Layers, Origin, RecordedOutput};
use dropforge::engine::recording::{Flow, Why, Within, Writer};
use serde::Serialize;

use super::place::Wanted;

/// Why a line is there.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The file, or nothing for what a command prints.
    file: String,
    line: usize,
    column: usize,
    /// The number of the line now, if the run would write it elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<usize>,
    /// The line.
    text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    cluster: String,
    template: String,
    /// The file is copied as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    copied: bool,
    /// The places that wrote it, the innermost first.
    written: Vec<Place>,
    /// What that ran within, the outermost first.
    within: Vec<Around>,
    inputs: Vec<Input>,
}

/// A place in a template.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    file: String,
    line: u32,
    column: u32,
    /// The expression, or the line of text.
    code: String,
}

/// What a part of a template ran within.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Around {
    Call {
        at: Place,
    },
    Loop {
        at: Place,
        /// The index or key of the item.
        #[serde(skip_serializing_if = "Option::is_none")]
        item: Option<String>,
        inputs: Vec<Input>,
    },
    Condition {
        at: Place,
        holds: bool,
        inputs: Vec<Input>,
    },
}

/// An input and where it comes from.
#[derive(Debug, Serialize)]
pub(super) struct Input {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// A schema marks the value secret, so it is not shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    /// The value is the input itself.
    direct: bool,
    /// What gives it, then what that overrides.
    origins: Vec<String>,
}

/// The values of a cluster.
pub(super) type Values<'v> = (&'v Layers, &'v Cluster);

impl Report {
    /// Returns the answer for byte `at` of a file. `None` if the output does not have it.
    pub(super) fn of(
        recorded: &RecordedOutput,
        values: Values<'_>,
        (wanted, text, at): (&Wanted, &str, usize),
        template: &str,
    ) -> Option<Self> {
        let why = match recorded.is_copied() {
            true => Why::default(),
            false => recorded.why(text, at)?,
        };
        let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let written: Vec<Place> = why.written.iter().map(Place::of).collect();
        // A call that captures what it calls is among the writers.
        let is_told = |at: &Writer| {
            why.written.iter().any(|one| Arc::ptr_eq(&one.source, &at.source) && one.span.start == at.span.start)
        };
        let within = why.within.iter().filter(|within| !matches!(within, Within::Call(at) if is_told(at)));
        let within = within.map(|within| Around::of(within, recorded, values));
        let (within, inputs): (Vec<Around>, Vec<Input>) = (within.collect(), inputs_of(&why.inputs, recorded, values));
        let line = text.get(start..)?.lines().next().unwrap_or("");
        Some(Self {
            file: wanted.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default(),
            line: wanted.line,
            now: Some(text.get(..start)?.lines().count() + 1).filter(|now| *now != wanted.line),
            column: text.get(start..at)?.chars().count() + 1,
            text: if inputs.iter().any(|input: &Input| input.secret) { hidden(line) } else { line.to_owned() },
            cluster: values.1.name().to_owned(),
            template: template.to_owned(),
            copied: recorded.is_copied(),
            written,
            within,
            inputs,
        })
    }

    /// Returns the answer as JSON.
    pub(super) fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the answer as text.
    pub(super) fn text(&self, colors: bool) -> String {
        let mut out = String::new();
        let place = if self.file.is_empty() { String::new() } else { format!("{}:", self.file) };
        let cluster = if self.cluster.is_empty() { String::new() } else { format!(" (cluster `{}`)", self.cluster) };
        let _ = writeln!(out, "{}", bold(&format!("{place}{}:{}{cluster}", self.line, self.column), colors));
        let _ = writeln!(out, "  {}", self.text);
        let caret = " ".repeat(self.column.saturating_sub(1));
        let _ = writeln!(out, "  {caret}^");
        if let Some(now) = self.now {
            let _ = writeln!(out, "{:LABEL$}the run writes it as line {now} now", "");
        }
        if self.copied {
            let _ = writeln!(out, "copied      from {}", self.template);
        }
        for (nth, place) in self.written.iter().enumerate() {
            let label = if nth == 0 { "written by" } else { "passed by" };
            line(&mut out, label, &place.code, &place.shown());
        }
        for around in self.within.iter().rev() {
            around.write(&mut out);
        }
        self.inputs.iter().for_each(|input| input.write(&mut out, "value of"));
        out
    }
}

fn bold(text: &str, colors: bool) -> String {
    if colors { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Returns a line without its value.
fn hidden(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let end = line.find(": ").map_or(indent, |at| at + 2);
    format!("{}…", line.get(..end).unwrap_or(""))
}

/// The width of labels.
const LABEL: usize = 12;

/// Writes a line: what, and where.
fn line(out: &mut String, label: &str, what: &str, place: &str) {
    let _ = writeln!(out, "{label:LABEL$}{what}");
    let _ = writeln!(out, "{:LABEL$}  at {place}", "");
}

impl Place {
    fn of(writer: &Writer) -> Self {
        let position = writer.source.position(writer.span.start);
        let code = writer.source.slice(writer.span).split_whitespace().collect::<Vec<_>>().join(" ");
        Self { file: writer.source.path().into_owned(), line: position.line, column: position.column, code }
    }

    fn shown(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Returns inputs with where they come from.
fn inputs_of(flows: &[Flow], recorded: &RecordedOutput, values: Values<'_>) -> Vec<Input> {
    flows.iter().map(|flow| Input::of(recorded, values, flow)).collect()
}

impl Around {
    pub(super) fn of(within: &Within, recorded: &RecordedOutput, values: Values<'_>) -> Self {
        match within {
            Within::Call(at) => Self::Call { at: Place::of(at) },
            Within::Turn { at, step, inputs } => {
                let item = step.as_ref().map(|step| Step::joined(std::slice::from_ref(step)));
                Self::Loop { at: Place::of(at), item, inputs: inputs_of(inputs, recorded, values) }
            }
            Within::Branch { at, holds, inputs } => {
                Self::Condition { at: Place::of(at), holds: *holds, inputs: inputs_of(inputs, recorded, values) }
            }
        }
    }

    /// Returns what happened in one line.
    pub(super) fn summary(&self) -> String {
        let (what, at, inputs) = match self {
            Self::Call { at } => (format!("call {}", at.code), at, &[][..]),
            Self::Loop { at, item, inputs } => {
                (format!("loop {}, item {}", at.code, item.as_deref().unwrap_or("?")), at, inputs.as_slice())
            }
            Self::Condition { at, holds, inputs } => (format!("{} is {holds}", at.code), at, inputs.as_slice()),
        };
        let inputs: Vec<String> = inputs.iter().map(Input::summary).collect();
        let inputs = if inputs.is_empty() { String::new() } else { format!(": {}", inputs.join(", ")) };
        format!("{} {what}{inputs}", at.shown())
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Call { at } => line(out, "called by", &at.code, &at.shown()),
            Self::Loop { at, item, inputs } => {
                let item = item.as_ref().map(|item| format!(", item {item}")).unwrap_or_default();
                line(out, "in the loop", &format!("{}{item}", at.code), &at.shown());
                inputs.iter().for_each(|input| input.write(out, ""));
            }
            Self::Condition { at, holds, inputs } => {
                line(out, "because", &format!("{} is {holds}", at.code), &at.shown());
                inputs.iter().for_each(|input| input.write(out, ""));
            }
        }
    }
}

impl Input {
    fn of(recorded: &RecordedOutput, (layers, cluster): Values<'_>, flow: &Flow) -> Self {
        let Given { path, origins, default, is_secret } = recorded.given(layers, Some(cluster), flow);
        let origins = origins.iter().map(Origin::to_string).chain(default).collect();
        let value = flow.value.clone().filter(|_| !is_secret);
        Self { path, value, secret: is_secret, direct: flow.is_direct, origins }
    }

    /// Returns the path and the value.
    fn summary(&self) -> String {
        match &self.value {
            _ if self.secret => format!("{}, which the schema marks secret", self.path),
            Some(value) => format!("{} = {value}", self.path),
            None => self.path.clone(),
        }
    }

    fn write(&self, out: &mut String, label: &str) {
        let label = if self.direct || label.is_empty() { label } else { "made from" };
        let _ = writeln!(out, "{label:LABEL$}{}", self.summary());
        for (nth, origin) in self.origins.iter().enumerate() {
            let word = if nth == 0 { "from" } else { "over" };
            let _ = writeln!(out, "{:LABEL$}  {word} {origin}", "");
        }
    }
}
