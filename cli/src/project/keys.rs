//! The keys of a project file, and the options they stand for.

/// A key of a project file.
#[derive(Debug)]
pub(super) struct Key {
    /// The table that holds the key; empty for the top level.
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    /// The long option, or empty for the templates, which have none.
    pub(super) option: &'static str,
    pub(super) kind: Kind,
    /// The commands that take the key. Others ignore it, even if they have an option of this name.
    pub(super) commands: &'static [&'static str],
}

/// The values of a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// True or false. The option takes no value.
    Flag,
    /// Text.
    Text,
    /// A path, relative to the folder of the project file.
    Path,
    /// One text or a list of them.
    Texts,
    /// One path or a list of them.
    Paths,
    /// One of these words, each with the word that the option takes.
    Word(&'static [(&'static str, &'static str)]),
}

impl Kind {
    /// Describes the values, for errors.
    pub(super) fn wanted(self) -> &'static str {
        match self {
            Kind::Flag => "`true` or `false`",
            Kind::Texts | Kind::Paths => "a list of strings",
            Kind::Text | Kind::Path | Kind::Word(_) => "a string",
        }
    }
}

/// The commands that read a project file.
pub(super) const COMMANDS: &[&str] = &["stamp", "check", "values", "render", "test", "console"];
/// Those whose templates the project names. Tests lie beside them, or elsewhere.
const TEMPLATES: &[&str] = &["stamp", "check", "values", "render", "console"];
const STAMP: &[&str] = &["stamp"];
const DOCUMENTS: &[&str] = &["stamp", "render"];

macro_rules! keys {
    ($($section:literal $name:literal => $option:literal, $kind:expr, $commands:expr;)*) => {
        /// All keys.
        pub(super) const KEYS: &[Key] =
            &[$(Key { section: $section, name: $name, option: $option, kind: $kind, commands: $commands }),*];
    };
}

keys! {
    "" "templates" => "", Kind::Paths, TEMPLATES;
    "" "fleet" => "fleet", Kind::Paths, COMMANDS;
    "" "fleet-format" => "fleet-format", Kind::Text, COMMANDS;
    "" "name-key" => "name-key", Kind::Text, COMMANDS;
    "" "csv-types" => "csv-types", Kind::Text, COMMANDS;
    "" "selector" => "selector", Kind::Texts, COMMANDS;
    "" "values" => "values", Kind::Paths, COMMANDS;
    "" "merge" => "merge", Kind::Text, COMMANDS;
    "" "lang" => "lang", Kind::Text, COMMANDS;
    "" "include-root" => "include-root", Kind::Path, COMMANDS;
    "" "declare" => "declare", Kind::Texts, COMMANDS;
    "" "cache-dir" => "cache-dir", Kind::Path, COMMANDS;
    "" "no-specialise" => "no-specialise", Kind::Flag, STAMP;
    "output" "dir" => "output", Kind::Path, STAMP;
    "output" "layout" => "layout", Kind::Text, STAMP;
    "output" "no-check-output" => "no-check-output", Kind::Flag, COMMANDS;
    "output" "copy" => "copy", Kind::Texts, COMMANDS;
    "output" "keep-empty" => "keep-empty", Kind::Flag, COMMANDS;
    "output" "order" => "order", Kind::Text, COMMANDS;
    "output" "format" => "output-format", Kind::Text, DOCUMENTS;
    "output" "unchecked" => "unchecked", Kind::Texts, COMMANDS;
    "output" "diff-format" => "diff-format", Kind::Text, STAMP;
    "output" "prune" => "prune", Kind::Flag, STAMP;
    "output" "fsync" => "fsync", Kind::Flag, STAMP;
    "checks" "strict" => "strict", Kind::Flag, COMMANDS;
    "checks" "schema" => "schema", Kind::Path, COMMANDS;
    "checks" "no-schema" => "no-schema", Kind::Flag, COMMANDS;
    "checks" "schema-defaults" => "schema-defaults", Kind::Flag, COMMANDS;
    "checks" "kube-schemas" => "kube-schemas", Kind::Paths, COMMANDS;
    "checks" "var-types" => "var-types", Kind::Path, COMMANDS;
    "limits" "max-source" => "max-source", Kind::Text, COMMANDS;
    "limits" "max-input" => "max-input", Kind::Text, COMMANDS;
    "tera" "dialect" => "tera", Kind::Word(&[("tera+", "plus"), ("plain", "plain")]), COMMANDS;
    "cel" "presence" => "cel-presence", Kind::Text, COMMANDS;
    "cel" "strict-let" => "strict-let", Kind::Flag, COMMANDS;
    "helm" "missing-key" => "missing-key", Kind::Text, COMMANDS;
    "tower" "render-mode" => "render-mode", Kind::Text, COMMANDS;
}

/// Options that only the command line may give, because they grant something or overwrite something.
pub(super) const COMMAND_LINE_ONLY: &[&str] = &["allow", "env-prefix", "force", "prune-force", "set"];

/// Returns the names of the tables.
pub(super) fn sections() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<_> = KEYS.iter().map(|key| key.section).filter(|section| !section.is_empty()).collect();
    names.dedup();
    names.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_an_option_and_is_documented() {
        let mut definition = crate::command::definition();
        definition.build();
        let page = include_str!("../../../docs/project.md");
        for key in KEYS {
            let mut commands = key.commands.iter().filter_map(|name| definition.find_subcommand(name));
            let has = |command: &clap::Command| {
                key.option.is_empty() || command.get_arguments().any(|arg| arg.get_long() == Some(key.option))
            };
            assert!(commands.any(has), "{key:?}");
            assert!(page.contains(&format!("`{}`", key.name)), "{key:?}");
        }
    }
}
