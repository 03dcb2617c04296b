//! Reading YAML 1.2. Most documents are read line by line; the others by a parser of events.

mod builder;
mod mistakes;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use granit_parser::{ErrorKind, Parser, ScanError};

use crate::mistake::Mistake;
use crate::yaml::{Entry, Kind, Node, Style};
use crate::{Data, Scanner};
use builder::{Builder, scalar_node};
use dropforge_base::diagnostics::{Code, Diagnostic, with_reason};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};
use mistakes::mistake;

type Errors = Vec<Box<Diagnostic>>;

/// Reads all documents of `source`. An empty document is null; an empty file has no documents.
///
/// # Errors
/// All errors up to the first syntax error: duplicate keys, unknown tags, non-scalar keys, bad merges, excessive nesting
/// and excessive copies by aliases.
pub fn read(source: &Arc<Source>, limits: &Limits) -> std::result::Result<Vec<Node>, Errors> {
    read_with(source, limits, Tags::Refused)
}

/// The treatment of tags outside the core schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tags {
    /// Such tags are errors.
    Refused,
    /// Such tags become [`Node::tag`]; a scalar is resolved as if it had no tag.
    Kept,
    /// All tags become [`Node::tag`], and the reader resolves nothing: scalars are text, keys may repeat, and `<<` is a
    /// key like any other.
    Raw,
}

/// Reads all documents of `source`, keeping or refusing unknown tags.
///
/// # Errors
/// The errors of [`read`].
pub fn read_with(source: &Arc<Source>, limits: &Limits, tags: Tags) -> std::result::Result<Vec<Node>, Errors> {
    limits.check_size(source).map_err(|error| vec![error])?;
    match read_lines(source, limits, tags) {
        Some(read) => read,
        None => read_events(source, limits, tags),
    }
}

/// Reads a source that has only common notations. `None` if it has others.
fn read_lines(source: &Arc<Source>, limits: &Limits, tags: Tags) -> Option<std::result::Result<Vec<Node>, Errors>> {
    let mut builder = Builder::new(source, limits, tags);
    Scanner::new().documents(source.text(), &mut builder)?;
    // With errors, the parser finds those of the text, too.
    builder.errors.is_empty().then(|| builder.finished())
}

/// Reads any source.
fn read_events(source: &Arc<Source>, limits: &Limits, tags: Tags) -> std::result::Result<Vec<Node>, Errors> {
    let options = granit_parser::options! { emit_comments: false };
    let mut builder = Builder::new(source, limits, tags);
    for event in Parser::new_from_str_with_options(source.text(), options) {
        let step = match event {
            Ok((event, span)) => builder.in_time().and_then(|()| builder.event(event, span)),
            Err(error) => Err(scan_error(source, limits, &error)),
        };
        if let Err(fatal) = step {
            builder.errors.push(fatal);
            break;
        }
        if builder.errors.len() >= limits.diagnostics {
            break;
        }
    }
    builder.finished().map_err(|errors| errors.into_iter().map(with_reason).collect())
}

/// Reads a source with at most one document. An empty file is null.
///
/// # Errors
/// The errors of [`read`], and a second document.
pub fn read_one(source: &Arc<Source>, limits: &Limits) -> std::result::Result<Node, Errors> {
    let mut documents = read(source, limits)?;
    if let Some(second) = documents.get(1) {
        let error = Diagnostic::new(Code::InputSyntax, "only one YAML document is allowed here").at(
            source,
            second.span,
            "a second document begins here",
        );
        return Err(vec![error]);
    }
    Ok(documents.pop().unwrap_or_else(|| scalar_node(Span::default(), Kind::Null, Style::Plain, Arc::default())))
}

/// Reads a source with at most one document as a plain value.
///
/// # Errors
/// The errors of [`read_one`].
pub fn read_data(source: &Arc<Source>, limits: &Limits) -> std::result::Result<Data, Errors> {
    read_one(source, limits).map(|node| node.to_data())
}

/// The beginning of the message of a syntax error.
const REFUSED: &str = "this is not YAML";

/// Returns what a syntax error says is wrong, and the fix, in words that are the same for all texts with this mistake: without
/// values of the text.
pub fn common_words(error: &Diagnostic) -> (String, Option<String>) {
    let is_common = |what: &&str| what.split('`').skip(1).step_by(2).all(|part| part.len() <= 2);
    let what = error.message.strip_prefix(REFUSED).and_then(|what| what.strip_prefix(": ")).filter(is_common);
    let help = error.help.clone().filter(|help| !help.contains('`'));
    (what.map_or_else(|| error.reason(), str::to_owned), help)
}

fn scan_error(source: &Arc<Source>, limits: &Limits, error: &ScanError) -> Box<Diagnostic> {
    let at = error.marker().byte_offset().unwrap_or(0);
    let next = source.text().get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let span = Span::of(at..at + next);
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return Limit::ValueDepth.error(limits.value_depth as u64).at(source, span, "");
    }
    let refused = |mistake: Mistake| mistake.report(source, 0, REFUSED).caused_by(error.info());
    let lines = if error.info().contains("tab") { usize::MAX } else { 1 };
    if let Some(at) = tab_in_indentation(source.text(), at, lines) {
        let tab = Mistake::new("a tab indents this line", at..at + 1, "indent with spaces, not with tabs");
        return refused(Mistake { label: "a tab", ..tab });
    }
    let unknown = || Mistake { what: error.info(), span: at..at + next, ..Mistake::default() };
    refused(mistake(source.text(), at, error.kind()).unwrap_or_else(unknown))
}

/// Returns the place of the first tab that indents one of some lines, beginning with the line at `at`.
fn tab_in_indentation(text: &str, at: usize, lines: usize) -> Option<usize> {
    let mut start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    for line in text.get(start..)?.split_inclusive('\n').take(lines) {
        let indentation = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        if let Some((column, _)) = indentation.enumerate().find(|(_, byte)| *byte == b'\t') {
            return Some(start + column);
        }
        start += line.len();
    }
    None
}

// Completes a map: expands merge keys and finds duplicate keys.

/// Maximum characters of a key in a message.
const SHOWN: usize = 60;

/// Takes the errors of a map, which are made only if they are shown.
type MapErrors<'r> = &'r mut dyn FnMut(&dyn Fn(&Arc<Source>) -> Box<Diagnostic>);

/// Returns the error of a duplicate key.
fn duplicate(source: &Arc<Source>, first: &Entry, second: &Entry) -> Box<Diagnostic> {
    Diagnostic::new(Code::DuplicateKey, format!("the key `{}` is given twice", shortened(&second.name)))
        .at(source, second.key.span, "again here")
        .at(source, first.key.span, "first here")
        .with_help("keep one of them; a map has each key once")
}

/// Shortens a key for a message.
fn shortened(key: &str) -> String {
    match key.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
        None => key.to_owned(),
    }
}

/// Expands `<<` and reports duplicates. Also returns the weight of the entries that merging copied.
///
/// The map's own keys win over merged ones regardless of position; among several merged maps the first wins. Merged
/// entries take the position of the merge key.
fn close_map(entries: Vec<Entry>, errors: MapErrors<'_>) -> (Vec<Entry>, u32) {
    find_duplicates(&entries, errors);
    if !entries.iter().any(is_merge) {
        return (entries, 0);
    }
    let mut seen: HashSet<Arc<str>> =
        entries.iter().filter(|entry| !is_merge(entry)).map(|entry| entry.name.clone()).collect();
    let (mut out, mut copied) = (Vec::with_capacity(entries.len()), 0_u32);
    for entry in entries {
        if !is_merge(&entry) {
            out.push(entry);
            continue;
        }
        for merged in merged_maps(&entry.value, errors) {
            for inner in merged.as_map().unwrap_or(&[]) {
                if seen.insert(inner.name.clone()) {
                    copied = copied.saturating_add(inner.key.weight).saturating_add(inner.value.weight);
                    out.push(inner.clone());
                }
            }
        }
    }
    (out, copied)
}

fn is_merge(entry: &Entry) -> bool {
    &*entry.name == "<<" && entry.key.style == Style::Plain && matches!(entry.key.kind, Kind::Str)
}

/// Returns the maps that a merge key refers to.
fn merged_maps<'n>(value: &'n Node, errors: MapErrors<'_>) -> Vec<&'n Node> {
    let candidates: Vec<&Node> = match &value.kind {
        Kind::List(items) => items.iter().collect(),
        _ => vec![value],
    };
    let bad = candidates.iter().find(|node| node.as_map().is_none());
    if let Some(bad) = bad {
        let message = format!("`<<` takes a map or a list of maps, found {}", bad.kind_name());
        errors(&|source| {
            Diagnostic::new(Code::InputSyntax, message.as_str())
                .at(source, bad.span, "")
                .with_help("write the key as `\"<<\"` if it is data")
        });
        return Vec::new();
    }
    candidates
}

fn find_duplicates(entries: &[Entry], errors: MapErrors<'_>) {
    let mut report = |first: &Entry, second: &Entry| errors(&|source| duplicate(source, first, second));
    if entries.len() <= 8 {
        for (at, entry) in entries.iter().enumerate() {
            if let Some(first) = entries.iter().take(at).find(|first| first.name == entry.name) {
                report(first, entry);
            }
        }
        return;
    }
    let mut seen: HashMap<&str, &Entry> = HashMap::with_capacity(entries.len());
    for entry in entries {
        match seen.get(&*entry.name) {
            Some(first) => report(first, entry),
            None => drop(seen.insert(&entry.name, entry)),
        }
    }
}

#[cfg(test)]
mod lines_tests;
#[cfg(test)]
mod tests;
