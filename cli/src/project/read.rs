//! Reading a project file into options: those with a mark, `#[arg(long, add = key("output"))]` for a key of `[output]`.

use std::any::TypeId;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::ArgExt;
use clap::{Arg, ArgAction, Command};
use dropforge::bulk::Format;
use dropforge::bulk::input;
use dropforge::diagnostics::{Code, Diagnostic, nearest};
use dropforge::text::{Source, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

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

/// The commands that read a project file.
pub(super) const COMMANDS: &[&str] = &["stamp", "check", "values", "render", "test", "console"];

/// Options that only the command line may give, because they grant something or overwrite something.
const COMMAND_LINE_ONLY: &[&str] = &["allow", "env-prefix", "force", "prune-force", "set"];

/// A key of a project file. As an extension of an option, it marks one that a project file can set.
#[derive(Debug, Clone)]
pub(crate) struct ProjectKey {
    /// The table that holds the key; empty for the top level.
    pub(super) section: &'static str,
    /// The name, or empty in a mark of an option with the same name.
    pub(super) name: String,
    /// The long option, or empty for the templates, which have none.
    pub(super) option: String,
    /// The values, unless they follow from the option.
    kind: Option<Kind>,
    /// `true` for a key that takes one value or a list of them.
    pub(super) is_list: bool,
}

/// The values of a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// True or false. The option takes no value.
    Flag,
    /// A text.
    Text,
    /// A path, relative to the folder of the project file.
    Path,
    /// Tables, which the option reads from the project file.
    Tables,
    /// One of these words, each with the word that the option takes.
    Word(&'static [(&'static str, &'static str)]),
}

impl ArgExt for ProjectKey {}

/// Marks an option that a project file can set in a table, or above all tables if `section` is empty.
pub(crate) fn key(section: &'static str) -> ProjectKey {
    ProjectKey { section, name: String::new(), option: String::new(), kind: None, is_list: false }
}

impl ProjectKey {
    /// Gives the key another name than the option has.
    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Makes texts paths.
    pub(crate) fn path(self) -> Self {
        Self { kind: Some(Kind::Path), ..self }
    }

    /// Stands for tables, which the option reads from the project file.
    pub(crate) fn tables(self) -> Self {
        Self { kind: Some(Kind::Tables), ..self }
    }

    /// Takes one of these words, each with the word that the option takes.
    pub(crate) fn words(self, words: &'static [(&'static str, &'static str)]) -> Self {
        Self { kind: Some(Kind::Word(words)), ..self }
    }

    /// Returns the key of an option that has a mark.
    pub(super) fn of(arg: &Arg) -> Option<Self> {
        let (mark, option) = (arg.get::<Self>()?.clone(), arg.get_long()?.to_owned());
        let name = if mark.name.is_empty() { option.clone() } else { mark.name };
        let kind = mark.kind.unwrap_or_else(|| match arg.get_action() {
            ArgAction::SetTrue => Kind::Flag,
            _ if arg.get_value_parser().type_id() == TypeId::of::<PathBuf>() => Kind::Path,
            _ => Kind::Text,
        });
        let is_list = matches!(arg.get_action(), ArgAction::Append);
        Some(Self { section: mark.section, name, option, kind: Some(kind), is_list })
    }

    /// Returns all keys: the templates, and the options of `definition` and of the commands that read a project file.
    pub(super) fn all(definition: &Command) -> Vec<Self> {
        let commands = COMMANDS.iter().filter_map(|name| definition.find_subcommand(name));
        let marked = commands.chain([definition]).flat_map(Command::get_arguments).filter_map(Self::of);
        let mut keys = vec![Self { is_list: true, ..key("").named("templates").path() }];
        for key in marked {
            if !keys.iter().any(|known| (known.section, &known.name) == (key.section, &key.name)) {
                keys.push(key);
            }
        }
        keys
    }

    /// Returns the argument of a command that the key stands for. Tests have no templates.
    pub(super) fn argument<'c>(&self, command: &'c Command) -> Option<&'c Arg> {
        if self.option.is_empty() {
            return command.get_positionals().next().filter(|_| command.get_name() != "test");
        }
        let is_it = |arg: &&Arg| arg.get::<Self>().is_some() && arg.get_long() == Some(&self.option);
        command.get_arguments().find(is_it)
    }

    /// Returns the kind of the values.
    pub(super) fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Text)
    }

    /// Describes the values, for errors.
    pub(super) fn wanted(&self) -> &'static str {
        match self.kind() {
            Kind::Flag => "`true` or `false`",
            _ if self.is_list => "a list of strings",
            _ => "a string",
        }
    }
}

/// Returns the names of the tables.
pub(super) fn sections(keys: &[ProjectKey]) -> impl Iterator<Item = &str> {
    keys.iter().map(|key| key.section).filter(|section| !section.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// Returns the table of `docs/project.md`: a row for each key, with the first sentence of its option's help.
    fn table(definition: &Command) -> String {
        let commands: Vec<&Command> = COMMANDS.iter().filter_map(|name| definition.find_subcommand(name)).collect();
        let (mut keys, mut section) = (ProjectKey::all(definition), "");
        keys.sort_by_key(|key| key.section);
        let mut table = String::from("| key | option | value | meaning |\n|---|---|---|---|\n");
        for key in keys {
            if std::mem::replace(&mut section, key.section) != key.section {
                let _ = writeln!(table, "| **`[{section}]`** | | | |");
            }
            let with: Vec<_> = commands.iter().filter_map(|one| Some((one.get_name(), key.argument(one)?))).collect();
            let (_, arg) = with.first().expect("a command with the key");
            let value = match key.kind() {
                Kind::Flag => "`true` or `false`".to_owned(),
                Kind::Word(words) => {
                    words.iter().map(|(word, _)| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or ")
                }
                kind => {
                    let noun = if matches!(kind, Kind::Path) { "path" } else { "text" };
                    if key.is_list { format!("list of {noun}s") } else { noun.to_owned() }
                }
            };
            let option = match key.option.as_str() {
                "" => "`TEMPLATES`, except of `test`".to_owned(),
                option if with.len() == 1 => format!("`--{option}` of `{}`", with[0].0),
                option => format!("`--{option}`"),
            };
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('|', "\\|");
            let _ = writeln!(table, "| `{}` | {option} | {value} | {help} |", key.name);
        }
        table
    }

    /// `UPDATE=1` writes the table again.
    #[test]
    fn every_key_is_documented() {
        let mut definition = crate::command::definition();
        definition.build();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/project.md");
        let page = std::fs::read_to_string(path).unwrap();
        let (before, rest) = page.split_once("<!-- keys -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- /keys -->\n").unwrap();
        let page_now = format!("{before}<!-- keys -->\n{}<!-- /keys -->\n{after}", table(&definition));
        if page != page_now && std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &page_now).unwrap();
        }
        assert!(page == page_now, "docs/project.md is out of date: run this test with UPDATE=1");
    }
}
