//! Answers to why a line of an output is there.
//!
//! ```
//! use dropforge::bulk::why::{Given, LinePlace, Question, RecordedOutput, find};
//! use dropforge::bulk::Origin;
//! use dropforge::{Dialect, Engine};
//! use dropforge::engine::recording::Flow;
//! use dropforge::{Arena, Inputs, Value};
//! use dropforge::Session;
//! let template = Engine::new().compile(Dialect::Tera, "web", "kind: web\nport: {{ port }}\n")?;
//! let arena = Arena::new();
//! let inputs = Inputs::new(arena.map(&[("port", Value::Int(80))]));
//! let (recording, text) = template.record(&mut Session::new(), inputs);
//! let text = text?;
//! let (_, place) = LinePlace::parse("out.yaml:2").unwrap();
//! let at = place.byte("out.yaml", &text)?;
//! let recorded = RecordedOutput::of_template(text.clone(), recording);
//! let given = |flow: &Flow| {
//!     let value = recorded.value_of(&flow.path);
//!     Given { path: value.name, origins: vec![Origin::named("the parameters")], default: None, is_secret: false }
//! };
//! let answer = recorded.answer(&Question { line: 2, template: "web", ..Question::default() }, (&text, at), &given).unwrap();
//! assert_eq!(answer.written[0].code, "port");
//! assert_eq!(answer.inputs[0].origins, ["the parameters"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod found;
mod recorded;
mod report;

pub use found::{find, found_in};
pub use recorded::RecordedOutput;
pub(crate) use recorded::ReleaseGivens;
pub use report::{Answer, AnswerInput, Around, CodePlace, Given, GivenOf, Question};

use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted};

/// A line, and a column if one is wanted. Both are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: Option<usize>,
}

impl LinePlace {
    /// Parses `NAME:LINE` or `NAME:LINE:COLUMN`, and returns the name, too.
    ///
    /// ```
    /// use dropforge::bulk::why::LinePlace;
    /// let place = |line, column| LinePlace { line, column };
    /// assert_eq!(LinePlace::parse("a:b:17"), Some(("a:b", place(17, None))));
    /// assert_eq!(LinePlace::parse("a:17:2"), Some(("a", place(17, Some(2)))));
    /// assert_eq!(LinePlace::parse("a:0"), None);
    /// ```
    pub fn parse(text: &str) -> Option<(&str, Self)> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
        let (before, last) = text.rsplit_once(':')?;
        let last = number(last)?;
        Some(match before.rsplit_once(':').map(|(name, line)| (name, number(line))) {
            Some((name, Some(line))) => (name, Self { line, column: Some(last) }),
            _ => (before, Self { line: last, column: None }),
        })
    }

    /// Returns the byte of a text. Without a column, that is the start of the last value of the line.
    ///
    /// # Errors
    /// `usage` if the text, which is that of `name`, has no such line or column.
    pub fn byte(&self, name: &str, text: &str) -> Result<usize> {
        let before = text.split_inclusive('\n').take(self.line.saturating_sub(1)).map(str::len).sum::<usize>();
        let line =
            text.get(before..).and_then(|rest| rest.lines().next()).filter(|_| self.line > 0).ok_or_else(|| {
                let count = counted(text.lines().count(), "line");
                Diagnostic::new(Code::Usage, format!("{name} has {count}, so no line {}", self.line))
            })?;
        let content = line.trim_end();
        let Some(column) = self.column else { return Ok(before + value_of(content)) };
        let at = content.char_indices().nth(column.wrapping_sub(1)).map(|(at, _)| before + at);
        at.ok_or_else(|| {
            let count = counted(content.chars().count(), "column");
            let message = format!("line {} of {name} has {count}, so no column {column}", self.line);
            Diagnostic::new(Code::Usage, message)
        })
    }
}

/// Returns the position of the last value of a line of YAML or JSON, or of its content.
fn value_of(line: &str) -> usize {
    let indent = line.len() - line.trim_start_matches([' ', '-']).len();
    match line.rfind(": ") {
        Some(at) if at >= indent => {
            line.len() - line.get(at + 1..).unwrap_or("").trim_start_matches([' ', '"', '\'']).len()
        }
        _ => indent.min(line.len().saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_line_is_meant() {
        let at = |line: &str| line[value_of(line)..].to_owned();
        assert_eq!(at("  a: 1"), "1");
        assert_eq!(at("  - a: \"x\""), "x\"");
        assert_eq!(at("  - b"), "b");
        assert_eq!(at("key:"), "key:");
        assert_eq!(at(""), "");
    }

    #[test]
    fn lines_and_columns_that_are_not_there_are_named() {
        let byte =
            |line, column| LinePlace { line, column }.byte("`x`", "a: é\r\nb: 2\n").map_err(|error| error.message);
        assert_eq!(byte(1, None), Ok(3));
        assert_eq!(byte(2, Some(4)), Ok(10));
        assert_eq!(byte(1, Some(5)), Err("line 1 of `x` has 4 columns, so no column 5".to_owned()));
        assert_eq!(byte(3, None), Err("`x` has 2 lines, so no line 3".to_owned()));
        assert_eq!(byte(0, None), Err("`x` has 2 lines, so no line 0".to_owned()));
        assert!(byte(1, Some(0)).is_err());
    }
}
