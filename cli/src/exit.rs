//! Exit codes.

use dropforge::bulk::Failure;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};

use crate::console::Console;

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
            | Code::StoreLocked
            | Code::NoConditions
            | Code::MassDelete
            | Code::MissingPart
            | Code::ForeignFile => Exit::Usage,
            _ => Exit::Error,
        }
    }
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

    /// Prints the errors and returns the exit.
    pub(crate) fn print(self, console: &Console) -> Exit {
        self.failures.iter().for_each(|failure| console.failure(failure));
        console.diagnostics(self.diagnostics);
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
