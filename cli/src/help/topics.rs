//! Help for languages, files and environment variables, read from `topics.md`.

/// Sections: `## WORD, WORD` and a text.
const TEXT: &str = include_str!("topics.md");

/// Returns the text about a word: one of a heading, or the name of a file with an extension of a heading.
pub(super) fn page(word: &str) -> Option<String> {
    let named = sections().find(|(names, _)| names.clone().any(|name| name == word));
    let by_extension = || {
        let longest = |names: std::str::Split<'static, &str>| {
            names.filter(|name| name.starts_with('.') && word.ends_with(name)).map(str::len).max()
        };
        let found = sections().filter_map(|(names, text)| Some((longest(names)?, text)));
        found.max_by_key(|(length, _)| *length).map(|(_, text)| text)
    };
    let text = named.map(|(_, text)| text).or_else(by_extension)?;
    Some(format!("{}\n", text.trim()))
}

/// Returns the words of all headings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    sections().flat_map(|(names, _)| names)
}

/// Returns the words of each heading and the text below it.
fn sections() -> impl Iterator<Item = (std::str::Split<'static, &'static str>, &'static str)> {
    TEXT.split("\n## ").filter_map(|section| {
        let (heading, text) = section.trim_start_matches("## ").split_once('\n')?;
        Some((heading.trim().split(", "), text))
    })
}
