//! What an import leaves out, and the errors of what it reads.

use std::sync::Arc;

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::text::{Source, Span};

/// The end of the note about keys that act when releases are installed.
const NOT_RENDERED: &str = ": no rendered output depends on this";

/// A place in a file.
pub(super) type Place = (Arc<Source>, Span);

/// A part of the imported files that is not translated.
#[derive(Debug)]
pub(super) struct Note {
    message: String,
    help: String,
    place: Option<Place>,
    /// The number of other places with the same message.
    more: usize,
    /// The release that it is about.
    release: Option<String>,
}

/// Notes and errors of an import.
#[derive(Debug, Default)]
pub(super) struct Notes {
    found: Vec<Note>,
    pub(super) errors: Vec<Box<Diagnostic>>,
}

impl Notes {
    /// Notes that something is left out. A message that is known already counts as one more place.
    pub(super) fn left_out(&mut self, place: Option<Place>, message: impl Into<String>, help: impl Into<String>) {
        self.left_out_of(None, place, message, help);
    }

    /// Works like [`Notes::left_out`], for a part of a release.
    pub(super) fn left_out_of(
        &mut self,
        release: Option<&str>,
        place: Option<Place>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let message = message.into();
        let is_at = |note: &Note| match (&note.place, &place) {
            (Some((source, span)), Some((other, at))) => source.name() == other.name() && span == at,
            (None, None) => true,
            _ => false,
        };
        if let Some(known) = self.found.iter_mut().find(|note| note.message == message) {
            known.more += usize::from(!is_at(known));
            return;
        }
        let release = release.map(str::to_owned);
        self.found.push(Note { message, help: help.into(), place, more: 0, release });
    }

    /// Notes a key that acts when releases are installed, with all others of that kind in one note.
    pub(super) fn at_installation(&mut self, place: Place, key: &str) {
        let key = format!("`{key}`");
        let help = "set what you need of it where the files are applied";
        let Some(note) = self.found.iter_mut().find(|note| note.help == help) else {
            return self.left_out(Some(place), format!("{key}{NOT_RENDERED}"), help);
        };
        let known = note.message.trim_end_matches(NOT_RENDERED).to_owned();
        if !known.split(", ").any(|other| other == key) {
            note.message = format!("{known}, {key}{NOT_RENDERED}");
        }
    }

    /// Adds an error about the structure of the imported files.
    pub(super) fn wrong(&mut self, place: Place, message: impl Into<String>) {
        self.error(Diagnostic::new(Code::InputStructure, message).at(&place.0, place.1, ""));
    }

    /// Adds an error, unless it is known: files are read once for each environment.
    pub(super) fn error(&mut self, error: Box<Diagnostic>) {
        let is_same = |known: &Diagnostic| known.message == error.message && known.position() == error.position();
        if !self.errors.iter().any(|known| is_same(known)) {
            self.errors.push(error);
        }
    }

    /// Returns the number of parts that are left out.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns the notes as warnings.
    pub(super) fn warnings(&self) -> impl Iterator<Item = Box<Diagnostic>> {
        self.found.iter().map(|note| {
            let found = Diagnostic::warning(Code::NotTranslated, &*note.message).with_help(&*note.help);
            let found = match &note.place {
                Some((source, span)) => found.at(source, *span, ""),
                None => found,
            };
            match note.more {
                0 => found,
                1 => found.with_note("the same in another place"),
                more => found.with_note(format!("the same in {more} other places")),
            }
        })
    }

    /// Returns comments about a release, or about no release that the project has.
    pub(super) fn comments(&self, is_meant: &dyn Fn(Option<&str>) -> bool) -> String {
        let meant = self.found.iter().filter(|note| is_meant(note.release.as_deref()));
        meant.map(Note::comment).collect()
    }
}

impl Note {
    fn comment(&self) -> String {
        let at = self.place.as_ref().map(|(source, span)| {
            let position = source.position(span.start);
            format!("{}:{}: ", source.path(), position.line)
        });
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (message, help) = (one_line(&self.message), one_line(&self.help));
        format!("# TODO {}{message}\n#   {help}\n", at.unwrap_or_default())
    }
}
