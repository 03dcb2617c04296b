//! The configuration file of the service: its keys are the options of `serve`.
//!
//! The values are put into the command line, where the user and the environment give none. So each option is a key, and
//! is read, checked and described in one place.

use std::any::TypeId;
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use dropforge::bulk::Format;
use dropforge::bulk::input;
use dropforge::diagnostics::{Code, Diagnostic, nearest};
use dropforge::text::{Source, Span};
use dropforge_catalog::store;

use crate::exit::Failed;
use crate::input::InputFiles;
use crate::project::{is_given, position};

const COMMAND: &str = "serve";

/// Adds the options of the configuration file to the arguments, if they run `serve` with one.
///
/// # Errors
/// Errors of reading the file, all with the exit of a usage error.
pub(crate) fn expand(command: &Command, args: &mut Vec<OsString>, files: &mut InputFiles) -> Result<(), Failed> {
    // Other commands do not pay for reading the arguments twice.
    if !args.iter().any(|arg| arg == COMMAND) {
        return Ok(());
    }
    let mut lenient = command.clone().ignore_errors(true);
    let Ok(matches) = lenient.try_get_matches_from_mut(args.iter()) else { return Ok(()) };
    let Some((COMMAND, given)) = matches.subcommand() else { return Ok(()) };
    let Some(definition) = lenient.find_subcommand(COMMAND) else { return Ok(()) };
    let Some(path) = given.get_one::<PathBuf>("config") else { return Ok(()) };
    let chdir = given.get_one::<PathBuf>("chdir").cloned().unwrap_or_default();
    let max = given.get_one::<u64>("max_input").copied().unwrap_or(u64::MAX);
    files.set_max_bytes(max);
    let read = files.read(&chdir.join(path), "--config -").map_err(|error| Failed::usage(vec![error]))?;
    let source = Source::new(path.display().to_string(), read.text());
    let dir = path.parent().unwrap_or(Path::new("")).to_owned();
    let reader = ConfigReader {
        source: &source,
        dir: &dir,
        command,
        definition,
        given,
        options: Vec::new(),
        errors: Vec::new(),
    };
    let options = reader.read().map_err(Failed::usage)?;
    let at = position(command, args);
    args.splice(at..at, options);
    Ok(())
}

struct ConfigReader<'r> {
    source: &'r Arc<Source>,
    dir: &'r Path,
    command: &'r Command,
    definition: &'r Command,
    given: &'r ArgMatches,
    options: Vec<OsString>,
    errors: Vec<Box<Diagnostic>>,
}

impl ConfigReader<'_> {
    fn read(mut self) -> Result<Vec<OsString>, Vec<Box<Diagnostic>>> {
        // This reader refuses deep documents, which take stack to drop, and reports all errors.
        input::map(self.source, Format::Toml).map_err(|error| vec![error])?;
        let source = self.source.clone();
        let (table, _) = DeTable::parse_recoverable(source.text());
        for (name, value) in table.get_ref() {
            match keys(self.definition).find(|arg| arg.get_long() == Some(name.get_ref())) {
                Some(arg) => self.option(arg, value),
                None => self.unknown(name),
            }
        }
        if self.errors.is_empty() { Ok(self.options) } else { Err(self.errors) }
    }

    fn option(&mut self, arg: &Arg, value: &Spanned<DeValue<'_>>) {
        let long = arg.get_long().unwrap_or_default();
        let takes =
            |count| arg.get_num_args().is_some_and(|range| (range.min_values()..=range.max_values()).contains(&count));
        let argument = match value.get_ref() {
            DeValue::Boolean(true) if takes(0) => format!("--{long}").into(),
            DeValue::Boolean(false) if takes(0) => return,
            DeValue::String(text) if takes(1) => self.text(arg, text),
            DeValue::Integer(number) if takes(1) => format!("--{long}={number}").into(),
            other => {
                let wanted = if takes(1) { "a string or an integer" } else { "`true` or `false`" };
                let message = format!("`{long}` must be {wanted}, found {}", other.type_str());
                return self.refuse(message, value);
            }
        };
        self.check(long, &argument, value);
        if !is_given(arg, self.given) && !self.conflicts(arg) {
            self.options.push(argument);
        }
    }

    /// A text as an argument. Relative paths are relative to the folder of the file.
    fn text(&self, arg: &Arg, text: &str) -> OsString {
        let long = arg.get_long().unwrap_or_default();
        let mut argument = OsString::from(format!("--{long}="));
        let is_path = match store::file(text) {
            Ok(Some(file)) if long == "db" => file == text && file != ":memory:",
            _ => arg.get_value_parser().type_id() == TypeId::of::<PathBuf>(),
        };
        if is_path {
            argument.push(self.dir.join(text))
        } else {
            argument.push(text)
        }
        argument
    }

    /// Checks a value as the option does.
    fn check(&mut self, long: &str, argument: &OsString, value: &Spanned<DeValue<'_>>) {
        let args = [OsString::from("dropforge"), COMMAND.into(), argument.clone()];
        let Err(error) = self.command.clone().try_get_matches_from(args) else { return };
        if matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
            let reason = std::error::Error::source(&error).map(|reason| format!(": {reason}")).unwrap_or_default();
            self.refuse(format!("invalid value for `{long}`{reason}"), value);
        }
    }

    /// Returns `true` if the command line or the environment gives an option that excludes this one.
    fn conflicts(&self, arg: &Arg) -> bool {
        let excludes = |one: &Arg, other: &Arg| self.definition.get_arg_conflicts_with(one).contains(&other);
        let mut others = self.definition.get_arguments().filter(|other| is_given(other, self.given));
        others.any(|other| excludes(arg, other) || excludes(other, arg))
    }

    fn refuse(&mut self, message: String, value: &Spanned<DeValue<'_>>) {
        let error = Diagnostic::new(Code::Usage, message).at(self.source, Span::of(value.span()), "");
        self.errors.push(error);
    }

    fn unknown(&mut self, name: &Spanned<Cow<'_, str>>) {
        let (span, name) = (Span::of(name.span()), name.get_ref().as_ref());
        let error = Diagnostic::new(Code::Usage, format!("unknown key `{name}`")).at(self.source, span, "");
        let known = || keys(self.definition).filter_map(Arg::get_long);
        let error = match nearest(name, known()) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        };
        self.errors.push(error.with_available(known()));
    }
}

/// The options that can be keys.
fn keys(definition: &Command) -> impl Iterator<Item = &Arg> {
    let own =
        |arg: &&Arg| !arg.is_global_set() && !matches!(arg.get_long(), None | Some("config" | "help" | "version"));
    definition.get_arguments().filter(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_in_the_documentation_is_an_option() {
        let mut definition = crate::command::definition();
        definition.build();
        let serve = definition.find_subcommand(COMMAND).unwrap();
        let page = include_str!("../../../docs/operating.md");
        let options: Vec<_> = keys(serve).filter_map(Arg::get_long).collect();
        let table = page.split("| key | value |").nth(1).unwrap().split("\n\n").next().unwrap();
        let names: Vec<_> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        assert!(names.len() >= 10, "{names:?}");
        for name in names {
            assert!(options.contains(&name), "{name}");
        }
    }
}
