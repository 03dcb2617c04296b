//! Exit codes, and signals. An interrupt ends a run once clusters in progress are done, and a file size limit is a write error.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dropforge::bulk::Failure;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::stderr::Stderr;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: success.
    Ok,
    /// 1: a template, data or I/O error.
    Error,
    /// 2: a usage error, or a plan that cannot be carried out.
    Usage,
    /// 3: `--check` or `--diff` found differences.
    Differs,
    /// 4: some clusters failed, the others are written.
    Partial,
    /// 128 plus the signal number: stopped by a signal (130 for an interrupt).
    Signal(u8),
    /// 141: the output pipe was closed. Nothing is printed.
    ClosedPipe,
}

impl Exit {
    /// Returns the exit code of the process.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::Differs => 3,
            Exit::Partial => 4,
            Exit::Signal(number) => 128u8.saturating_add(number),
            Exit::ClosedPipe => 141,
        }
    }

    /// Returns the exit of a command that ends with this error.
    pub(crate) fn of(diagnostic: &Diagnostic) -> Self {
        match diagnostic.code {
            Code::ClosedPipe => Exit::ClosedPipe,
            Code::Usage
            | Code::BadSet
            | Code::NoTemplates
            | Code::BadOutputName
            | Code::BadLayout
            | Code::DuplicateOutput
            | Code::CaseCollision
            | Code::PrefixCollision
            | Code::DuplicateCluster
            | Code::UnnamedCluster
            | Code::BadUrl
            | Code::NoConditions
            | Code::MassDelete
            | Code::MissingPart
            | Code::ForeignFile => Exit::Usage,
            _ => Exit::Error,
        }
    }
}

/// Exit codes of help texts: the code, its meaning, and the commands that it is about. No commands: all others.
const MEANINGS: [(&str, &str, &[&str]); 15] = [
    ("0", "success", &[]),
    ("1", "a template, data or I/O error", &[]),
    ("1", "a failed test or test file, or too little coverage", &["test"]),
    ("1", "an I/O error", &["hcl decode"]),
    ("2", "usage error, or a plan that cannot be carried out", &[]),
    ("2", "usage error, or there is no test", &["test"]),
    ("2", "usage error, invalid specification or configuration", &["hcl decode"]),
    ("3", "`--check` or `--diff` found differences", &["stamp", "render", "hcl fmt"]),
    ("3", "there are changes", &["diff"]),
    ("3", "the results or versions differ", &["catalog verify", "catalog diff"]),
    ("4", "some clusters failed; the others are written", &["stamp"]),
    ("4", "some clusters failed", &["diff"]),
    ("4", "an output is not valid; nothing is written", &["render"]),
    ("129, 130, 143", "ended by hangup, interrupt or termination", &["stamp", "diff", "render"]),
    ("141", "output pipe closed", &[]),
];

/// Returns the exit codes of a command for its help. A group of commands has those of all its commands, with their names;
/// the name of the whole command line is empty.
pub(crate) fn help(path: &str) -> String {
    let group = if path.is_empty() { String::new() } else { format!("{path} ") };
    let has_own = |code: &str| MEANINGS.iter().any(|(own, _, commands)| *own == code && commands.contains(&path));
    let line = |(code, meaning, commands): &(&str, &str, &[&str])| {
        let below: Vec<&str> = commands.iter().copied().filter(|command| command.starts_with(&group)).collect();
        match *commands {
            [] if has_own(code) => None,
            [] => Some(format!("  {code:<13}  {meaning}\n")),
            commands if commands.contains(&path) => Some(format!("  {code:<13}  {meaning}\n")),
            _ if below.is_empty() => None,
            _ => Some(format!("  {code:<13}  {}: {meaning}\n", below.join(", "))),
        }
    };
    format!("Exit codes:\n{}", MEANINGS.iter().filter_map(line).collect::<String>())
}

/// The errors of a failed command, and its exit.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The errors to print.
    pub(crate) diagnostics: Vec<Box<Diagnostic>>,
    /// The errors of clusters to print.
    pub(crate) failures: Vec<Failure>,
    /// The exit.
    pub(crate) exit: Exit,
}

impl Failed {
    /// Ends with the exit of a usage error, whatever the codes of these errors.
    pub(crate) fn usage(diagnostics: Vec<Box<Diagnostic>>) -> Self {
        Self { diagnostics, failures: Vec::new(), exit: Exit::Usage }
    }

    /// Adds places to the errors.
    pub(crate) fn located(mut self, locate: &dyn Fn(Box<Diagnostic>) -> Box<Diagnostic>) -> Self {
        self.diagnostics = self.diagnostics.into_iter().map(locate).collect();
        let located = |failure: Failure| Failure { diagnostic: locate(failure.diagnostic), ..failure };
        self.failures = self.failures.into_iter().map(located).collect();
        self
    }

    /// Prints the errors and returns the exit.
    pub(crate) fn print(self, stderr: &Stderr) -> Exit {
        self.failures.iter().for_each(|failure| stderr.failure(failure));
        stderr.diagnostics(self.diagnostics);
        self.exit
    }
}

impl From<Box<Diagnostic>> for Failed {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        match Exit::of(&diagnostic) {
            Exit::ClosedPipe => Self { diagnostics: Vec::new(), failures: Vec::new(), exit: Exit::ClosedPipe },
            exit => Self { diagnostics: vec![diagnostic], failures: Vec::new(), exit },
        }
    }
}

impl From<Vec<Box<Diagnostic>>> for Failed {
    fn from(diagnostics: Vec<Box<Diagnostic>>) -> Self {
        let exit = diagnostics.first().map_or(Exit::Error, |first| Exit::of(first));
        Self { diagnostics, failures: Vec::new(), exit }
    }
}

impl From<Vec<Failure>> for Failed {
    fn from(failures: Vec<Failure>) -> Self {
        let exit = failures.first().map_or(Exit::Error, |first| Exit::of(&first.diagnostic));
        Self { diagnostics: Vec::new(), failures, exit }
    }
}

impl From<Diagnostics> for Failed {
    fn from(diagnostics: Diagnostics) -> Self {
        diagnostics.into_vec().into()
    }
}

/// Handles `SIGXFSZ`, so that a write beyond the limit fails with `EFBIG` instead of killing the process.
pub(crate) fn survive_file_size_limit() {
    // Without the handler the process is killed, which is the default.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Returns `true` unless the process was started to survive a hangup, as by `nohup`, or that cannot be determined.
fn hangup_counts() -> bool {
    // The mask of ignored signals: bit 0 is signal 1, which is SIGHUP.
    let status = dropforge::files::read_text(Path::new("/proc/self/status"), 1 << 16).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 0)
}

/// The signal that stops a run.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Stop {
    /// Starts listening. A second signal ends the process at once.
    pub(crate) fn listen() -> Self {
        let stop = Self::default();
        for signal in [Some(SIGINT), Some(SIGTERM), Some(SIGHUP).filter(|_| hangup_counts())].into_iter().flatten() {
            // In this order the first signal finds the flag unset. If registration fails, the signal keeps its
            // default action.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, stop.flag.clone());
            let number = usize::try_from(signal).unwrap_or(0);
            let _ = flag::register_usize(signal, stop.number.clone(), number);
            let _ = flag::register(signal, stop.flag.clone());
        }
        stop
    }

    /// Returns the flag that the first signal sets.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Returns the number of the received signal.
    pub(crate) fn number(&self) -> u8 {
        u8::try_from(self.number.load(Ordering::SeqCst)).unwrap_or(0)
    }
}
