//! The text of a state: a section for each cluster, with a line for each file.
//!
//! ```text
//! # cluster eu-1
//! # values 9e41 4f1a2b3c
//! eu-1/app.yaml - templates/app.yaml.tera 3fd8… 4f1a2b3c
//! ```
//!
//! A line has the path, the release, the template, the BLAKE3 digest of the content, the id of the run, and for an object
//! its ETag. `-` stands for nothing. `# values` has the digest of the values that the cluster had of its own in a run.
//! Lines are sorted, so a merge of two branches conflicts only where both changed the same files.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dropforge_base::stdlib::strings::is_hex;

/// The start of the line of a cluster.
const CLUSTER: &str = "# cluster ";
/// The start of the line with a digest of values.
const VALUES: &str = "# values ";
/// Nothing, in a line.
const NONE: &str = "-";
/// The number of hexadecimal digits of a digest.
const DIGITS: usize = 64;
/// The name of the file of a cluster without a name, which a run without a fleet has.
const UNNAMED: &str = "@none";
/// The name of the file of all clusters, in places that have one for all.
pub(super) const ALL: &str = "@all";
/// Maximum length of the name of a cluster in that of its file, and the length of what is kept of a longer one.
const MAX_NAME: usize = 200;
/// The number of hexadecimal digits that tell long names apart.
const LONG: usize = 16;

/// A line of a state.
#[derive(Debug)]
pub(super) enum Line<'l> {
    Cluster(Cow<'l, str>),
    Values { digest: &'l str, run: &'l str },
    File(FileLine<'l>),
}

/// The line of a file.
#[derive(Debug)]
pub(super) struct FileLine<'l> {
    pub path: Cow<'l, str>,
    pub release: Cow<'l, str>,
    /// The template, or an empty string.
    pub template: Cow<'l, str>,
    /// One digest, or those of both sides of a merge with commas between.
    pub digests: &'l str,
    /// The id of the run, or an empty string.
    pub run: &'l str,
    /// The ETag of an object, or an empty string.
    pub tag: Cow<'l, str>,
}

impl<'l> Line<'l> {
    /// Parses a line. Returns `None` for other text.
    pub fn parse(line: &'l str) -> Option<Self> {
        if let Some(name) = line.strip_prefix(CLUSTER) {
            return Some(Self::Cluster(decoded(name)?));
        }
        if let Some(rest) = line.strip_prefix(VALUES) {
            let (digest, run) = rest.split_once(' ')?;
            return (is_word(digest) && is_word(run)).then_some(Self::Values { digest, run });
        }
        FileLine::parse(line).map(Self::File)
    }
}

impl<'l> FileLine<'l> {
    /// Parses a line. States have very many, so each is looked through as few times as possible.
    fn parse(line: &'l str) -> Option<Self> {
        let ([path, release, template, digests, run, tag], has_escapes) = Self::fields(line)?;
        let text = |field: &'l str| if has_escapes { decoded(field) } else { Some(Cow::Borrowed(plain(field))) };
        let (path, release, template, tag) = (text(path)?, text(release)?, text(template)?, text(tag)?);
        (!path.is_empty() && are_digests(digests)).then_some(Self {
            path,
            release,
            template,
            digests,
            run: plain(run),
            tag,
        })
    }

    /// Splits a line at its blanks, and tells whether it has escapes. The last field may be missing. Returns `None` for too few
    /// or too many fields.
    fn fields(line: &'l str) -> Option<([&'l str; 6], bool)> {
        let (mut fields, mut start, mut count, mut has_escapes) = ([""; 6], 0, 0, false);
        for end in memchr::memchr2_iter(b' ', b'%', line.as_bytes()).chain([line.len()]) {
            if line.as_bytes().get(end) == Some(&b'%') {
                has_escapes = true;
                continue;
            }
            *fields.get_mut(count)? = line.get(start..end)?;
            (start, count) = (end + 1, count + 1);
        }
        let are_there = fields.iter().take(5).all(|field| !field.is_empty());
        are_there.then_some((fields, has_escapes))
    }
}

/// Returns `true` for the digest of a file, or several with commas between.
fn are_digests(text: &str) -> bool {
    let is_digest = |one: &str| one.len() == DIGITS && is_hex(one);
    is_digest(text) || split(text, b',').all(is_digest)
}

/// Returns the text of a field without escapes.
fn plain(field: &str) -> &str {
    if field == NONE { "" } else { field }
}

/// Splits a text at an ASCII character.
pub(super) fn split(text: &str, at: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(end) = memchr::memchr(at, text.as_bytes()) else { return Some(text) };
        rest = text.get(end + 1..);
        text.get(..end)
    })
}

/// Splits a line at its blanks.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    split(line, b' ')
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(' ')
}

/// Appends the line of a cluster.
pub(super) fn push_cluster(name: &str, to: &mut String) {
    to.push_str(CLUSTER);
    push_field(name, to);
    to.push('\n');
}

/// Appends the line with the digest of a cluster's values.
pub(super) fn push_values(digest: &str, run: &str, to: &mut String) {
    to.push_str(VALUES);
    push_field(digest, to);
    to.push(' ');
    to.push_str(run);
    to.push('\n');
}

/// Appends the line of a file. `origin` has the fields of its release and its template, and `run` that of its run.
pub(super) fn push_file(path: &str, origin: &str, digests: &str, (run, tag): (&str, &str), to: &mut String) {
    push_field(path, to);
    to.extend([" ", origin, " ", digests, " ", run]);
    if !tag.is_empty() {
        to.push(' ');
        push_field(tag, to);
    }
    to.push('\n');
}

/// Appends a field. It has no blanks, and no characters that begin comments and the marks of conflicts.
pub(super) fn push_field(text: &str, to: &mut String) {
    match text {
        "" => to.push_str(NONE),
        NONE => to.push_str("%2D"),
        _ if !text.bytes().any(is_escaped) => to.push_str(text),
        _ => text.chars().for_each(|c| match u8::try_from(c) {
            Ok(byte) if is_escaped(byte) => _ = write!(to, "%{byte:02X}"),
            _ => to.push(c),
        }),
    }
}

fn is_escaped(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | 0x7f | b'%' | b'#' | b'<' | b'=' | b'>' | b'|')
}

/// Returns the text of a field. Returns `None` for an unknown escape.
fn decoded(field: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'%', field.as_bytes()).is_none() {
        return Some(Cow::Borrowed(plain(field)));
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(field.len()), field);
    while let Some((plain, escape)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        bytes.push(u8::from_str_radix(escape.get(..2)?, 16).ok()?);
        rest = escape.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Returns the name of the file of a cluster without its extension. Names that differ only in letter case have different
/// files on every file system.
pub(super) fn file_name(cluster: &str) -> String {
    if cluster.is_empty() {
        return UNNAMED.to_owned();
    }
    let mut name = String::with_capacity(cluster.len());
    for (at, byte) in cluster.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if at > 0 => name.push('.'),
            b'A'..=b'Z' => name.extend(['!', char::from(byte.to_ascii_lowercase())]),
            // Writing to a string does not fail.
            _ => _ = write!(name, "%{byte:02x}"),
        }
    }
    if name.len() > MAX_NAME {
        let digest = blake3::hash(cluster.as_bytes()).to_hex();
        name.truncate(MAX_NAME);
        name.extend(["@", digest.get(..LONG).unwrap_or(&digest)]);
    }
    name
}

/// What tells the lines of a section apart: the path, the release, the template and the run.
type Key<'l> = [&'l str; 4];

fn key(line: &str) -> Key<'_> {
    let mut fields = fields(line);
    let mut next = || fields.next().unwrap_or("");
    let [path, release, template, _, run] = std::array::from_fn(|_| next());
    [path, release, template, run]
}

/// Returns `true` if a line comes before the next one of its section.
fn is_before(line: &str, next: &str) -> bool {
    let path = |line: &str| memchr::memchr(b' ', line.as_bytes()).unwrap_or(line.len());
    match (line.starts_with('#'), next.starts_with('#')) {
        (false, false) => match line[..path(line)].cmp(&next[..path(next)]) {
            Ordering::Equal => key(line) < key(next),
            order => order == Ordering::Less,
        },
        (true, true) => next.starts_with(VALUES) && (line.starts_with(CLUSTER) || run_of(line) < run_of(next)),
        (is_head, _) => is_head,
    }
}

/// Returns the run of a line with the digest of values.
fn run_of(line: &str) -> &str {
    line.rsplit(' ').next().unwrap_or("")
}

/// Returns `true` if the lines of a section are in order.
fn is_tidy(section: &str) -> bool {
    let mut lines = split(section.trim_end_matches('\n'), b'\n');
    let mut last = lines.next().unwrap_or("");
    lines.all(|line| is_before(std::mem::replace(&mut last, line), line))
}

/// Sorts the lines of a section. Makes lines that differ only in their digests one line with all of them. Returns `false` if
/// all was in order.
pub(super) fn tidy(section: &mut String) -> bool {
    if is_tidy(section) {
        return false;
    }
    let (mut values, mut files) = (BTreeMap::<&str, BTreeSet<&str>>::new(), BTreeMap::<Key<'_>, Digests<'_>>::new());
    for line in section.lines().filter(|line| !line.starts_with(CLUSTER)) {
        if line.starts_with(VALUES) {
            values.entry(run_of(line)).or_default().insert(line);
            continue;
        }
        let (digests, tags) = files.entry(key(line)).or_default();
        digests.extend(line.split(' ').nth(3).into_iter().flat_map(|digests| digests.split(',')));
        tags.extend(line.split(' ').nth(5));
    }
    let mut tidied = section.lines().next().unwrap_or("").to_owned() + "\n";
    // Of two digests nobody knows which one is that of the values.
    let known = values.values().filter(|lines| lines.len() == 1).flatten();
    known.for_each(|line| tidied.extend([line, "\n"]));
    for ([path, release, template, run], (digests, tags)) in &files {
        let digests = digests.iter().copied().collect::<Vec<_>>().join(",");
        let tag = tags.first().filter(|_| tags.len() == 1 && !digests.contains(','));
        tidied.push_str(
            &[&[*path, *release, *template, digests.as_str(), *run], tag.copied().as_slice()].concat().join(" "),
        );
        tidied.push('\n');
    }
    *section = tidied;
    true
}

/// The digests and the ETags of a file.
type Digests<'l> = (BTreeSet<&'l str>, BTreeSet<&'l str>);

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a digest of digits of one kind.
    fn digest(digit: char) -> String {
        digit.to_string().repeat(DIGITS)
    }

    #[test]
    fn every_name_survives_and_only_whole_lines_are_read() {
        for name in ["a/b.yaml", "-", "", "%", "a b", "a\nb", "ä", "#x", "<<<<<<<", "=======", "\u{0}", "\"tag\"", "!A"]
        {
            let (mut text, mut field) = (String::new(), String::new());
            push_field(name, &mut field);
            push_file(name, &format!("{field} {field}"), &digest('a'), ("1f", name), &mut text);
            assert!(text.ends_with('\n') && !text.starts_with(['#', '<', '=']), "{text}");
            match Line::parse(text.trim_end_matches('\n')) {
                Some(Line::File(file)) => {
                    let fields = [&file.path, &file.release, &file.template, &file.tag].map(|field| &**field);
                    assert_eq!((fields, file.run, file.digests), ([name; 4], "1f", &*digest('a')));
                }
                other => assert!(name.is_empty() && other.is_none(), "{name}: {other:?}"),
            }
        }
        let whole = format!("p r t {} 1f", digest('0'));
        assert!(Line::parse(&whole).is_some());
        for end in 0..whole.len() - 1 {
            assert!(Line::parse(&whole[..end]).is_none(), "{}", &whole[..end]);
        }
        for bad in ["", "# other", "# values x", "p%zz - t 00 -", "p - t xx -", "<<<<<<< HEAD", &format!("{whole} a b")]
        {
            assert!(Line::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn clusters_have_files_of_their_own_whatever_they_are_called() {
        let (long, longer) = ("a".repeat(300), "a".repeat(301));
        let names = [
            "", "eu-1", "EU-1", "Eu-1", "!eu-1", ".", "..", "../x", "a/b", "x.yaml", ".git", "@none", "ä", &long,
            &longer,
        ];
        let mut files: Vec<String> = names.iter().map(|name| file_name(name).to_lowercase()).collect();
        assert!(
            files.iter().all(|file| file.len() < 230 && !file.starts_with('.') && !file.contains('/')),
            "{files:?}"
        );
        files.sort();
        files.dedup();
        assert_eq!(files.len(), names.len());
        assert_eq!(["eu-1", "eu.x_2", "Eu"].map(file_name), ["eu-1", "eu.x_2", "!eu"]);
    }

    #[test]
    fn both_sides_of_a_merge_are_in_a_tidy_section() {
        let (one, two) = (digest('1'), digest('2'));
        let mut section = format!(
            "# cluster c\n# values aa 1f\n# values bb 1f\n# values cc 2f\nb - t {two} 1f\na - t {two} 1f \"x\"\nb - t {one} 1f\na - t {two} 2f\n"
        );
        assert!(tidy(&mut section));
        let expected =
            format!("# cluster c\n# values cc 2f\na - t {two} 1f \"x\"\na - t {two} 2f\nb - t {one},{two} 1f\n");
        assert_eq!(section, expected);
        assert!(!tidy(&mut section));
        let mut empty = "# cluster c\n".to_owned();
        assert!(!tidy(&mut empty));
    }
}
