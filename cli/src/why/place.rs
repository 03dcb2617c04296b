//! The place that an answer is about: a file, a line and a column; the command of the state of its project.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use dropforge::bulk::why::{LinePlace, Question};
use dropforge::bulk::{Maker, OutputDir, ReadFiles, RunOptions, STATE, State};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::files;

use super::{plain, shown};
use crate::input::{is_below, is_dash, outside, repository};
use crate::remote::{self, StoredOutput};
use crate::run_options::StoredArgument;
use crate::{command, run_options};
use dropforge::files::{Files, unreadable};

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

/// Changes to the directory where a run was started, and returns its arguments with the directory of the files that it may
/// read.
///
/// # Errors
/// `file.read_failed` for a directory that cannot be read; `template.outside_root` for a directory or a file outside of the
/// project; `usage` for options that are not followed.
pub(super) fn arguments(wanted: &Wanted, run: &RunOptions) -> Result<(Vec<OsString>, Files)> {
    let root = Files::below(project(wanted.directory.as_deref())?)?;
    let place = wanted.given();
    if let Some((output, way)) = wanted.directory.as_ref().zip(run.folder.as_ref()) {
        let folder = output.join(way);
        if !is_below(&root, &folder) {
            let error = outside(&folder, &root).with_note(entry(wanted, "folder", way));
            return Err(error.with_help(by_hand(&place, run)));
        }
        change_to(&folder)?;
    }
    let arguments = run_options::stored(&command::options_of_commands(), &run.arguments);
    for StoredArgument { text, paths, is_harmless } in arguments.ok_or_else(|| no_command(wanted))? {
        let refused = match paths.iter().find(|path| !is_dash(path) && !is_below(&root, path)) {
            _ if !is_harmless => Diagnostic::new(
                Code::Usage,
                format!("`{}` is not followed: it grants or writes something", shown(&text)),
            ),
            Some(path) => outside(Path::new(&shown(&path.to_string_lossy())), &root),
            None => continue,
        };
        return Err(refused.with_note(entry(wanted, "arguments", &text)).with_help(by_hand(&place, run)));
    }
    Ok((run.arguments.iter().map(OsString::from).collect(), root))
}

fn change_to(folder: &Path) -> Result<()> {
    std::env::set_current_dir(folder).map_err(|error| {
        Diagnostic::new(Code::ReadFailed, format!("cannot change to directory `{}`: {error}", folder.display()))
    })
}

/// Returns the directory whose files the run of a state may read: the repository of the output directory. Without one it
/// is the current directory if the outputs are below it, and otherwise the one that has the output directory. Outputs in an
/// object store have the current directory in place of their own.
fn project(output: Option<&Path>) -> Result<PathBuf> {
    let unreadable =
        |error: std::io::Error| Diagnostic::new(Code::ReadFailed, format!("cannot find the project: {error}"));
    let here = std::env::current_dir().map_err(unreadable)?;
    let place = output.map_or(Ok(here.clone()), Path::canonicalize).map_err(unreadable)?;
    let parent = || if output.is_some() { place.parent().map(Path::to_owned) } else { None };
    let around = || if place != here && place.starts_with(&here) { Some(here.clone()) } else { parent() };
    Ok(repository(&place).or_else(around).unwrap_or(here.clone()))
}

/// Returns the note that names an entry of a state.
fn entry(wanted: &Wanted, key: &str, value: &str) -> String {
    format!("`{key}` in {} has `{}`", wanted.listed_in(), shown(value))
}

fn no_command(wanted: &Wanted) -> Box<Diagnostic> {
    let message = format!("{} has no command that writes outputs", wanted.listed_in());
    Diagnostic::new(Code::Usage, message).with_help("name the command: `dropforge why … -- stamp …`")
}

/// Returns the help that shows how to give the command of a state by hand.
fn by_hand(place: &str, run: &RunOptions) -> String {
    let words: Vec<String> = run.arguments.iter().map(|argument| word(&shown(argument))).collect();
    let command = format!("dropforge why {} -- {}", word(&shown(place)), words.join(" "));
    format!("if you trust it, name the command yourself, where it ran: `{command}`")
}

/// Returns a word for a shell.
fn word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
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
