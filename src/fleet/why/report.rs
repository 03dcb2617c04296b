//! The answer, for people and programs.

use std::fmt::Write;
use std::sync::Arc;

use crate::origins::Origin;
use crate::values::Step;
use dropforge_base::mask::{HIDDEN, Mask};
use dropforge_base::text::one_line;
use dropforge_engine::recording::{Flow, Why, Within, Writer};
use serde::{Deserialize, Serialize};

/// The values that an input was read from.
#[derive(Debug, Clone)]
pub struct Given {
    /// The path as the values have it.
    pub path: String,
    /// What gives the value, and then what that overrides.
    pub origins: Vec<Origin>,
    /// The file and line of a default, or the schema that has it.
    pub default: Option<String>,
    /// A schema marks the value secret.
    pub is_secret: bool,
}

impl Given {
    /// Returns what is known of a secret that took an unknown way.
    pub fn secret() -> Self {
        Self { path: String::new(), origins: Vec::new(), default: None, is_secret: true }
    }
}

/// Why a line is there. The JSON of it has no fields that are empty or `false`, except those that every answer has.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Answer {
    /// The file. Empty for what a command prints.
    pub file: String,
    /// The number of the line.
    pub line: usize,
    /// The number of the column.
    pub column: usize,
    /// The number of the line now, if the run would write it elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<usize>,
    /// `true` if the run would write the line differently now: with another value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// The line that the run writes, with `…` in place of what was made from secrets.
    pub text: String,
    /// The name of the cluster.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cluster: String,
    /// The name of the template.
    pub template: String,
    /// `true` if the file is copied as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
    /// The template whose document follows, if the line is the `---` or the comment that a chart's documents begin with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heads: String,
    /// The places that wrote it, the innermost first.
    pub written: Vec<CodePlace>,
    /// What that ran within, the outermost first.
    pub within: Vec<Around>,
    /// The inputs that flowed into it.
    pub inputs: Vec<AnswerInput>,
    /// The inputs that are templates themselves, of which the places have no file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<AnswerInput>,
}

/// A place in a template.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CodePlace {
    /// The file.
    pub file: String,
    /// The number of the line.
    pub line: u32,
    /// The number of the column.
    pub column: u32,
    /// The expression, or the line of text.
    pub code: String,
}

/// What a part of a template ran within.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Around {
    /// A call of a macro, a block, an include or a named template.
    Call {
        /// The call.
        at: CodePlace,
    },
    /// An iteration of a loop.
    Loop {
        /// What it loops over.
        at: CodePlace,
        /// The index or key of the item.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<String>,
        /// The inputs that the item comes from.
        inputs: Vec<AnswerInput>,
    },
    /// A branch that was taken.
    Condition {
        /// The condition.
        at: CodePlace,
        /// The outcome.
        holds: bool,
        /// The inputs that decided.
        inputs: Vec<AnswerInput>,
    },
}

/// An input and where it comes from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerInput {
    /// The path, as the template reads it. Empty for all inputs, any of which may have flowed into a value with many.
    pub path: String,
    /// The value as JSON, or the beginning of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// `true` if a schema marks the value secret, so that it is not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// `true` if the value is the input itself. Otherwise it was computed from it.
    pub direct: bool,
    /// What gives it, then what that overrides.
    pub origins: Vec<String>,
}

/// What is asked about a place in an output.
#[derive(Debug, Default)]
pub struct Question<'q> {
    /// The name of the file. Empty for what a command prints.
    pub file: String,
    /// The number of the line.
    pub line: usize,
    /// The line in the file, if it is known.
    pub text: &'q str,
    /// `false` to ask about the first value after the byte that is asked about, in the same line.
    pub has_column: bool,
    /// The name of the cluster, or nothing.
    pub cluster: &'q str,
    /// The name of the template.
    pub template: &'q str,
}

/// Returns what gives an input.
pub type GivenOf<'g> = &'g dyn Fn(&Flow) -> Given;

impl Answer {
    /// Returns the answer for byte `at` of the text of a file, without the line. Without a reason, the file is a copy.
    pub fn of(
        why: Option<&Why>,
        question: &Question<'_>,
        (text, at): (&str, usize),
        given: GivenOf<'_>,
    ) -> Option<Self> {
        let nothing = Why::default();
        let (why, copied) = (why.unwrap_or(&nothing), why.is_none());
        let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let line = text.get(start..)?.lines().next().unwrap_or("");
        // A call that captures what it calls is among the writers.
        let is_told = |at: &Writer| {
            why.written.iter().any(|one| Arc::ptr_eq(&one.source, &at.source) && one.span.start == at.span.start)
        };
        let within = why.within.iter().filter(|within| !matches!(within, Within::Call(at) if is_told(at)));
        Some(Self {
            file: question.file.clone(),
            line: question.line,
            column: text.get(start..at)?.chars().count() + 1,
            now: Some(text.get(..start)?.lines().count() + 1).filter(|now| *now != question.line),
            changed: !question.text.is_empty() && question.text.trim_end() != line.trim_end(),
            text: String::new(),
            cluster: question.cluster.to_owned(),
            template: question.template.to_owned(),
            copied,
            heads: String::new(),
            written: why.written.iter().map(CodePlace::of).collect(),
            within: within.map(|within| Around::of(within, given)).collect(),
            inputs: inputs_of(&why.inputs, given),
            texts: inputs_of(&why.texts, given).into_iter().map(AnswerInput::without_value).collect(),
        })
    }

    /// Replaces secrets that are still in the texts, such as a part of a literal of the template.
    #[must_use]
    pub fn without(mut self, mask: &Mask) -> Self {
        mask.hide(&mut self.text);
        self.written.iter_mut().for_each(|at| mask.hide(&mut at.code));
        self.within.iter_mut().for_each(|around| around.hide(mask));
        self.inputs.iter_mut().chain(&mut self.texts).for_each(|input| input.hide(mask));
        self
    }

    /// Replaces the name of a file of templates.
    #[must_use]
    pub fn with_file_renamed(mut self, from: &str, to: &str) -> Self {
        let within = self.within.iter_mut().map(Around::at_mut);
        self.written.iter_mut().chain(within).filter(|at| at.file == from).for_each(|at| to.clone_into(&mut at.file));
        self
    }

    /// Returns the answer as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the answer as text.
    pub fn text(&self, colors: bool) -> String {
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
        if self.changed {
            let _ = writeln!(out, "{:LABEL$}the run writes it like this now", "");
        }
        if self.copied {
            let _ = writeln!(out, "copied      from {}", self.template);
        }
        if !self.heads.is_empty() {
            let _ = writeln!(out, "begins      a document of {}", self.heads);
        }
        for (nth, place) in self.written.iter().enumerate() {
            let label = if nth == 0 { "written by" } else { "passed by" };
            line(&mut out, label, &place.code, &place.shown());
        }
        self.texts.iter().for_each(|text| text.write(&mut out, "text of"));
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

/// The width of labels.
const LABEL: usize = 12;

/// Writes a line: what, and where.
fn line(out: &mut String, label: &str, what: &str, place: &str) {
    let _ = writeln!(out, "{label:LABEL$}{what}");
    let _ = writeln!(out, "{:LABEL$}  at {place}", "");
}

impl CodePlace {
    fn of(writer: &Writer) -> Self {
        let position = writer.source.position(writer.span.start);
        let behind = || writer.source.text().get(writer.span.start as usize..).and_then(|text| text.lines().next());
        // A map of a document begins at a place without text of its own.
        let code = match writer.source.slice(writer.span) {
            "" => behind().unwrap_or(""),
            code => code,
        };
        let code = one_line(code, usize::MAX);
        Self { file: writer.source.path().to_owned(), line: position.line, column: position.column, code }
    }

    fn shown(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Returns inputs with where they come from.
fn inputs_of(flows: &[Flow], given: GivenOf<'_>) -> Vec<AnswerInput> {
    let known = flows.iter().map(|flow| (flow.is_put, AnswerInput::of(flow, given)));
    // What was put into a map may have been put into another one, which matters only for secrets.
    let known: Vec<_> = known.filter(|(is_put, input)| !is_put || input.secret).collect();
    // Then the value of a path into the map may be what was made from a secret.
    let is_put = known.iter().any(|(is_put, _)| *is_put);
    let shown = |input: AnswerInput| if is_put { input.without_value() } else { input };
    let mut inputs: Vec<AnswerInput> = known.into_iter().map(|(_, input)| shown(input)).collect();
    // A secret with a name is likely that one.
    if inputs.iter().any(|input| input.secret && !input.path.is_empty()) {
        inputs.retain(|input| !input.secret || !input.path.is_empty());
    }
    inputs
}

impl Around {
    /// Returns the account of something that a part of a template ran within.
    pub fn of(within: &Within, given: GivenOf<'_>) -> Self {
        match within {
            Within::Call(at) => Self::Call { at: CodePlace::of(at) },
            Within::Turn { at, step, inputs } => {
                let inputs = inputs_of(inputs, given);
                // The keys of a secret map are secret, too.
                let step = step.as_ref().filter(|_| !inputs.iter().any(|input| input.secret));
                let item = step.map(|step| Step::joined(std::slice::from_ref(step)));
                Self::Loop { at: CodePlace::of(at), item, inputs }
            }
            Within::Branch { at, holds, inputs } => {
                let (mut at, inputs) = (CodePlace::of(at), inputs_of(inputs, given));
                if inputs.iter().any(|input| input.secret) {
                    at.code = hidden(&at.code);
                }
                Self::Condition { at, holds: *holds, inputs }
            }
        }
    }

    /// Replaces secrets that are still in the texts.
    pub fn hide(&mut self, mask: &Mask) {
        mask.hide(&mut self.at_mut().code);
        if let Self::Loop { item: Some(item), .. } = self {
            mask.hide(item);
        }
        match self {
            Self::Call { .. } => {}
            Self::Loop { inputs, .. } | Self::Condition { inputs, .. } => {
                inputs.iter_mut().for_each(|input| input.hide(mask));
            }
        }
    }

    /// Returns what happened in one line, as `dropforge trace` prints it.
    pub fn summary(&self) -> String {
        let (what, at, inputs) = match self {
            Self::Call { at } => (format!("call {}", at.code), at, &[][..]),
            Self::Loop { at, item, inputs } => {
                (format!("loop {}, item {}", at.code, item.as_deref().unwrap_or("?")), at, inputs.as_slice())
            }
            Self::Condition { at, holds, inputs } => (format!("{} is {holds}", at.code), at, inputs.as_slice()),
        };
        let inputs: Vec<String> = inputs.iter().map(AnswerInput::summary).collect();
        let inputs = if inputs.is_empty() { String::new() } else { format!(": {}", inputs.join(", ")) };
        format!("{} {what}{inputs}", at.shown())
    }

    fn at_mut(&mut self) -> &mut CodePlace {
        let (Self::Call { at } | Self::Loop { at, .. } | Self::Condition { at, .. }) = self;
        at
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

impl AnswerInput {
    fn of(flow: &Flow, given: GivenOf<'_>) -> Self {
        let Given { path, origins, default, is_secret } = given(flow);
        let origins = origins.iter().map(Origin::to_string).chain(default).collect();
        let value = flow.value.as_ref().filter(|_| !is_secret).map(|value| value.trim_matches('`').to_owned());
        Self { path, value, secret: is_secret, direct: flow.is_direct, origins }
    }

    fn hide(&mut self, mask: &Mask) {
        let Self { path, value, origins, .. } = self;
        value.iter_mut().chain(origins).chain([path]).for_each(|text| mask.hide(text));
    }

    fn without_value(self) -> Self {
        Self { value: None, ..self }
    }

    /// Returns the path and the value.
    fn summary(&self) -> String {
        match &self.value {
            _ if self.path.is_empty() && self.secret => "a value that the schema marks secret".to_owned(),
            _ if self.path.is_empty() => "further inputs".to_owned(),
            _ if self.secret => format!("{}, which the schema marks secret", self.path),
            Some(value) => format!("{} = `{value}`", self.path),
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

/// Returns code with `…` in place of quoted strings and numbers.
pub(super) fn hidden(code: &str) -> String {
    let (mut out, mut rest) = (String::new(), code);
    while let Some(first) = rest.chars().next() {
        let is_within = out.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | '.' | '[' | '$'));
        let len = match first {
            '"' | '\'' | '`' => quoted(rest, first),
            '0'..='9' if !is_within => {
                rest.find(|next: char| !next.is_alphanumeric() && !matches!(next, '_' | '.')).unwrap_or(rest.len())
            }
            _ => {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or("");
                continue;
            }
        };
        out.push_str(HIDDEN);
        rest = rest.get(len..).unwrap_or("");
    }
    out
}

/// Returns the length of the string at the start of `text`, with its quotes. One that does not end has the whole text.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    let end = text.char_indices().find(|(_, next)| {
        let ends = *next == quote && !is_escaped;
        is_escaped = !is_escaped && *next == '\\';
        ends
    });
    end.map_or(text.len(), |(at, _)| at + quote.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn strings_and_numbers_are_hidden_but_not_names_and_indexes() {
        for (code, expected) in [
            ("db.password == \"hunter2\"", "db.password == …"),
            (r#"eq .db.pin "a\"b" `c\`"#, "eq .db.pin … …"),
            ("x1.y2[0] > 12.5e3 and a.0 != 'é'", "x1.y2[0] > … and a.0 != …"),
            ("\"ab", "…"),
            ("", ""),
        ] {
            assert_eq!(hidden(code), expected);
        }
    }
}
