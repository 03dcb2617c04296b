//! Reading lines: edited on a terminal, or as they come from a pipe.

use std::cell::OnceCell;
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use super::commands::COMMANDS;
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::engine::{Dialect, Engine};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

/// Maximum number of lines of the history.
const HISTORY: usize = 1_000;
/// Maximum number of bytes of an input that is no terminal.
const MAX_BYTES: u64 = 16 << 20;

/// The source of lines.
pub(super) enum Lines<'w> {
    Typed(Box<Terminal<'w>>),
    Piped(Box<dyn BufRead>),
}

/// A terminal and the file of its history.
pub(super) struct Terminal<'w> {
    editor: Editor<Completion<'w>, FileHistory>,
    history: Option<PathBuf>,
}

/// The words that complete a line, found at the first Tab in it.
struct Completion<'w> {
    find: &'w dyn Fn() -> Vec<String>,
    found: OnceCell<Vec<String>>,
}

impl<'w> Lines<'w> {
    /// Reads standard input, with a history if it is a terminal. `words` returns the words that complete a line.
    ///
    /// # Errors
    /// `file.read_failed` if the terminal cannot be used.
    pub(super) fn open(history: bool, words: &'w dyn Fn() -> Vec<String>) -> Result<Self> {
        if !io::stdin().is_terminal() {
            let input = io::Read::take(io::stdin(), MAX_BYTES);
            return Ok(Self::Piped(Box::new(io::BufReader::new(input))));
        }
        Ok(Self::Typed(Box::new(Terminal::open(history, words).map_err(|error| unreadable(&error))?)))
    }

    /// Returns `true` if a user types the lines.
    pub(super) fn are_typed(&self) -> bool {
        matches!(self, Self::Typed(_))
    }

    /// Reads a line and those that continue it. Returns `None` at the end, and no text for a line that was given up with
    /// Ctrl-C.
    ///
    /// # Errors
    /// `file.read_failed`; text that is not UTF-8.
    pub(super) fn next(&mut self, prompt: &str) -> Result<Option<String>> {
        match self {
            Self::Typed(terminal) => terminal.next(prompt),
            Self::Piped(input) => piped(input),
        }
    }
}

impl<'w> Terminal<'w> {
    fn open(history: bool, words: &'w dyn Fn() -> Vec<String>) -> rustyline::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .history_ignore_space(true)
            .auto_add_history(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Completion { find: words, found: OnceCell::new() }));
        let history = if history { history_file() } else { None };
        if let Some(path) = &history {
            // There is none the first time.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    fn next(&mut self, prompt: &str) -> Result<Option<String>> {
        // The line before may have changed the values.
        if let Some(completion) = self.editor.helper_mut() {
            completion.found.take();
        }
        match self.editor.readline(prompt) {
            Ok(line) => {
                self.save();
                Ok(Some(line.replace("\\\n", "\n")))
            }
            Err(ReadlineError::Interrupted) => Ok(Some(String::new())),
            Err(ReadlineError::Eof) => Ok(None),
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
fn piped(input: &mut dyn BufRead) -> Result<Option<String>> {
    let mut line = String::new();
    loop {
        let read = input.read_line(&mut line).map_err(|error| unreadable(&error))?;
        if read == 0 && line.is_empty() {
            return Ok(None);
        }
        let end = line.trim_end_matches(['\n', '\r']).len();
        line.truncate(end);
        match line.strip_suffix('\\') {
            Some(rest) if read > 0 => line = format!("{rest}\n"),
            _ => return Ok(Some(line)),
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

impl Helper for Completion<'_> {}

impl Highlighter for Completion<'_> {}

impl Hinter for Completion<'_> {
    type Hint = String;
}

impl Completer for Completion<'_> {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let (start, words) = matching(self.found.get_or_init(self.find), line.get(..at).unwrap_or(line));
        Ok((start, words.into_iter().map(str::to_owned).collect()))
    }
}

impl Validator for Completion<'_> {
    /// Continues a line that ends with a backslash.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let continues = context.input().ends_with('\\');
        Ok(if continues { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// Maximum number of completions.
const MAX: usize = 200;

/// Returns all words that can be typed, sorted: the commands, the functions of the language, and the paths of values as it
/// writes them.
pub(super) fn words(language: Dialect, paths: Vec<String>) -> Vec<String> {
    let commands = COMMANDS.iter().map(|(name, ..)| (*name).to_owned());
    let engine = Engine::new();
    let functions = engine.registry(language).iter().map(|builtin| builtin.name.to_string());
    let mut words: Vec<String> = paths.into_iter().chain(commands).chain(functions).collect();
    words.sort();
    words.dedup();
    words
}

/// Returns where the word at the end of `line` begins, and the words that begin like it. Of a path, only the next name is
/// completed.
fn matching<'w>(words: &'w [String], line: &str) -> (usize, Vec<&'w str>) {
    let is_part = |c: char| c.is_alphanumeric() || "_-.:$@[]".contains(c);
    let start = line.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(line.len(), |(at, _)| at);
    let typed = line.get(start..).unwrap_or("");
    if typed.is_empty() || (typed.starts_with(':') && start > 0) {
        return (start, Vec::new());
    }
    let is_next = |word: &&String| {
        let rest = word.strip_prefix(typed);
        rest.is_some_and(|rest| !rest.get(1..).unwrap_or("").contains(['.', '[']))
    };
    (start, words.iter().filter(is_next).map(String::as_str).take(MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_continues_a_line() {
        let mut input: &[u8] = b"a \\\r\nb\nc\n\nd\\";
        let mut read = || piped(&mut input).unwrap();
        let lines: Vec<_> = std::iter::from_fn(&mut read).collect();
        assert_eq!(lines, ["a \nb", "c", "", "d"]);
    }
}

#[cfg(test)]
mod complete_tests {
    use super::*;

    fn of(language: Dialect, line: &str) -> (usize, Vec<String>) {
        let paths = ["image", "image.tag", "image.tags", "image.tags.a", "items[0]"].map(str::to_owned);
        let words = words(language, paths.to_vec());
        let (at, found) = matching(&words, line);
        (at, found.into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn paths_are_completed_name_by_name() {
        assert_eq!(of(Dialect::Hcl, "x + imag"), (4, vec!["image".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "image.t"), (0, vec!["image.tag".to_owned(), "image.tags".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "é image.tags."), (3, vec!["image.tags.a".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "a "), (2, vec![]));
    }

    #[test]
    fn functions_and_commands_are_completed() {
        assert!(of(Dialect::Tera, "name | nind").1.contains(&"nindent".to_owned()));
        assert!(of(Dialect::Helm, "toYam").1.contains(&"toYaml".to_owned()));
        assert_eq!(of(Dialect::Hcl, ":ty"), (0, vec![":type".to_owned()]));
        assert_eq!(of(Dialect::Hcl, "a ? b :ty").1, Vec::<String>::new());
    }
}
