//! Reading a project file into options.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use dropforge::bulk::Format;
use dropforge::bulk::input;
use dropforge::diagnostics::{Code, Diagnostic, nearest};
use dropforge::text::{Source, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{COMMAND_LINE_ONLY, Kind, ProjectKey, sections};
use crate::input::{is_dash, is_url};
use crate::releases;

/// A key of the project file with its value as arguments of the command line.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) key: ProjectKey,
    /// The values, without the option. A flag that is set has one empty value.
    pub(super) values: Vec<OsString>,
    /// The places of the values, or of all of them together.
    pub(super) spans: Vec<Span>,
    pub(super) span: Span,
    /// `true` if it is among the options of the command.
    pub(super) is_used: bool,
}

type Errors = Vec<Box<Diagnostic>>;

/// Reads the settings in `source`, the text of `file`, which has these keys. Paths are relative to its folder.
///
/// # Errors
/// All of `input.syntax`, `input.duplicate_key`, and `usage` for unknown keys and values of other types.
pub(super) fn settings(source: &Arc<Source>, file: &Path, keys: &[ProjectKey]) -> Result<Vec<Setting>, Errors> {
    let dir = file.parent().unwrap_or(Path::new(""));
    // This reader refuses deep documents, which take stack to drop, and reports all errors.
    input::map(source, Format::Toml).map_err(|error| vec![error])?;
    let (table, _) = DeTable::parse_recoverable(source.text());
    let mut reader = SettingsReader { source, dir, file, keys, found: Vec::new(), errors: Vec::new() };
    reader.table("", table.get_ref());
    if reader.errors.is_empty() { Ok(reader.found) } else { Err(reader.errors) }
}

struct SettingsReader<'r> {
    source: &'r Arc<Source>,
    dir: &'r Path,
    file: &'r Path,
    keys: &'r [ProjectKey],
    found: Vec<Setting>,
    errors: Errors,
}

impl SettingsReader<'_> {
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let is_it = |key: &&ProjectKey| key.section == section && key.name == name.get_ref().as_ref();
            let is_table = || section.is_empty() && sections(self.keys).any(|one| one == name.get_ref());
            let tables = || self.keys.iter().find(|key| key.section == section && matches!(key.kind(), Kind::Tables));
            match (self.keys.iter().find(is_it), value.get_ref()) {
                _ if section.is_empty() && releases::is_key(name.get_ref()) => {
                    if let Some(key) = tables() {
                        self.tables(key, value);
                    }
                }
                (Some(key), _) => self.setting(key, value),
                (None, DeValue::Table(below)) if is_table() => self.table(name.get_ref(), below),
                (None, _) => self.unknown(section, name),
            }
        }
    }

    /// Names the project file, once, for the option that reads tables from it.
    fn tables(&mut self, key: &ProjectKey, value: &Spanned<DeValue<'_>>) {
        let span = Span::of(value.span());
        if !self.found.iter().any(|setting| setting.key.option == key.option) {
            let values = vec![self.file.as_os_str().to_owned()];
            self.found.push(Setting { key: key.clone(), values, spans: vec![span], span, is_used: false });
        }
    }

    fn setting(&mut self, key: &ProjectKey, value: &Spanned<DeValue<'_>>) {
        let span = Span::of(value.span());
        let spans = match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| Span::of(item.span())).collect(),
            _ => vec![span],
        };
        let values = match (key.kind(), value.get_ref()) {
            (Kind::Flag, DeValue::Boolean(true)) => vec![OsString::new()],
            (Kind::Flag, DeValue::Boolean(false)) => Vec::new(),
            (_, DeValue::Array(items)) if key.is_list => items.iter().filter_map(|item| self.text(key, item)).collect(),
            _ => self.text(key, value).into_iter().collect(),
        };
        self.found.push(Setting { key: key.clone(), values, spans, span, is_used: false });
    }

    /// Returns a text as the option of `key` takes it.
    fn text(&mut self, key: &ProjectKey, value: &Spanned<DeValue<'_>>) -> Option<OsString> {
        let span = Span::of(value.span());
        match (key.kind(), value.get_ref()) {
            (Kind::Word(words), DeValue::String(text)) => self.word(key, words, text, span),
            (Kind::Path, DeValue::String(text))
                if !is_dash(text.as_ref().as_ref()) && !is_url(text.as_ref().as_ref()) =>
            {
                Some(self.dir.join(text.as_ref()).into())
            }
            (Kind::Text | Kind::Path, DeValue::String(text)) => Some(text.as_ref().into()),
            _ => {
                let error = releases::wrong_type(self.source, (&key.name, key.wanted()), value);
                let example = match key.kind() {
                    Kind::Flag => "true",
                    _ if key.is_list => "[\"…\"]",
                    _ => "\"…\"",
                };
                self.errors.push(error.with_help(format!("write `{} = {example}`", key.name)));
                None
            }
        }
    }

    fn word(&mut self, key: &ProjectKey, words: &[(&str, &str)], text: &str, span: Span) -> Option<OsString> {
        if let Some((_, word)) = words.iter().find(|(known, _)| *known == text) {
            return Some(word.into());
        }
        let known = words.iter().map(|(known, _)| format!("`{known}`")).collect::<Vec<_>>().join(" or ");
        let message = format!("invalid value `{text}` for `{}`: expected {known}", key.name);
        self.errors.push(self.error(message, span));
        None
    }

    fn unknown(&mut self, section: &str, name: &Spanned<Cow<'_, str>>) {
        let (span, name) = (Span::of(name.span()), name.get_ref().as_ref());
        if COMMAND_LINE_ONLY.contains(&name) {
            let error = self.error(format!("`{name}` cannot be set in a project file"), span);
            self.errors.push(error.with_help(format!("give `--{name}` on the command line")));
            return;
        }
        let at = if section.is_empty() { String::new() } else { format!(" in `[{section}]`") };
        let error = self.error(format!("unknown key `{name}`{at}"), span);
        let keys = self.keys;
        let here = || keys.iter().filter(|key| key.section == section).map(|key| key.name.as_str());
        let tables = || sections(keys).filter(|_| section.is_empty());
        let elsewhere = keys.iter().find(|key| key.name == name || key.option == name);
        let error = match (nearest(name, here().chain(tables())), elsewhere) {
            (_, Some(ProjectKey { section: "", name, .. })) => {
                error.with_help(format!("`{name}` stands above all tables"))
            }
            (_, Some(ProjectKey { section, name, .. })) => error.with_help(format!("write `{name}` in `[{section}]`")),
            (Some(near), None) => error.with_help(format!("did you mean `{near}`?")),
            (None, None) => error,
        };
        self.errors.push(error.with_available(here().chain(tables())));
    }

    fn error(&self, message: String, span: Span) -> Box<Diagnostic> {
        Diagnostic::new(Code::Usage, message).at(self.source, span, "")
    }
}
