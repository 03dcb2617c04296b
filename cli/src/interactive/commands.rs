//! The commands of the console, lines that begin with `:`, and the values that expressions see.

use std::fmt::Write as _;

use dropforge::bulk::values::SetKind;
use dropforge::bulk::{Cluster, Layers, leaves};
use dropforge::diagnostics::{Code, Diagnostic, Result as Checked, counted};
use dropforge::engine::Dialect;
use dropforge::value::{Data, DataMap};

use super::Session;
use crate::exit::Failed;
use crate::options::dialect;
use crate::usage::{CHART, unfit};
use crate::{explain, functions, layers, values};

/// The commands with their arguments and effects.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    (":type", "EXPR", "print the type of a value"),
    (":template", "TEXT", "render TEXT as a template"),
    (":bytecode", "EXPR", "print the instructions of an expression or a template"),
    (":inputs", "[PATH]", "print the values, and where each comes from"),
    (":let", "NAME = EXPR", "set a value to the result of an expression"),
    (":set", "K=V", "set values, as --set does"),
    (":load", "FILE", "read a values file, as -f does"),
    (":cluster", "[NAME]", "use the values of a cluster of the fleet"),
    (":lang", "LANG", "change the language"),
    (":functions", "[NAME]", "list the functions of the language, or document one"),
    (":explain", "CODE", "explain an error"),
    (":clear", "", "forget the templates that stay in force"),
    (":help", "", "print this list"),
    (":quit", "", "end the console (Ctrl-D)"),
];

impl Session<'_> {
    /// Runs a command, or evaluates an expression or a template. Returns the text to print, or `None` at the end.
    ///
    /// # Errors
    /// The errors of the line.
    pub(super) fn answer(&mut self, line: &str) -> Result<Option<String>, Failed> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(Some(String::new()));
        }
        if !line.starts_with(':') {
            return self.evaluate(line).map(Some);
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match name {
            ":quit" | ":q" | ":exit" => Ok(None),
            _ => self.command(name, rest.trim()).map(Some),
        }
    }

    fn command(&mut self, name: &str, rest: &str) -> Result<String, Failed> {
        match name {
            ":type" => Ok(self.value(needed(name, rest)?)?.1 + "\n"),
            ":template" => self.template(needed(name, rest)?),
            ":bytecode" => Ok(self.compiled(needed(name, rest)?)?.disassemble_with_lines()),
            ":inputs" => self.listing(rest),
            ":let" => self.assign(rest),
            ":set" => self.set((SetKind::Typed, needed(name, rest)?.to_owned())),
            ":load" => self.load(needed(name, rest)?),
            ":cluster" => self.choose(rest),
            ":lang" => self.speak(needed(name, rest)?),
            ":functions" => Ok(functions::text(self.language, Some(rest).filter(|name| !name.is_empty()))?),
            ":explain" => explained(needed(name, rest)?),
            ":clear" => {
                self.kept.clear();
                Ok(String::new())
            }
            ":help" => Ok(help()),
            _ => {
                let error = Diagnostic::new(Code::Usage, format!("unknown command `{name}`"));
                let names = COMMANDS.iter().map(|(name, ..)| *name);
                Err(error.with_help("`:help` lists the commands").with_suggestion(name, names).into())
            }
        }
    }

    fn listing(&mut self, prefix: &str) -> Result<String, Failed> {
        let text = match self.chart_values() {
            Some(values) => below(&plain_listing(&values?), prefix),
            None => self.inputs()?.listing(prefix)?,
        };
        match text.is_empty() && !prefix.is_empty() {
            true => Err(usage(&format!("there is no value `{prefix}`"), "`:inputs` lists all").into()),
            false => Ok(text),
        }
    }

    fn assign(&mut self, rest: &str) -> Result<String, Failed> {
        let Some((name, expression)) = rest.split_once('=') else {
            return Err(usage("`:let` needs a name and an expression", "for example `:let x = 1`").into());
        };
        let (json, _) = self.value(expression.trim())?;
        self.set((SetKind::Json, format!("{}={json}", name.trim())))
    }

    /// Adds a `--set` option, unless the values are then wrong.
    fn set(&mut self, set: (SetKind, String)) -> Result<String, Failed> {
        self.args.values.sets.0.push(set);
        let checked = self.check_values();
        if checked.is_err() {
            self.args.values.sets.0.pop();
        }
        checked.map(|()| String::new())
    }

    fn load(&mut self, path: &str) -> Result<String, Failed> {
        self.args.values.values.push(path.into());
        let checked = self.check_values();
        if checked.is_err() {
            self.args.values.values.pop();
        }
        checked.map(|()| String::new())
    }

    /// Reads the values again.
    fn check_values(&mut self) -> Result<(), Failed> {
        match self.chart_values() {
            Some(values) => values.map(|_| ()),
            None => self.inputs().map(|_| ()),
        }
    }

    fn choose(&mut self, name: &str) -> Result<String, Failed> {
        if self.fleet.is_empty() {
            return Err(usage("there is no fleet", "start the console with `--fleet FLEET --cluster NAME`").into());
        }
        if name.is_empty() {
            return Ok(self.names()?);
        }
        let former = self.args.cluster.replace(name.to_owned());
        if let Err(error) = self.cluster() {
            self.args.cluster = former;
            return Err(error.into());
        }
        Ok(String::new())
    }

    fn names(&self) -> Result<String, Box<Diagnostic>> {
        let mut names = String::new();
        self.fleet.each(&mut |_, cluster| {
            names.push_str(cluster.name());
            names.push('\n');
            Ok(())
        })?;
        Ok(names)
    }

    fn speak(&mut self, id: &str) -> Result<String, Failed> {
        let language = dialect(id).map_err(|wanted| usage(&format!("there is no language `{id}`"), &wanted))?;
        if let Some(path) = self.chart() {
            return Err(unfit(":lang", path, CHART).into());
        }
        if language != self.language {
            self.kept.clear();
        }
        self.language = language;
        Ok(String::new())
    }
}

/// Returns the argument of a command that has one.
fn needed<'t>(name: &str, rest: &'t str) -> Result<&'t str, Failed> {
    let form = COMMANDS.iter().find(|(known, ..)| *known == name).map_or("", |(_, form, _)| form);
    match rest {
        "" => Err(usage(&format!("`{name}` needs an argument"), &format!("`{name} {form}`")).into()),
        rest => Ok(rest),
    }
}

fn explained(code: &str) -> Result<String, Failed> {
    match explain::named(code) {
        Some(code) => Ok(explain::text(code)),
        None => Err(usage(&format!("there is no error `{code}`"), "codes look like `E0201`").into()),
    }
}

fn help() -> String {
    let mut text = String::from("A line is an expression or a template. `\\` at its end continues it.\n\n");
    for (name, form, effect) in COMMANDS {
        let _ = writeln!(text, "  {:<24} {effect}", format!("{name} {form}"));
    }
    let languages = Dialect::ALL.map(Dialect::id).join(", ");
    text + &format!("\nLanguages: {languages}\n")
}

fn usage(message: &str, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, message).with_help(help)
}

/// Maximum number of paths that are completed.
const PATHS: usize = 10_000;

/// The merged values and where they come from.
pub(super) struct SessionInputs {
    pub(super) layers: Layers,
    pub(super) cluster: Option<Cluster>,
    pub(super) merged: DataMap,
}

impl SessionInputs {
    /// Returns a line for each value below `prefix`, with its origins.
    ///
    /// # Errors
    /// Errors of reading the values of the cluster.
    pub(super) fn listing(&self, prefix: &str) -> Checked<String> {
        let text = values::with_origins(&self.merged, self.cluster.as_ref(), &self.layers);
        Ok(below(&text, prefix))
    }
}

/// Returns the paths of all values and of the maps that hold them: `image`, `image.tag`.
pub(super) fn paths(merged: &DataMap) -> Vec<String> {
    let mut paths = Vec::new();
    leaves(merged, &mut |path, _| {
        paths.extend((1..=path.len()).filter_map(|end| path.get(..end)).map(values::dotted));
    });
    paths.sort();
    paths.dedup();
    paths.truncate(PATHS);
    paths
}

impl Session<'_> {
    /// Returns the values of the chart, if there is one.
    pub(super) fn chart_values(&mut self) -> Option<Result<DataMap, Failed>> {
        self.chart()?;
        Some(self.data(".Values").map(|mut values| match &mut values {
            Data::Map(map) => std::mem::take(map),
            _ => DataMap::default(),
        }))
    }

    /// Returns the chosen cluster.
    ///
    /// # Errors
    /// `usage` with the nearest name.
    pub(super) fn cluster(&self) -> Checked<Option<Cluster>> {
        self.args.cluster.as_deref().map(|name| values::find(&self.fleet, name)).transpose()
    }

    /// Reads and merges the values.
    ///
    /// # Errors
    /// Errors of reading and merging them.
    pub(super) fn inputs(&mut self) -> Result<SessionInputs, Failed> {
        self.files.forget_files();
        let mut given = layers::read(&self.args.values, self.files, self.stderr)?;
        given.sets.splice(..0, self.environment.iter().cloned());
        let (groups, cluster) = self.args.reading.groups_of(self.cluster()?, self.files)?;
        let layers = given.layers(&groups, self.args.reading.merge());
        let layers = self.args.schema.add_to(layers, &self.args.templates, self.files)?;
        let merged = values::merged(&layers, cluster.as_ref())?;
        Ok(SessionInputs { layers, cluster, merged })
    }
}

/// Returns the lines `path: value` of `text` that are about `prefix` or a value in it.
pub(super) fn below(text: &str, prefix: &str) -> String {
    let is_below = |line: &&str| {
        let rest = line.strip_prefix(prefix);
        rest.is_some_and(|rest| prefix.is_empty() || rest.starts_with([':', '.', '[']))
    };
    text.split_inclusive('\n').filter(is_below).collect()
}

/// Returns a line for each value of a map, without origins.
fn plain_listing(map: &DataMap) -> String {
    let mut text = String::new();
    leaves(map, &mut |path, value| {
        text.push_str(&format!("{}: {}\n", values::dotted(path), values::json(value, false)));
    });
    text
}

/// Returns the type of a value of a template language.
pub(super) fn type_of(value: &Data) -> String {
    match value {
        Data::Null => "null".to_owned(),
        Data::Bool(_) => "bool".to_owned(),
        Data::Int(_) | Data::Uint(_) => "integer".to_owned(),
        Data::Float(_) => "float".to_owned(),
        Data::Number(_) => "number".to_owned(),
        Data::Str(text) => format!("string of {}", counted(text.chars().count(), "character")),
        Data::List(elements) => format!("list of {}", counted(elements.len(), "element")),
        Data::Map(map) => format!("map of {}", counted(map.len(), "key")),
    }
}
