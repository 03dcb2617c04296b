//! The explanations, read from the Markdown files in `texts/`.

use dropforge::diagnostics::Code;

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

/// Returns an indented block, behind empty lines.
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
