//! The place that an answer is about: a file, a line and a column.

use std::path::{Path, PathBuf};

use dropforge::bulk::why::{LinePlace, Question};
use dropforge::bulk::{Maker, OutputDir, ReadFiles, RunOptions, STATE, State};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::files;

use super::plain;
use crate::remote::{self, StoredOutput};
use dropforge::files::unreadable;

/// Maximum size of an output.
const LONGEST: u64 = 1 << 30;

/// The part of an output that an answer is about.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The path of the file. `None` for what a command prints.
    pub(super) file: Option<PathBuf>,
    /// The content of the file.
    pub(super) text: Option<String>,
    pub(super) place: LinePlace,
    /// The file, if it is in an object store.
    stored: Option<StoredOutput>,
    /// The output directory of the file. `None` in an object store.
    pub(super) directory: Option<PathBuf>,
    /// The state or list that has the file.
    listed_in: String,
    /// What made the file, if it is a part of a pack.
    packed: Option<Maker>,
    /// What made the file.
    pub(super) of: Option<Maker>,
}

impl Wanted {
    /// Parses a place and reads its file.
    ///
    /// # Errors
    /// `usage` for other text; `file.read_failed`; errors of packs and of the store.
    pub(super) fn parse(place: &str) -> Result<Self> {
        let (file, place) = LinePlace::parse(place).ok_or_else(|| bad_place(place))?;
        // A URL of a file is a path.
        let file = remote::output(file).unwrap_or_else(|_| PathBuf::from(file));
        let file = Some(file).filter(|file| !file.as_os_str().is_empty() && file.as_os_str() != "-");
        let stored = file.as_deref().map_or(Ok(None), StoredOutput::of)?;
        let mut wanted =
            Self { file, text: None, place, stored, directory: None, listed_in: String::new(), packed: None, of: None };
        wanted.content()?;
        match &wanted.text {
            Some(text) => wanted.at(text).map(|_| wanted),
            None => Ok(wanted),
        }
    }

    /// Reads the file, or a part of a pack.
    fn content(&mut self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(stored) = &self.stored {
            let (text, packed) = stored.read()?;
            (self.text, self.packed) = (Some(text), packed);
            return Ok(());
        }
        self.text = match files::read_text(file, LONGEST) {
            Ok(text) => Some(text),
            Err(error) => {
                let (text, maker, directory) = remote::packed(file)?.ok_or_else(|| unreadable(file, error))?;
                (self.packed, self.directory) = (Some(maker), Some(directory));
                Some(text)
            }
        };
        Ok(())
    }

    /// Returns the name of the file.
    pub(super) fn name(&self) -> String {
        self.file.as_ref().map_or_else(|| "the output".to_owned(), |file| file.display().to_string())
    }

    /// Returns the place as `why` takes it, in any directory.
    pub(super) fn given(&self) -> String {
        let file = match (&self.file, &self.stored) {
            (Some(file), None) => plain(file).display().to_string(),
            _ => self.name(),
        };
        let column = self.place.column.map(|column| format!(":{column}")).unwrap_or_default();
        format!("{file}:{}{column}", self.place.line)
    }

    /// Returns the state or list that has the file.
    pub(super) fn listed_in(&self) -> &str {
        &self.listed_in
    }

    /// Returns the byte of a text that is wanted.
    ///
    /// # Errors
    /// Those of [`LinePlace::byte`].
    pub(super) fn at(&self, text: &str) -> Result<usize> {
        self.place.byte(&self.name(), text)
    }

    /// Returns the question about the place in an output.
    pub(super) fn question<'q>(&'q self, cluster: &'q str, template: &'q str) -> Question<'q> {
        let file = self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        let LinePlace { line, column } = self.place;
        let text = self.text.as_ref().and_then(|text| text.lines().nth(line - 1)).unwrap_or("");
        Question { file, line, text, has_column: column.is_some(), cluster, template }
    }

    /// Finds what made the file: the list of packs, or the nearest state above it tells.
    ///
    /// # Errors
    /// `usage` if there is none, or it does not have the file or its run; `file.bad_manifest`; errors of the store.
    pub(super) fn maker(&mut self) -> Result<(Maker, RunOptions)> {
        let maker = match self.packed.take() {
            Some(maker) => {
                self.listed_in = format!("the list of packs with `{}`", self.name());
                maker
            }
            None => self.listed()?,
        };
        match maker.run.clone() {
            Some(run) => Ok((maker, run)),
            None => Err(Diagnostic::new(Code::Usage, "the state does not have the options of the run")
                .with_help("stamp again, or name the command: `dropforge why … -- stamp …`")),
        }
    }

    /// Returns what made the file by its state.
    fn listed(&mut self) -> Result<Maker> {
        let found = match &self.stored {
            Some(stored) => stored.state()?,
            None => self.state()?,
        };
        let Some((state, name, below)) = found else {
            let place = if self.stored.is_some() { "prefix" } else { "directory" };
            let message = format!("no {place} above `{}` has a state of dropforge", self.name());
            return Err(Diagnostic::new(Code::Usage, message).with_help(
                "`stamp` and `render` with `-o DIR` write one; or name the command: `dropforge why … -- stamp …`",
            ));
        };
        self.listed_in = format!("the state `{name}`");
        state.maker(&below, self.text.as_deref().unwrap_or("").as_bytes())?.ok_or_else(|| {
            let message = format!("the state `{name}` does not list `{below}`");
            Diagnostic::new(Code::Usage, message).with_help("dropforge did not write the file")
        })
    }

    /// Returns the nearest state above the file, with its path and that of the file below it.
    fn state(&mut self) -> Result<Option<(State, String, String)>> {
        let file = plain(self.file.as_deref().unwrap_or(Path::new("")));
        let Some(directory) = file.ancestors().skip(1).find(|dir| State::is_in(dir)) else {
            return Ok(None);
        };
        let below = file.strip_prefix(directory).unwrap_or(&file).to_string_lossy().into_owned();
        let state = State::read(Some(&OutputDir::create(directory)?))?;
        self.directory = Some(directory.to_owned());
        Ok(Some((state, directory.join(STATE).display().to_string(), below)))
    }

    /// Returns what made the file, and the files that the run read, if the state has them.
    pub(super) fn read(&self) -> Option<(&Maker, &ReadFiles)> {
        let maker = self.of.as_ref()?;
        Some((maker, maker.run.as_ref()?.read.as_ref()?))
    }

    /// Returns the error of a line that the run writes after the end of the recording.
    pub(super) fn not_recorded(&self) -> Box<Diagnostic> {
        let message =
            format!("the render is too long to be recorded up to line {} of {}", self.place.line, self.name());
        Diagnostic::new(Code::Usage, message)
    }

    /// Returns the error of a line that the run does not write.
    pub(super) fn not_found(&self) -> Box<Diagnostic> {
        let message = format!("line {} of {} is not what the run writes now", self.place.line, self.name());
        Diagnostic::new(Code::Usage, message)
            .with_note("the templates, the values or the file were changed, or values of `--set` are missing")
            .with_help("stamp again, or compare with `dropforge diff`")
    }
}

fn bad_place(place: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, format!("`{place}` names no line"))
        .with_help("write `FILE:LINE` or `FILE:LINE:COLUMN`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(place: &str) -> (Option<PathBuf>, usize, Option<usize>) {
        let Wanted { file, place, .. } = Wanted::parse(place).unwrap();
        (file, place.line, place.column)
    }

    #[test]
    fn places_have_a_line_and_may_have_a_column() {
        assert_eq!(wanted(":17"), (None, 17, None));
        assert_eq!(wanted("-:17:2"), (None, 17, Some(2)));
        for bad in ["x", "x:", "x:0", "", ":", "x:y"] {
            assert_eq!(Wanted::parse(bad).unwrap_err().code, Code::Usage, "{bad}");
        }
        assert_eq!(Wanted::parse("no-such-file:1").unwrap_err().code, Code::ReadFailed);
    }
}
