//! Capabilities: permissions to read more than the inputs, such as files.

use std::time::SystemTime;

use dropforge_base::files::Files;

/// Permissions to read more than the inputs. An engine grants none by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities<'r> {
    set: u8,
    files: Option<&'r Files>,
    moment: Option<SystemTime>,
}

impl Capabilities<'static> {
    /// No capability.
    pub const NONE: Self = Self::of(0);
    /// The current time.
    pub const CLOCK: Self = Self::of(1);
    /// Random numbers.
    pub const RANDOM: Self = Self::of(2);
    /// Environment variables.
    pub const ENVIRONMENT: Self = Self::of(4);
    /// Files below a directory, set by [`Capabilities::with_files`]. Without a directory, no file is found.
    pub const FILES: Self = Self::of(8);
    /// All capabilities.
    pub const ALL: Self = Self::of(15);

    const fn of(set: u8) -> Self {
        Self { set, files: None, moment: None }
    }
}

impl<'r> Capabilities<'r> {
    /// Returns the union of both.
    pub const fn and(self, other: Self) -> Self {
        let files = if self.files.is_some() { self.files } else { other.files };
        let moment = if self.moment.is_some() { self.moment } else { other.moment };
        Self { set: self.set | other.set, files, moment }
    }

    /// Adds the files below a directory.
    pub const fn with_files(self, files: &'r Files) -> Self {
        Self { set: self.set | Capabilities::FILES.set, files: Some(files), ..self }
    }

    /// Sets the time that the clock returns.
    pub const fn with_moment(self, moment: SystemTime) -> Self {
        Self { moment: Some(moment), ..self }
    }

    /// Returns the fixed time of the clock, if set.
    pub const fn moment(self) -> Option<SystemTime> {
        self.moment
    }

    /// Returns the readable files.
    pub const fn files(self) -> Option<&'r Files> {
        self.files
    }

    /// Returns `true` if every capability of `other` is included.
    pub const fn include(self, other: Capabilities<'_>) -> bool {
        self.set & other.set == other.set
    }

    /// Returns the names of the included capabilities on the command line.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("clock", Capabilities::CLOCK),
            ("random", Capabilities::RANDOM),
            ("environment", Capabilities::ENVIRONMENT),
            ("files", Capabilities::FILES),
        ];
        all.into_iter().filter(move |(_, one)| self.include(*one)).map(|(name, _)| name)
    }

    /// Returns `true` if no capability is included.
    pub const fn is_none(self) -> bool {
        self.set == 0
    }
}
