//! Resource limits of a compilation and a render. Every limit has a default and an error code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::diagnostics::{Code, Diagnostic, thousands};

/// The default of [`Limits::nesting`].
const NESTING: usize = 128;

/// Resource limits of one compilation and one render.
///
/// ```
/// use dropforge::limits::Limits;
/// let limits = Limits { output_bytes: 1 << 20, ..Limits::default() };
/// assert!(limits.fuel > 1_000_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a source file in bytes.
    pub source_bytes: usize,
    /// Maximum nesting of syntax: brackets, blocks, tags. Unless it is set, the brackets of `cel` and the parentheses of
    /// `helm` may nest deeper, 250 levels.
    pub nesting: usize,
    /// Maximum nesting of values: lists in lists, maps in maps.
    pub value_depth: usize,
    /// Maximum number of steps: loop iterations, calls, elements visited, and a share of the bytes produced.
    pub fuel: u64,
    /// Maximum cost in units of the language, for metered programs. Unlimited by default.
    pub cost: u64,
    /// Maximum duration of a render. Unlimited by default. The clock is checked once per batch of steps, so a render may
    /// exceed the limit by a few milliseconds.
    pub time: Option<Duration>,
    /// Maximum size of the strings, lists and maps created by a render, in bytes.
    pub memory: u64,
    /// Maximum size of the output in bytes.
    pub output_bytes: usize,
    /// Maximum nesting of calls: macros, includes, parents.
    pub call_depth: usize,
    /// Maximum nesting of calls by a name that is known at render time, and of templates made at render time. They do not
    /// count towards `call_depth`.
    pub named_calls: usize,
    /// Maximum nesting of calls of the same name, where the language limits it.
    pub same_name: usize,
    /// Maximum number of templates reachable from one template, including itself.
    pub templates: usize,
    /// Maximum number of bytecode words in a program.
    pub code_words: usize,
    /// Maximum size of the programs that are compiled together in bytes: those of a run, or of one language in an
    /// artifact. The program of a template contains the code of all templates that it includes.
    pub program_bytes: usize,
    /// Maximum size of a regular expression in bytes.
    pub regex_bytes: usize,
    /// Maximum number of errors reported for one file.
    pub diagnostics: usize,
}

impl Limits {
    /// Returns the maximum nesting of syntax that usually nests up to `usual` levels, which no limit raises.
    #[doc(hidden)]
    pub fn nesting_of(&self, usual: usize) -> usize {
        if self.nesting == NESTING { usual } else { self.nesting.min(usual) }
    }

    /// Checks the size of a source.
    ///
    /// # Errors
    /// `limit.source_bytes`.
    #[doc(hidden)]
    pub fn check_size(&self, source: &std::sync::Arc<crate::text::Source>) -> crate::diagnostics::Result<()> {
        if source.text().len() <= self.source_bytes {
            return Ok(());
        }
        Err(Limit::SourceBytes.error(self.source_bytes as u64).at(source, <_>::default(), ""))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source_bytes: 4 << 20,
            nesting: NESTING,
            value_depth: 128,
            fuel: 100_000_000,
            cost: u64::MAX,
            time: None,
            memory: 256 << 20,
            output_bytes: 64 << 20,
            call_depth: 200,
            named_calls: 10_000,
            same_name: 1_000,
            templates: 10_000,
            code_words: 4 << 20,
            program_bytes: 256 << 20,
            regex_bytes: 4 << 10,
            diagnostics: 100,
        }
    }
}

/// The time by which renders have to end. Another thread can end them earlier.
///
/// ```
/// use std::time::Duration;
/// use dropforge::limits::Deadline;
/// let deadline = Deadline::after(Duration::from_secs(60));
/// assert!(!deadline.is_over());
/// deadline.cancel();
/// assert!(deadline.is_over() && deadline.remaining().is_zero());
/// ```
#[derive(Debug)]
pub struct Deadline {
    /// `None` if it is too far away for the clock.
    at: Option<Instant>,
    cancelled: AtomicBool,
}

impl Deadline {
    /// A deadline `time` from now.
    pub fn after(time: Duration) -> Self {
        Self { at: Instant::now().checked_add(time), cancelled: AtomicBool::new(false) }
    }

    /// Ends the time now.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the error of a render that this deadline ended.
    #[doc(hidden)]
    pub fn error(&self) -> Box<Diagnostic> {
        let message = match self.cancelled.load(Ordering::Relaxed) {
            true => "the render was cancelled",
            false => "the render took too long: its deadline has passed",
        };
        Diagnostic::new(Code::LimitTime, message)
    }

    /// Returns `true` if no time remains.
    pub fn is_over(&self) -> bool {
        self.remaining().is_zero()
    }

    /// Returns the remaining time.
    pub fn remaining(&self) -> Duration {
        match self.at {
            _ if self.cancelled.load(Ordering::Relaxed) => Duration::ZERO,
            Some(at) => at.saturating_duration_since(Instant::now()),
            None => Duration::MAX,
        }
    }
}

/// A limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    /// [`Limits::named_calls`]
    NamedCalls,
    /// [`Limits::same_name`]
    SameName,
    /// [`Limits::templates`]
    Templates,
    /// [`Limits::code_words`]
    CodeWords,
    /// [`Limits::program_bytes`]
    ProgramBytes,
    /// [`Limits::regex_bytes`]
    Regex,
}

impl Limit {
    /// Returns the error for exceeding this limit, whose value is `allowed`.
    #[doc(hidden)]
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
            Limit::CallDepth => (Code::LimitRecursion, "calls nest too deep", "calls", "call_depth"),
            Limit::NamedCalls => (Code::LimitRecursion, "calls by name nest too deep", "calls", "named_calls"),
            Limit::SameName => (Code::LimitRecursion, "calls of one name nest too deep", "calls", "same_name"),
            Limit::Templates => (Code::LimitTemplates, "too many templates are reached", "templates", "templates"),
            Limit::CodeWords => (Code::LimitCode, "the template expands to too much code", "words", "code_words"),
            Limit::ProgramBytes => (Code::LimitCode, "the programs are too large together", "bytes", "program_bytes"),
            Limit::Regex => (Code::LimitRegex, "the regular expression is too long", "bytes", "regex_bytes"),
        };
        let allowed = thousands(usize::try_from(allowed).unwrap_or(usize::MAX));
        Diagnostic::new(code, format!("{what}: the limit is {allowed} {unit}"))
            .with_help(format!("raise `Limits::{key}` if the template is trusted"))
    }
}
