//! Checks of rendered text: files named `*.yaml`, `*.yml` and `*.json` have to be valid YAML or JSON.

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_value::{Mark, Scanner, check_json, yaml};

/// The syntax that an output has to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputSyntax {
    /// YAML documents without duplicate keys.
    Yaml,
    /// One JSON value without duplicate keys.
    Json,
}

impl OutputSyntax {
    /// Returns the syntax that the name of a file promises.
    ///
    /// ```
    /// use dropforge::engine::OutputSyntax;
    /// assert_eq!(OutputSyntax::of_file("eu-1/app.yml"), Some(OutputSyntax::Yaml));
    /// assert_eq!(OutputSyntax::of_file("app.JSON"), Some(OutputSyntax::Json));
    /// assert_eq!(OutputSyntax::of_file("json"), None);
    /// ```
    pub fn of_file(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match () {
            () if extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml") => Some(Self::Yaml),
            () if extension.eq_ignore_ascii_case("json") => Some(Self::Json),
            () => None,
        }
    }

    /// Returns the name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yaml => "YAML",
            Self::Json => "JSON",
        }
    }
}

/// Checks outputs one after another and keeps its memory between them.
///
/// ```
/// use dropforge::engine::OutputCheck;
/// let mut check = OutputCheck::default();
/// assert!(check.errors_of_file("app.yaml", "a: 1\n---\nb: [2]\n").is_empty());
/// assert!(check.errors_of_file("motd", "a: b: c").is_empty());
/// let errors = check.errors_of_file("app.yaml", "a: 1\na: 2\n");
/// assert_eq!(errors[0].to_string(), "E0906: the output is not valid YAML: the key `a` is given twice (app.yaml:2:1)");
/// ```
#[derive(Debug, Default)]
pub struct OutputCheck {
    scanner: Scanner,
    /// `true` if the scanner decided that the last text is YAML.
    is_scanned: bool,
}

impl OutputCheck {
    /// Remembers the lines of further outputs. This pays where the same templates write outputs for several clusters.
    pub fn remember(&mut self) {
        self.scanner.remember();
    }

    /// Returns the marks in the last text that was checked, in order, if it is YAML and of the usual kind.
    pub fn marks(&self) -> Option<&[Mark]> {
        self.is_scanned.then(|| self.scanner.marks())
    }

    /// Returns the errors of the text of the file `path`. A file with another extension has none.
    pub fn errors_of_file(&mut self, path: &str, text: &str) -> Vec<Box<Diagnostic>> {
        self.is_scanned = false;
        OutputSyntax::of_file(path).map_or_else(Vec::new, |syntax| self.errors(syntax, path, text))
    }

    /// Returns the errors of `text`: all up to the first error of syntax. Text without content is valid.
    pub fn errors(&mut self, syntax: OutputSyntax, path: &str, text: &str) -> Vec<Box<Diagnostic>> {
        self.errors_within(&Limits::default(), syntax, path, text)
    }

    /// Returns the errors of `text`, under limits of time, memory and diagnostics. To exceed one is an error too.
    pub fn errors_within(
        &mut self,
        limits: &Limits,
        syntax: OutputSyntax,
        path: &str,
        text: &str,
    ) -> Vec<Box<Diagnostic>> {
        let is_valid = match syntax {
            OutputSyntax::Yaml => self.scanner.is_yaml(text),
            OutputSyntax::Json => self.scanner.is_json(text) || text.trim().is_empty(),
        };
        self.is_scanned = is_valid && syntax == OutputSyntax::Yaml;
        if is_valid {
            return Vec::new();
        }
        // Most often the text is invalid now, and its errors keep it.
        let source = Source::new(path, text);
        let limits = Limits { source_bytes: usize::MAX, ..limits.clone() };
        let errors = match syntax {
            OutputSyntax::Yaml => match yaml::read_with(&source, &limits, yaml::Tags::Kept) {
                Ok(_) => refused_tab(&source, &limits).into_iter().collect(),
                Err(errors) => errors,
            },
            OutputSyntax::Json => check_json(&source).err().into_iter().collect(),
        };
        errors.into_iter().map(|error| invalid(syntax, error)).collect()
    }
}

/// Returns the error of a tab that indents, where YAML 1.2 allows it but the reader of Kubernetes does not.
fn refused_tab(source: &Arc<Source>, limits: &Limits) -> Option<Box<Diagnostic>> {
    use dropforge_base::text::Span;
    use dropforge_value::marshal::Numbers;
    use dropforge_value::{Arena, yaml::libyaml};
    let text = source.text();
    memchr::memchr(b'\t', text.as_bytes()).filter(|_| !text.trim().is_empty())?;
    let message = libyaml::read_all(&Arena::new(), text, Numbers::AsWritten, limits.value_depth).err()?;
    let at = text.match_indices('\t').map(|(at, _)| at).find(|at| {
        let line = text.get(..*at).and_then(|before| before.rsplit('\n').next()).unwrap_or("");
        line.trim_start_matches([' ', '-', '?', ':', '\t']).is_empty()
    })?;
    let error = Diagnostic::new(Code::InputSyntax, "a tab cannot indent").at(source, Span::of(at..at + 1), "a tab");
    let error =
        error.with_note(format!("Kubernetes refuses it: {message}")).with_help("indent with spaces, not with tabs");
    message.contains(libyaml::NO_TOKEN).then_some(error)
}

/// Converts an error of a reader.
fn invalid(syntax: OutputSyntax, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    // A fix with a value of one cluster is not the fix of its template.
    let (name, (why, help)) = (syntax.name(), yaml::common_words(&error));
    error.help = help;
    error.message = match error.code.is_limit() {
        true => format!("the output cannot be checked as {name}: {why}"),
        false => format!("the output is not valid {name}: {why}"),
    };
    if error.code.is_limit() {
        error.help = None;
    }
    error.code = Code::InvalidOutput;
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_indent_nothing_but_lines_of_flow_collections_and_texts() {
        let errors = |text: &str| OutputCheck::default().errors_of_file("a.yaml", text);
        for (text, place) in [
            ("\ta: 1\n", "1:1"),
            ("\t- a\n", "1:1"),
            ("- a\n-\tb\n", "2:2"),
            ("a:\n  \tb\n", "2:3"),
            ("a: 1\n---\n\tb: 2\n", "3:1"),
        ] {
            let found = errors(text);
            assert_eq!(found.len(), 1, "{text:?}");
            let shown = found[0].to_string();
            assert!(shown.contains("a tab cannot indent") && shown.contains(&format!("a.yaml:{place}")), "{shown}");
        }
        for text in ["{\n\t\"a\": [\n\t\t1\n\t]\n}\n", "a:\tb\n", "a: |\n  x\n  \ty\n", "a: b # c\td\n"] {
            assert!(errors(text).is_empty(), "{text:?}");
        }
    }
}
