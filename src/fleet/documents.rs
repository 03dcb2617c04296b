//! The documents of a text that is YAML or JSON: where they begin and end, what they are, and their order.

use std::iter::Chain;
use std::ops::Range;
use std::option;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_engine::OutputSyntax;
use dropforge_helm::chart::install_rank;
use dropforge_value::{Data, Mark, find_word, word_of_entry, yaml};

/// The number of texts that decide kinds to keep, a power of two, and maximum length of each in bytes.
const HEADS: usize = 256;
const HEAD_BYTES: usize = 1_024;

/// The place of a document in the order of installation. Unknown kinds follow all others, sorted by name, and text that
/// is no document follows these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The place of a known kind, or the one after all of them with the name of the kind.
    Kind(usize, Option<Arc<str>>),
    Text,
}

impl Rank {
    /// Returns the place of a document whose kind was searched.
    fn of(document: &str, kind: Option<Option<&str>>) -> Self {
        match kind {
            Some(kind) => Self::of_kind(kind.unwrap_or_default()),
            None => Self::of_kind(read(document).get("kind").and_then(Data::as_str).unwrap_or_default()),
        }
    }

    fn of_kind(kind: &str) -> Self {
        let (at, other) = install_rank(kind);
        Self::Kind(at, Some(other).filter(|other| !other.is_empty()).map(Arc::from))
    }
}

/// The parts of documents that decide their kinds, and their places in the order of installation. The documents of one
/// cluster are like those of the cluster before, which is much cheaper to see than to search for their kinds.
#[derive(Debug, Default)]
pub(super) struct Heads(Vec<Option<(String, Rank)>>);

impl Heads {
    /// Returns the place of the `nth` document of a cluster.
    pub(super) fn rank(&mut self, nth: usize, document: &str) -> Rank {
        self.known(nth, (document, document), head_of, || find_word(document, "kind"))
    }

    /// Returns the place of a document whose entry `kind` has its value at `value`; `is_flow` is `true` in a flow map.
    fn rank_at(&mut self, document: &str, value: usize, is_flow: bool) -> Rank {
        let begin =
            document.as_bytes().get(value..).and_then(<[u8]>::first_chunk).map_or(0, |two| u128::from_le_bytes(*two));
        let mixed = (begin as u64 ^ (begin >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let head = if is_flow { flow_head_of } else { head_of };
        let text = document.get(value..).unwrap_or("");
        self.known((mixed >> 32) as usize % HEADS, (document, text), head, || {
            word_of_entry(document, value, is_flow).map(Some).or_else(|| find_word(document, "kind"))
        })
    }

    /// Returns the place of a document whose end `text` begins like the one numbered `slot`, or that of the kind that `find` finds,
    /// which `head` of the text decides.
    #[inline]
    fn known<'t>(
        &mut self,
        slot: usize,
        (document, text): (&'t str, &'t str),
        head: fn(&'t str, &str) -> Option<&'t str>,
        find: impl FnOnce() -> Option<Option<&'t str>>,
    ) -> Rank {
        if let Some(Some((head, rank))) = self.0.get(slot)
            && text.starts_with(head.as_str())
        {
            return rank.clone();
        }
        let found = find();
        let rank = Rank::of(document, found);
        let Some(Some(kind)) = found else { return rank };
        if (self.0.len()..HEADS).contains(&slot) {
            self.0.resize_with(slot + 1, || None);
        }
        if let Some(known) = self.0.get_mut(slot) {
            *known = head(text, kind).map(|head| (head.to_owned(), rank.clone()));
        }
        rank
    }
}

/// Returns the beginning of a document that decides its kind: up to the first character after the line of the kind.
fn head_of<'t>(document: &'t str, kind: &str) -> Option<&'t str> {
    let behind = (kind.as_ptr() as usize).checked_sub(document.as_ptr() as usize)? + kind.len();
    let line = memchr::memchr(b'\n', document.as_bytes().get(behind..)?)? + behind;
    let content = document.bytes().skip(line).position(|byte| !byte.is_ascii_whitespace())? + line;
    document.get(..=content).filter(|head| head.len() <= HEAD_BYTES)
}

/// Works like [`head_of`] for the text after the colon of the entry `kind` of a flow map: up to the end of the entry.
fn flow_head_of<'t>(text: &'t str, _: &str) -> Option<&'t str> {
    text.get(..=text.find([',', '}'])?).filter(|head| head.len() <= HEAD_BYTES)
}

/// Returns the documents of YAML with these marks, like [`documents_of`], with their places in the order of installation.
pub(super) fn ranked_documents(text: &str, marks: &[Mark], heads: &mut Heads) -> Vec<(Rank, Range<usize>)> {
    let mut documents = Vec::with_capacity(marks.len());
    let (mut start, mut kind) = (0, None);
    for mark in marks.iter().copied().chain([Mark::Marker(text.len(), text.len())]) {
        match mark {
            Mark::Kind(value, is_flow) => kind = Some((value, is_flow)),
            Mark::Marker(line, next) => {
                let range = std::mem::replace(&mut start, next)..line;
                let document = text.get(range.clone()).unwrap_or("");
                let rank = match kind.take() {
                    Some((value, is_flow)) => Some(heads.rank_at(document, value - range.start, is_flow)),
                    None => first_content(document).map(|_| Rank::of(document, find_word(document, "kind"))),
                };
                documents.extend(rank.map(|rank| (rank, range)));
            }
        }
    }
    documents
}

/// Returns the documents of the text of a file called `name`, or `None` if the name promises neither YAML nor JSON.
pub(super) fn documents_of<'t>(name: &str, text: &'t str) -> Option<Documents<'t>> {
    OutputSyntax::of_file(name).map(|syntax| Documents::new(text, syntax))
}

/// Reads a document. Returns null for text that is not valid.
pub(super) fn read(document: &str) -> Data {
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    let read = yaml::read_with(&Source::new("", document), &limits, yaml::Tags::Kept).unwrap_or_default();
    read.first().map_or(Data::Null, yaml::Node::to_data)
}

/// The documents of a text that have content, each with its bytes as they are. Lines with nothing but a marker are not
/// part of a document.
pub(super) struct Documents<'t> {
    text: &'t str,
    /// The start of the next document.
    at: usize,
    /// The starts of lines that may be markers. JSON has none.
    lines: Chain<option::IntoIter<usize>, Dashes<'t>>,
}

impl<'t> Iterator for Documents<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        while self.at < self.text.len() {
            let document = self.take_document();
            if first_content(document).is_some() {
                return Some(document);
            }
        }
        None
    }
}

impl<'t> Documents<'t> {
    fn new(text: &'t str, syntax: OutputSyntax) -> Self {
        let is_yaml = syntax == OutputSyntax::Yaml;
        let lines = is_yaml.then_some(0).into_iter().chain(Dashes::of(if is_yaml { text } else { "" }));
        Self { text, at: 0, lines }
    }

    /// Takes the text up to the next marker. The grammar of YAML allows no marker at the start of a line within a
    /// document, not even in a block scalar.
    fn take_document(&mut self) -> &'t str {
        let mut is_marked = false;
        for start in &mut self.lines {
            let line = self.text.get(start..).unwrap_or("");
            let length = memchr::memchr(b'\n', line.as_bytes()).map_or(line.len(), |end| end + 1);
            let document = self.text.get(self.at..start).unwrap_or("");
            let end = match marker(line.get(..length).unwrap_or("")) {
                Some(Marker::End) => start + length,
                // Directives and the marker after them stay with their document.
                Some(_) if !is_marked && has_directives(document) => {
                    is_marked = true;
                    continue;
                }
                Some(Marker::Start) => start + length,
                // So does a marker with content.
                Some(Marker::Content) if start > self.at => start,
                _ => continue,
            };
            self.at = end;
            return document;
        }
        let rest = self.text.get(self.at..).unwrap_or("");
        self.at = self.text.len();
        rest
    }
}

/// The beginnings of lines that may be markers. Searching for them is much cheaper than looking at each line.
static BEGINNINGS: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| ["\n---", "\n...", BEHIND_MARK].map(Finder::new));

/// A line that begins with a byte order mark, and the rarest byte of it.
const BEHIND_MARK: &str = "\n\u{feff}";
const MARK_BYTE: u8 = 0xEF;

/// The starts of lines after the first that may be markers, in order.
struct Dashes<'t> {
    text: &'t [u8],
    /// The next line with each of the beginnings.
    next: [Option<usize>; 3],
}

impl<'t> Dashes<'t> {
    fn of(text: &'t str) -> Self {
        let text = text.as_bytes();
        let has_mark = memchr::memchr(MARK_BYTE, text).is_some();
        let is_possible = |beginning: &Finder<'_>| has_mark || beginning.needle() != BEHIND_MARK.as_bytes();
        let first = |beginning: &Finder<'_>| line_with(beginning, if is_possible(beginning) { text } else { b"" }, 0);
        Self { text, next: BEGINNINGS.each_ref().map(first) }
    }
}

impl Iterator for Dashes<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let first = self.next.iter().flatten().min().copied()?;
        for (next, beginning) in self.next.iter_mut().zip(&*BEGINNINGS) {
            if *next == Some(first) {
                *next = line_with(beginning, self.text, first);
            }
        }
        Some(first)
    }
}

fn line_with(beginning: &Finder<'_>, text: &[u8], from: usize) -> Option<usize> {
    beginning.find(text.get(from..)?).map(|at| from + at + 1)
}

/// A line that begins or ends a document.
enum Marker {
    /// `---`, with nothing but a comment.
    Start,
    /// `---` with content after it.
    Content,
    /// `...`
    End,
}

fn marker(line: &str) -> Option<Marker> {
    if !line.starts_with(['-', '.', '\u{feff}']) {
        return None;
    }
    let line = line.trim_start_matches('\u{feff}');
    let (is_start, rest) = match (line.strip_prefix("---"), line.strip_prefix("...")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return None,
    };
    if !rest.is_empty() && !rest.starts_with([' ', '\t', '\r', '\n']) {
        return None;
    }
    Some(match rest.trim_start() {
        _ if !is_start => Marker::End,
        content if content.is_empty() || content.starts_with('#') => Marker::Start,
        _ => Marker::Content,
    })
}

/// Returns the text from the first line on that is neither blank nor a comment, without indentation.
pub(super) fn first_content(text: &str) -> Option<&str> {
    let mut rest = text;
    // Most often the first character decides.
    if text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some(text);
    }
    while !rest.is_empty() {
        let content = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if !content.starts_with('#') {
            return Some(content).filter(|content| !content.is_empty());
        }
        rest = memchr::memchr(b'\n', content.as_bytes()).and_then(|end| content.get(end..)).unwrap_or("");
    }
    None
}

/// Returns `true` if the text begins with directives such as `%YAML 1.2`, which belong to the document that follows.
fn has_directives(text: &str) -> bool {
    first_content(text).is_some_and(|content| content.starts_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        documents_of("a.yaml", text).unwrap().collect()
    }

    fn rank(document: &str) -> Rank {
        Rank::of(document, find_word(document, "kind"))
    }

    #[test]
    fn documents_keep_their_bytes() {
        assert_eq!(split("a: 1\n"), ["a: 1\n"]);
        assert_eq!(split("---\n# c\na: 1 # d\n\n---\nb: 2"), ["# c\na: 1 # d\n\n", "b: 2"]);
        assert_eq!(split("# only\n---\n\n--- # c\r\n  \n---\na: 1\r\n"), ["a: 1\r\n"]);
        assert_eq!(split("a: |\n  ---\n  x\nb: '--- '\n---x: 1\n"), ["a: |\n  ---\n  x\nb: '--- '\n---x: 1\n"]);
        assert_eq!(split("a\n...\n---\nb\n...\n"), ["a\n", "b\n"]);
        assert_eq!(split("\u{feff}---\na: 1\n\u{feff}---\nb: 2\n"), ["a: 1\n", "b: 2\n"]);
        assert_eq!(split("---\n---\n...\n---\na: 1\n...\n...\n\u{feff}b: 2\n---"), ["a: 1\n", "\u{feff}b: 2\n"]);
        assert_eq!(split(""), Vec::<&str>::new());
    }

    #[test]
    fn markers_with_content_and_directives_stay() {
        assert_eq!(split("a: 1\n--- {b: 2}\n--- |\n  c\n---\nd\n"), ["a: 1\n", "--- {b: 2}\n", "--- |\n  c\n", "d\n"]);
        assert_eq!(split("%YAML 1.2\n---\na: 1\n---\nb: 5%\n"), ["%YAML 1.2\n---\na: 1\n", "b: 5%\n"]);
    }

    #[test]
    fn json_is_one_document_and_other_text_none() {
        let json = "{\n\"a\": \"x\n---\n\"}";
        assert_eq!(documents_of("a.json", json).unwrap().collect::<Vec<_>>(), [json]);
        assert!(documents_of("motd", "a").is_none());
    }

    #[test]
    fn many_documents_take_time_in_proportion() {
        let text = "---\nkind: A\n".repeat(200_000);
        assert_eq!(split(&text).len(), 200_000);
        let markers = "%a\n---\n".repeat(20_000);
        assert_eq!(split(&markers).len(), 10_000);
    }

    #[test]
    fn documents_that_a_scan_marked_are_the_same() {
        let parts = [
            "kind: Service\n",
            "a: 1\nkind: Pod # c\n",
            "kind: Pod\n  more\n",
            "kind: Pod more\n",
            "'kind': \"Job\"\n",
            "kind: &a Pod\n",
            "kind:\n  Pod\n",
            "kind: null\n",
            "kind: Pod,x\n",
            "{kind: Pod, a: {kind: Job}}\n",
            "{ \"a\": 1,\n  \"kind\":\"Pod\" }\n",
            "- kind: Pod\n",
            "  kind: Pod\n",
            "a:\n  kind: Pod\n",
            "b: |\n  kind: Pod\n",
            "---\n",
            "--- # c\n",
            "# c\n\n",
            "kind: Alpha",
        ];
        let (mut scanner, mut heads) = (dropforge_value::Scanner::new(), Heads::default());
        for at in 0..parts.len().pow(4) {
            let part = |nth: u32| parts[at / parts.len().pow(nth) % parts.len()];
            let text: String = (0..4).map(part).collect();
            // From the second text on, lines are known.
            scanner.remember();
            if scanner.is_yaml(&text) {
                let found = ranked_documents(&text, scanner.marks(), &mut heads).into_iter();
                let found: Vec<_> = found.map(|(rank, range)| (rank, &text[range])).collect();
                let right: Vec<_> = split(&text).into_iter().map(|document| (rank(document), document)).collect();
                assert_eq!(found, right, "{text:?}");
            }
        }
    }

    #[test]
    fn documents_that_begin_alike_have_one_place() {
        let mut heads = Heads::default();
        let texts = [
            "a: 1\nkind: Pod\nb: 1\n",
            "a: 1\nkind: Pod\nb: 2\n",
            // The value goes on in the next line, or the key is another.
            "a: 1\nkind: Pod\n b: 2\n",
            "a: 1\nkind: Pods\nb: 2\n",
            "a: 1\nkind: Pod\n",
            "a: 1\nkind: Pod\n  more\n",
            "a: 2\nkind: Job # c\n\n\nb: 1",
            "a: 2\nkind: Job # c\n\n\n b: 1",
            "a: 2\nkind: \"Job\"\né: 1",
            "{kind: Pod}",
            "",
        ];
        for (nth, text) in texts.iter().flat_map(|text| [(0, text), (3, text), (0, text)]) {
            assert_eq!(heads.rank(nth, text), rank(text), "{nth}: {text:?}");
        }
        assert!(heads.0.len() == 4 && heads.0[1].is_none());
    }

    #[test]
    fn kinds_are_installed_in_the_order_of_helm() {
        let kind = |kind: &str| rank(&format!("kind: {kind}\n"));
        let order = ["PriorityClass", "Namespace", "Secret", "Deployment", "APIService", "Alpha", "Zeta"].map(kind);
        assert!(order.is_sorted());
        assert_eq!(rank("{kind: Namespace, a: 1}"), kind("Namespace"));
        assert_eq!(rank("metadata:\n  kind: Namespace\n"), kind(""));
        assert!(kind("Zeta") < Rank::Text && rank("a: b: c") == kind(""));
        // Helm 4 has an order for webhooks. Other kinds come after them.
        assert!(kind("APIService") < kind("ValidatingWebhookConfiguration"));
        assert!(kind("ValidatingWebhookConfiguration") < kind("Certificate"));
    }
}
