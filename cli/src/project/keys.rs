//! The keys of a project file: options with a mark.
//!
//! `#[arg(long, add = key("output"))]` on the declaration of an option makes it a key of the table `[output]`.

use std::any::TypeId;
use std::path::PathBuf;

use clap::builder::ArgExt;
use clap::{Arg, ArgAction, Command};

/// The commands that read a project file.
pub(super) const COMMANDS: &[&str] = &["stamp", "check", "values", "render", "test", "console"];

/// Options that only the command line may give, because they grant something or overwrite something.
pub(super) const COMMAND_LINE_ONLY: &[&str] = &["allow", "env-prefix", "force", "prune-force", "set"];

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
