//! Relative links of pages, and those that lead nowhere in the built book.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use pulldown_cmark::{Event, Options, Parser, Tag};
use regex::Regex;

/// A link of a page.
#[derive(Debug)]
pub struct Link {
    /// The page, from the root of the repository.
    pub page: PathBuf,
    /// The line of the page.
    pub line: usize,
    /// The target as it is written.
    pub target: String,
}

impl Link {
    /// Returns the file that the link leads to, from the root of the repository.
    pub fn path(&self) -> Option<PathBuf> {
        let file = self.target.split('#').next().unwrap_or_default();
        if file.is_empty() {
            return Some(self.page.clone());
        }
        let mut path = self.page.parent().unwrap_or(Path::new("")).to_owned();
        for part in Path::new(file).components() {
            match part {
                Component::ParentDir if !path.pop() => return None,
                Component::ParentDir | Component::CurDir => {}
                part => path.push(part),
            }
        }
        Some(path)
    }

    fn anchor(&self) -> Option<&str> {
        self.target.split_once('#').map(|(_, anchor)| anchor)
    }
}

/// Returns the relative links of a page.
pub fn of(page: PathBuf, text: &str) -> Vec<Link> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).into_offset_iter();
    let links = events.filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some((dest_url.into_string(), range)),
        _ => None,
    });
    let line = |at: usize| text.get(..at).map_or(0, |before| before.matches('\n').count() + 1);
    links
        .filter(|(target, _)| !target.contains("://") && !target.starts_with("mailto:"))
        .map(|(target, range)| Link { page: page.clone(), line: line(range.start), target })
        .collect()
}

/// Returns a message for each link that leads to no file or no anchor of the built book.
pub fn broken(links: &[Link], book: &Path) -> Result<Vec<String>> {
    let id = Regex::new(" id=\"([^\"]*)\"")?;
    let mut anchors: HashMap<PathBuf, HashSet<String>> = HashMap::new();
    let mut messages = Vec::new();
    for link in links {
        let built = link.path().map(|path| book.join(html(&path)));
        let problem = match built.filter(|path| path.is_file()) {
            None => Some("no such file in the book"),
            Some(path) => {
                if !anchors.contains_key(&path) {
                    let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                    anchors.insert(path.clone(), id.captures_iter(&text).map(|found| found[1].to_owned()).collect());
                }
                let is_there = link.anchor().is_none_or(|anchor| anchors[&path].contains(anchor));
                (!is_there).then_some("no such heading")
            }
        };
        if let Some(problem) = problem {
            messages.push(format!("{}:{}: {}: {problem}", link.page.display(), link.line, link.target));
        }
    }
    Ok(messages)
}

/// Returns the path in the built book of a file of the repository.
fn html(path: &Path) -> PathBuf {
    match path.file_name() {
        Some(name) if name == "README.md" => path.with_file_name("index.html"),
        _ if path.extension().is_some_and(|extension| extension == "md") => path.with_extension("html"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_have_their_file_line_and_target() {
        let book = tempfile::tempdir().unwrap();
        fs::create_dir(book.path().join("docs")).unwrap();
        fs::write(book.path().join("docs/a.html"), "<h2 id=\"here\">x</h2>").unwrap();
        fs::write(book.path().join("index.html"), "").unwrap();
        let text = "[x](a.md#here) [x](https://example.com)\n`[x](code.md)` [x](../README.md)\n\n\
                    [x](b.md) [x](#there) [x](a.md#no) [x](../../../x)\n";
        let links = of(PathBuf::from("docs/a.md"), text);
        assert_eq!(links.len(), 6);
        let messages = broken(&links, book.path()).unwrap();
        let wanted = ["b.md: no such file in the book", "#there: no such heading", "a.md#no: no such heading"];
        assert_eq!(messages[..3], wanted.map(|message| format!("docs/a.md:4: {message}")));
        assert_eq!(messages[3], "docs/a.md:4: ../../../x: no such file in the book");
    }
}
