//! Writing results to standard output.

use std::io::{self, Write};

use dropforge::diagnostics::{Code, Diagnostic, Result};

/// Writes to standard output.
///
/// # Errors
/// `file.closed_pipe`, `file.write_failed`.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes.as_ref()).and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error))
}

/// Returns the error of writing to standard output.
pub(crate) fn stdout_error(error: &io::Error) -> Box<Diagnostic> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Diagnostic::new(Code::ClosedPipe, "the output pipe was closed"),
        _ => Diagnostic::new(Code::WriteFailed, format!("cannot write to standard output: {error}")),
    }
}

/// The reason why an empty path is no output: a run would write to the current directory.
pub(crate) const EMPTY_OUTPUT: &str = "the path is empty; name a directory, `.` for the current one";

/// The width of help texts.
pub(crate) const WIDTH: usize = 80;

/// Wraps the lines of a text at [`WIDTH`], except those that are indented, such as code.
pub(crate) fn wrapped(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut width = 0;
        let words = if line.starts_with(' ') { vec![line] } else { line.split_inclusive(' ').collect() };
        for word in words {
            let length = word.trim_end().chars().count();
            if width > 0 && width + length > WIDTH {
                out.truncate(out.trim_end().len());
                out.push('\n');
                width = 0;
            }
            out.push_str(word);
            width += word.chars().count();
        }
    }
    out
}

#[cfg(test)]
mod wrap_tests {
    use super::{WIDTH, wrapped};

    #[test]
    fn long_lines_are_wrapped_between_words_and_code_is_not() {
        let (long, code) = ("word ".repeat(40), format!("    {}\n", "x ".repeat(60)));
        let text = wrapped(&format!("{long}\n\n{code}{}\nend\n", "y".repeat(99)));
        assert!(text.contains(&code) && text.ends_with(&format!("\n{}\nend\n", "y".repeat(99))), "{text}");
        assert!(text.lines().take_while(|line| !line.is_empty()).all(|line| line.trim_end().chars().count() <= WIDTH));
        assert_eq!(text.split_whitespace().count(), 40 + 60 + 2);
        assert_eq!(wrapped("a b\nc\n"), "a b\nc\n");
    }
}
