//! Reading lines: edited on a terminal, or as they come from a pipe.

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use dropforge::diagnostics::{Code, Diagnostic, Result};

use super::complete::Words;

/// Maximum number of lines of the history.
const HISTORY: usize = 1_000;
/// Maximum number of bytes of an input that is no terminal.
const MAX_BYTES: u64 = 16 << 20;

/// What was read.
pub(super) enum Line {
    Text(String),
    /// The line was given up with Ctrl-C.
    Interrupted,
    End,
}

/// The source of lines.
pub(super) enum Lines {
    Typed(Box<Terminal>),
    Piped(Box<dyn BufRead>),
}

/// A terminal and the file of its history.
pub(super) struct Terminal {
    editor: Editor<Words, FileHistory>,
    history: Option<PathBuf>,
}

impl Lines {
    /// Reads standard input, with a history if it is a terminal.
    ///
    /// # Errors
    /// `file.read_failed` if the terminal cannot be used.
    pub(super) fn open(history: bool) -> Result<Self> {
        if !io::stdin().is_terminal() {
            let input = io::Read::take(io::stdin(), MAX_BYTES);
            return Ok(Self::Piped(Box::new(io::BufReader::new(input))));
        }
        Ok(Self::Typed(Box::new(Terminal::open(history).map_err(|error| unreadable(&error))?)))
    }

    /// Returns `true` if a user types the lines.
    pub(super) fn are_typed(&self) -> bool {
        matches!(self, Self::Typed(_))
    }

    /// Reads a line and those that continue it. `words` returns the words that complete it.
    ///
    /// # Errors
    /// `file.read_failed`; text that is not UTF-8.
    pub(super) fn next(&mut self, prompt: &str, words: &mut dyn FnMut() -> Words) -> Result<Line> {
        match self {
            Self::Typed(terminal) => terminal.next(prompt, words()),
            Self::Piped(input) => piped(input),
        }
    }
}

impl Terminal {
    fn open(history: bool) -> rustyline::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .history_ignore_space(true)
            .auto_add_history(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config)?;
        let history = if history { history_file() } else { None };
        if let Some(path) = &history {
            // There is none the first time.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    fn next(&mut self, prompt: &str, words: Words) -> Result<Line> {
        self.editor.set_helper(Some(words));
        match self.editor.readline(prompt) {
            Ok(line) => {
                self.save();
                Ok(Line::Text(line.replace("\\\n", "\n")))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Writes the history. A console without a writable home has none.
    fn save(&mut self) {
        if let Some(path) = &self.history {
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = self.editor.append_history(path);
        }
    }
}

/// Reads a line and those that continue it.
fn piped(input: &mut dyn BufRead) -> Result<Line> {
    let mut line = String::new();
    loop {
        let read = input.read_line(&mut line).map_err(|error| unreadable(&error))?;
        if read == 0 && line.is_empty() {
            return Ok(Line::End);
        }
        let end = line.trim_end_matches(['\n', '\r']).len();
        line.truncate(end);
        match line.strip_suffix('\\') {
            Some(rest) if read > 0 => line = format!("{rest}\n"),
            _ => return Ok(Line::Text(line)),
        }
    }
}

fn unreadable(error: &dyn std::fmt::Display) -> Box<Diagnostic> {
    Diagnostic::new(Code::ReadFailed, format!("cannot read standard input: {error}"))
}

/// Returns the file of the history: `dropforge/console-history` in the user's state directory.
fn history_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("dropforge/console-history"))
}

impl Helper for Words {}

impl Highlighter for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let (start, words) = self.of(line.get(..at).unwrap_or(line));
        Ok((start, words.into_iter().map(str::to_owned).collect()))
    }
}

impl Validator for Words {
    /// Continues a line that ends with a backslash.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let continues = context.input().ends_with('\\');
        Ok(if continues { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_continues_a_line() {
        let mut input: &[u8] = b"a \\\r\nb\nc\n\nd\\";
        let mut read = || match piped(&mut input) {
            Ok(Line::Text(line)) => Some(line),
            _ => None,
        };
        let lines: Vec<_> = std::iter::from_fn(&mut read).collect();
        assert_eq!(lines, ["a \nb", "c", "", "d"]);
    }
}
