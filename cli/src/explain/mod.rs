//! `dropforge explain`: causes, examples and fixes of errors.

use crate::exit::{Exit, Failed};
use crate::output::{print, wrapped};
use clap::Args;
use dropforge::diagnostics::{Code, Diagnostic};
use serde_json::{Value, json};

/// Explain an error: its cause, an example, and the fix
///
///     dropforge explain E0201
///     dropforge explain name.undefined_variable
///
/// Without a code, all codes are listed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExplainArgs {
    /// Explain the error with this code or name
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// Print the page of the documentation: all errors, as Markdown
    #[arg(long, conflicts_with_all = ["code", "json"])]
    markdown: bool,
    /// Print a JSON array of one error, or of all
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<Exit, Failed> {
    let one = args.code.as_ref().map(|code| found(code)).transpose()?;
    print(match one {
        _ if args.json => {
            let codes = one.as_ref().map_or(Code::ALL, std::slice::from_ref);
            format!("{:#}\n", codes.iter().map(|code| to_json(*code)).collect::<Value>())
        }
        Some(code) => text(code),
        None if args.markdown => page(),
        None => Code::ALL.iter().map(|code| format!("{}  {}\n", code.id(), code.title())).collect(),
    })?;
    Ok(Exit::Ok)
}

/// Returns the code with an id, in any case, or a name.
pub(crate) fn named(code: &str) -> Option<Code> {
    Code::named(code).or_else(|| Code::named(&code.to_uppercase()))
}

fn found(code: &str) -> Result<Code, Box<Diagnostic>> {
    named(code).ok_or_else(|| {
        let names = || Code::ALL.iter().flat_map(|code| [code.id(), code.name()]);
        let error = Diagnostic::new(Code::Usage, format!("there is no error `{code}`"));
        error.with_help("`dropforge explain` lists all errors").with_suggestion(code, names())
    })
}

/// Returns the explanation for a terminal.
pub(crate) fn text(code: Code) -> String {
    let mut text = format!("{} ({}): {}\n\n", code.id(), code.name(), code.title());
    let Some(entry) = Entry::of(code) else { return text };
    text.push_str(&format!("{}\n\n", entry.cause));
    for (path, content) in &entry.files {
        text.push_str(&format!("{path}:\n\n{}\n", indented(content)));
    }
    entry.commands.iter().for_each(|command| text.push_str(&format!("    $ {command}\n")));
    text.push_str(if entry.commands.is_empty() { "" } else { "\n" });
    text.push_str(&format!("Fix: {}\n", entry.fix));
    wrapped(&text)
}

fn to_json(code: Code) -> Value {
    let entry = Entry::of(code).unwrap_or_default();
    let file = |(path, content): &(String, String)| json!({"path": path, "content": content});
    json!({
        "code": code.id(), "name": code.name(), "title": code.title(), "cause": entry.cause,
        "files": entry.files.iter().map(file).collect::<Value>(), "commands": entry.commands,
        "no_example": entry.no_example, "fix": entry.fix,
    })
}

fn indented(content: &str) -> String {
    content.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// Returns the page of all errors.
fn page() -> String {
    let mut page = "# Errors\n\n\
        Every error and warning has a code. `dropforge explain CODE` prints the text below. This page is generated: \
        `dropforge explain --markdown`.\n"
        .to_owned();
    for code in Code::ALL {
        page.push_str(&format!("\n## {}: {}\n\n`{}`\n\n", code.id(), code.title(), code.name()));
        let Some(entry) = Entry::of(*code) else { continue };
        page.push_str(&format!("{}\n\n", entry.cause));
        for (path, content) in &entry.files {
            page.push_str(&format!("`{path}`:\n\n```\n{content}```\n\n"));
        }
        let commands: String = entry.commands.iter().map(|command| format!("$ {command}\n")).collect();
        page.push_str(&if commands.is_empty() { String::new() } else { format!("```\n{commands}```\n\n") });
        page.push_str(&format!("Fix: {}\n", entry.fix));
    }
    page
}

/// The files, one for each range of codes.
const TEXTS: [&str; 11] = [
    include_str!("texts/syntax.md"),
    include_str!("texts/names.md"),
    include_str!("texts/values.md"),
    include_str!("texts/functions.md"),
    include_str!("texts/templates.md"),
    include_str!("texts/limits.md"),
    include_str!("texts/intents.md"),
    include_str!("texts/inputs.md"),
    include_str!("texts/files.md"),
    include_str!("texts/catalog.md"),
    include_str!("texts/stores.md"),
];

/// The explanation of a code.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The cause.
    pub cause: String,
    /// The files of the example: paths and contents.
    pub files: Vec<(String, String)>,
    /// The commands of the example. The last one prints the code.
    pub commands: Vec<String>,
    /// The reason why there is no example.
    pub no_example: Option<String>,
    /// The fix.
    pub fix: String,
}

impl Entry {
    /// Returns the explanation of a code.
    pub fn of(code: Code) -> Option<Entry> {
        TEXTS.iter().flat_map(|text| text.split("\n## ")).find_map(|section| {
            let (heading, body) = section.trim_start_matches("## ").split_once('\n')?;
            (heading.trim() == code.id()).then(|| Entry::read(body))
        })
    }

    fn read(body: &str) -> Entry {
        let mut entry = Entry::default();
        let mut lines = body.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(path) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
                entry.files.push((path.to_owned(), block(&mut lines)));
            } else if line == "Run:" {
                let commands = block(&mut lines);
                entry.commands.extend(commands.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned));
            } else if let Some(why) = line.strip_prefix("No example: ") {
                entry.no_example = Some(why.to_owned());
            } else if let Some(fix) = line.strip_prefix("Fix: ") {
                entry.fix = fix.to_owned();
            } else if !line.is_empty() {
                let to = if entry.fix.is_empty() { &mut entry.cause } else { &mut entry.fix };
                to.push_str(if to.is_empty() { "" } else { " " });
                to.push_str(line);
            }
        }
        entry
    }
}

/// Returns an indented block, after empty lines.
fn block<'l>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'l str>>) -> String {
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with("    ")) {
        if !(line.is_empty() && text.is_empty()) {
            text.push_str(line.strip_prefix("    ").unwrap_or(line));
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
