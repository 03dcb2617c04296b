//! What one compilation or one render may use up. Every limit has a default and its own error code.

use std::time::Duration;

use crate::diagnostics::{Code, Diagnostic};

/// Bounds of one compilation and one render.
///
/// ```
/// use dropforge::limits::Limits;
/// let limits = Limits { output_bytes: 1 << 20, ..Limits::default() };
/// assert!(limits.fuel > 1_000_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one source file.
    pub source_bytes: usize,
    /// Nesting of syntax: brackets, blocks, tags.
    pub nesting: usize,
    /// Nesting of values: lists in lists, maps in maps.
    pub value_depth: usize,
    /// Steps: loop turns, calls, elements visited, and a share of the bytes made.
    pub fuel: u64,
    /// What an evaluation may cost in the terms of its language, where it was compiled to be metered; without a bound
    /// unless set.
    pub cost: u64,
    /// How long one render may take; without a bound unless set. It is looked at whenever so many steps are spent that
    /// looking costs nothing beside them, and so it is passed by a few milliseconds.
    pub time: Option<Duration>,
    /// Bytes of strings, lists and maps made while rendering.
    pub memory: u64,
    /// Bytes of rendered text.
    pub output_bytes: usize,
    /// Calls within calls: macros, includes, parents.
    pub call_depth: usize,
    /// Templates that one template may reach, itself included.
    pub templates: usize,
    /// Words of bytecode of one program.
    pub code_words: usize,
    /// Bytes of a regular expression's source.
    pub regex_bytes: usize,
    /// Errors reported for one file before the rest is left out.
    pub diagnostics: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source_bytes: 4 << 20,
            nesting: 128,
            value_depth: 128,
            fuel: 100_000_000,
            cost: u64::MAX,
            time: None,
            memory: 256 << 20,
            output_bytes: 64 << 20,
            call_depth: 200,
            templates: 10_000,
            code_words: 4 << 20,
            regex_bytes: 4 << 10,
            diagnostics: 100,
        }
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::source_bytes`]
    SourceBytes,
    /// [`Limits::nesting`]
    Nesting,
    /// [`Limits::value_depth`]
    ValueDepth,
    /// [`Limits::fuel`]
    Fuel,
    /// [`Limits::cost`]
    Cost,
    /// [`Limits::time`]
    Time,
    /// [`Limits::memory`]
    Memory,
    /// [`Limits::output_bytes`]
    OutputBytes,
    /// [`Limits::call_depth`]
    CallDepth,
    /// [`Limits::templates`]
    Templates,
    /// [`Limits::code_words`]
    CodeWords,
    /// [`Limits::regex_bytes`]
    Regex,
}

impl Limit {
    /// The error of having reached this limit; `allowed` is the limit's value.
    pub fn error(self, allowed: u64) -> Box<Diagnostic> {
        let (code, what, unit, key) = match self {
            Limit::SourceBytes => (Code::LimitSourceBytes, "the source is too long", "bytes", "source_bytes"),
            Limit::Nesting => (Code::LimitDepth, "the syntax nests too deep", "levels", "nesting"),
            Limit::ValueDepth => (Code::LimitDepth, "a value nests too deep", "levels", "value_depth"),
            Limit::Fuel => (Code::LimitFuel, "the render took too many steps", "steps", "fuel"),
            Limit::Cost => (Code::LimitCost, "actual cost limit exceeded", "units of cost", "cost"),
            Limit::Time => (Code::LimitTime, "the render took too long", "ms", "time"),
            Limit::Memory => (Code::LimitMemory, "the render needs too much memory", "bytes", "memory"),
            Limit::OutputBytes => (Code::LimitOutputBytes, "the output is too long", "bytes", "output_bytes"),
            Limit::CallDepth => (Code::LimitRecursion, "calls nest too deep", "frames", "call_depth"),
            Limit::Templates => (Code::LimitTemplates, "too many templates are reached", "templates", "templates"),
            Limit::CodeWords => (Code::LimitCode, "the template expands to too much code", "words", "code_words"),
            Limit::Regex => (Code::LimitRegex, "the regular expression is too long", "bytes", "regex_bytes"),
        };
        Diagnostic::new(code, format!("{what}: the limit is {allowed} {unit}"))
            .with_help(format!("raise `Limits::{key}` if the template is trusted"))
    }
}
