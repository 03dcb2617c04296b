//! Files outside a project, whose text errors do not show: anyone may have written the project file that names them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::Diagnostic;
use dropforge::text::Source;

use crate::input::repository;

/// The files whose text is shown.
#[derive(Debug)]
pub(crate) struct SeenFiles {
    /// The repository of the project, or its folder.
    root: PathBuf,
    /// The words of the user's command line, up to the first wildcard.
    words: Vec<String>,
}

impl SeenFiles {
    /// Returns the files around a project file, and those that the user has named.
    pub(crate) fn of(project: &Path, args: &[OsString]) -> Option<Self> {
        let file = project.canonicalize().ok()?;
        let root = repository(&file).or_else(|| file.parent().map(Path::to_owned))?;
        let words = args.iter().skip(1).filter_map(|arg| arg.to_str()).map(named).filter(|word| !word.is_empty());
        Some(Self { root, words: words.map(str::to_owned).collect() })
    }

    /// Takes the excerpts of other files out of a diagnostic.
    pub(crate) fn hide_others(&self, diagnostic: &mut Diagnostic) {
        let mut names = Vec::new();
        for label in diagnostic.labels.iter_mut().filter(|label| !self.has(label.source.path())) {
            names.push(label.source.path().to_owned());
            label.source = Source::unseen(&label.source);
        }
        names.dedup();
        let note = |name: String| format!("`{name}` is outside the project, so its text is not shown");
        diagnostic.notes.extend(names.into_iter().map(note));
        diagnostic.also.iter_mut().for_each(|other| self.hide_others(other));
    }

    /// Returns `true` for a file of the project or of the user, and for texts that are in no file.
    fn has(&self, path: &str) -> bool {
        self.words.iter().any(|word| path.starts_with(word))
            || Path::new(path).canonicalize().map_or(true, |file| file.starts_with(&self.root))
    }
}

/// Returns the part of a word of the command line that is the start of a path.
fn named(word: &str) -> &str {
    let value = word.strip_prefix('-').map_or(word, |option| option.split_once('=').map_or("", |(_, value)| value));
    let end = value.find(['*', '?', '[', '{']).unwrap_or(value.len());
    value.get(..end).unwrap_or("").trim_start_matches("./").trim_end_matches('.')
}
