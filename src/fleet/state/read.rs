//! Reading a state. Anyone may have written it, and git may have left the conflicts of a merge in it: then both sides count.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::lines::{self, Line, push_cluster, push_field, push_file, tidy};
use super::old::{self, OldEntry};
use super::runs::{Runs, StoredRun};
use super::write::OwnFiles;
use super::{CLUSTERS, EXTENSION, STATE, State};
use crate::key_set::KeySet;
use crate::scratch::Scratch;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The one file that a state was in earlier versions. A run reads it once, and writes a state in its place.
pub(crate) const OLD_STATE: &str = ".dropforge-manifest.json";

/// Maximum number of bytes of a line.
const MAX_LINE: u64 = 1 << 16;
/// Maximum number of bytes of the section of a cluster, and of the file of runs.
pub(crate) const MAX_SECTION: usize = 64 << 20;
/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// Reads the files of a state one after the other.
#[derive(Default)]
pub(super) struct Reader {
    text: Scratch,
    files: BTreeMap<String, Option<u128>>,
    seed: u64,
    paths: KeySet,
    runs: Runs,
    /// The last run of a file, and whether it is known.
    last_run: (String, bool),
    incomplete: bool,
    conflicts: bool,
    is_old: bool,
    /// The section that is being read.
    section: String,
    /// The hash of the last section.
    hash: Option<u128>,
    /// `true` as long as the file is as it would be written.
    is_tidy: bool,
}

/// The part of a conflict that a line is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    /// What both sides began with.
    Base,
    Theirs,
}

/// Returns the length of the next line if the buffer has all of it. Most lines need no copy.
fn whole_line(content: &mut dyn BufRead) -> Option<usize> {
    let end = memchr::memchr(b'\n', content.fill_buf().ok()?)?;
    (end < MAX_LINE as usize).then_some(end + 1)
}

/// Returns the part of a conflict that a line begins, or `None` in it if the line ends a conflict.
fn mark(line: &[u8]) -> Option<Option<Side>> {
    let (mark, rest) = line.split_at_checked(7)?;
    if !matches!(rest.first(), None | Some(b' ' | b'\r' | b'\n')) {
        return None;
    }
    match mark {
        b"<<<<<<<" => Some(Some(Side::Ours)),
        b"|||||||" => Some(Some(Side::Base)),
        b"=======" => Some(Some(Side::Theirs)),
        b">>>>>>>" => Some(None),
        _ => None,
    }
}

impl Reader {
    /// Ends reading.
    pub fn finish(self) -> Result<State> {
        let Self { text, files, seed, paths, runs, incomplete, conflicts, is_old, .. } = self;
        let has_parts = false;
        Ok(State { text, files, seed, has_parts, paths: paths.sort()?, incomplete, conflicts, is_old, runs })
    }

    /// Reads a file of runs, if it exists.
    pub fn runs(&mut self, from: &dyn OwnFiles, name: &str) -> Result<()> {
        let Some(file) = from.open_own(name)? else { return Ok(()) };
        let text = text_of(&file, name)?;
        if let Some(incomplete) = self.runs.parse(&text) {
            self.incomplete |= incomplete;
            return Ok(());
        }
        for side in sides(&file).map_err(|error| unreadable(name, error))? {
            self.incomplete |= self.runs.parse(&text_of(&side, name)?).ok_or_else(|| damaged(name, None))?;
        }
        self.conflicts = true;
        Ok(())
    }

    /// Reads the files of clusters.
    pub fn clusters(&mut self, from: &dyn OwnFiles) -> Result<()> {
        // Nobody can craft a file with the hash of another one.
        self.seed = RandomState::new().hash_one(0);
        from.read_each(CLUSTERS, EXTENSION, &mut |name, content| {
            self.sections(name, content)?;
            self.files.insert(name.to_owned(), self.hash.take().filter(|_| self.is_tidy));
            Ok(())
        })
    }

    /// Reads the part of a shard.
    pub fn part(&mut self, from: &dyn OwnFiles, name: &str) -> Result<()> {
        let Some(file) = from.open_own(name)? else { return Ok(()) };
        self.sections(name, &mut BufReader::with_capacity(BUFFER, file))
    }

    /// Reads a file with the sections of clusters.
    fn sections(&mut self, name: &str, content: &mut dyn BufRead) -> Result<()> {
        let (mut line, mut number, mut side) = (Vec::new(), 0_usize, None);
        self.is_tidy = true;
        loop {
            number += 1;
            line.clear();
            let (used, text) = match whole_line(content) {
                Some(length) => {
                    let buffered = content.fill_buf().map_err(|error| unreadable(name, error))?;
                    (length, buffered.get(..length).unwrap_or(buffered))
                }
                None => {
                    let read = (&mut *content).take(MAX_LINE).read_until(b'\n', &mut line);
                    read.map_err(|error| unreadable(name, error))?;
                    (0, line.as_slice())
                }
            };
            if text.is_empty() {
                return self.end_section();
            }
            if let Some(next) = mark(text) {
                (side, self.is_tidy, self.conflicts) = (next, false, true);
            } else if side != Some(Side::Base) {
                self.line(text).and_then(|known| known.ok_or_else(|| damaged(name, Some((number, text)))))?;
            }
            content.consume(used);
        }
    }

    /// Adds a line to its section. Returns `None` for another text.
    fn line(&mut self, line: &[u8]) -> Result<Option<()>> {
        let Ok(text) = str::from_utf8(line) else { return Ok(None) };
        let text = text.strip_suffix('\n').unwrap_or_else(|| {
            self.is_tidy = false;
            text
        });
        let text = text.strip_suffix('\r').inspect(|_| self.is_tidy = false).unwrap_or(text);
        match Line::parse(text) {
            Some(Line::Cluster(_)) if self.section.lines().next() == Some(text) => {
                self.is_tidy = false;
                return Ok(Some(()));
            }
            Some(Line::Cluster(_)) => {
                // The file of a cluster has one section.
                self.is_tidy &= self.section.is_empty();
                self.end_section()?;
            }
            _ if self.section.is_empty() || self.section.len() > MAX_SECTION => return Ok(None),
            Some(Line::Values { run, .. }) => _ = self.runs.note(run),
            Some(Line::File(file)) => {
                // Nobody knows the owner of a file whose run is lost.
                if file.run.is_empty() || self.knows(file.run) {
                    self.paths.add(&file.path)?;
                }
            }
            None => return Ok(None),
        }
        self.section.push_str(text);
        self.section.push('\n');
        Ok(Some(()))
    }

    /// Notes a run. Returns `true` if its options are known. Most files are of the same run as the one before.
    fn knows(&mut self, run: &str) -> bool {
        if self.last_run.0 != run {
            let number = self.runs.note(run);
            self.last_run = (run.to_owned(), self.runs.get(number).is_some());
        }
        self.last_run.1
    }

    fn end_section(&mut self) -> Result<()> {
        self.is_tidy &= !tidy(&mut self.section);
        // The last section is the only one of the file of a cluster.
        self.hash = Some(xxh3_128_with_seed(self.section.as_bytes(), self.seed));
        self.text.push(self.section.as_bytes())?;
        self.section.clear();
        Ok(())
    }

    /// Reads the one file of earlier versions, if it exists.
    pub fn old(&mut self, from: &dyn OwnFiles) -> Result<()> {
        let Some(file) = from.open_own(OLD_STATE)? else { return Ok(()) };
        self.is_old = true;
        if self.old_file(&file, &mut None)?.is_some() {
            return Ok(());
        }
        let (sides, mut templates) = (sides(&file).map_err(|error| unreadable(OLD_STATE, error))?, None);
        for side in sides {
            self.old_file(&side, &mut templates)?.ok_or_else(|| damaged(OLD_STATE, None))?;
        }
        self.conflicts = true;
        Ok(())
    }

    /// Reads an old file. Lines outside of conflicts name templates by their places in a list, so both sides of a merge must
    /// have the same. Returns `None` for another file.
    fn old_file(&mut self, file: &File, templates: &mut Option<Vec<String>>) -> Result<Option<()>> {
        let start = || {
            let mut file = file;
            let start = file.rewind().map(|()| BufReader::with_capacity(BUFFER, file));
            start.map_err(|error| unreadable(OLD_STATE, error))
        };
        let Some(head) = old::parse(start()?, &mut |_| Ok(()))? else { return Ok(None) };
        if templates.get_or_insert_with(|| head.templates.clone()) != &head.templates {
            return Err(damaged(OLD_STATE, None)
                .with_note("it has the conflicts of a merge, and its sides have different templates")
                .with_help("take one side: `git checkout --theirs` or `--ours`; then stamp again"));
        }
        self.incomplete |= head.incomplete;
        let mut origins = vec![None; head.templates.len()];
        for run in head.runs {
            let of_run = run.templates.iter().filter_map(|at| Some((*at, head.templates.get(*at)?)));
            let mut digests = of_run.clone().filter_map(|(at, template)| {
                let digest = head.digests.get(at).filter(|digest| !digest.is_empty())?;
                Some((template.clone(), digest.clone()))
            });
            let templates = digests.by_ref().collect();
            let number = self.runs.add_stored(StoredRun { options: run.options, templates });
            for (at, _) in of_run {
                origins.get_mut(at).into_iter().for_each(|origin| *origin = Some(number));
            }
        }
        let mut last = None;
        old::parse(start()?, &mut |entry| self.old_entry(&entry, (&head.templates, &origins), &mut last))?;
        self.end_section().map(Some)
    }

    /// Adds the line of a file of an old state.
    fn old_entry(
        &mut self,
        OldEntry { path, hash, maker, tag }: &OldEntry<'_>,
        (templates, runs): (&[String], &[Option<usize>]),
        last: &mut Option<String>,
    ) -> Result<()> {
        let (cluster, template) = maker.map_or(("", None), |(cluster, template)| (cluster, Some(template)));
        if last.as_deref() != Some(cluster) {
            self.end_section()?;
            push_cluster(cluster, &mut self.section);
            *last = Some(cluster.to_owned());
        }
        let (mut origin, mut run) = ("- ".to_owned(), "-".to_owned());
        push_field(template.and_then(|at| templates.get(at)).map_or("", String::as_str), &mut origin);
        if let Some(number) = template.and_then(|at| runs.get(at).copied().flatten()) {
            run = self.runs.id(number).to_owned();
        }
        // A path that no file can have is not kept.
        if path.is_empty() {
            return Ok(());
        }
        push_file(path, &origin, hash.to_hex().as_str(), (&run, tag), &mut self.section);
        self.paths.add(path)
    }
}

/// Returns the text of a file of runs.
fn text_of(mut file: &File, name: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.take(MAX_SECTION as u64).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(name, error))?;
    String::from_utf8(bytes).map_err(|_| damaged(name, None))
}

/// Returns both sides of a merge. Without conflicts they are what the file is.
///
/// # Errors
/// Errors of reading, and of the temporary files.
fn sides(mut file: &File) -> io::Result<[File; 2]> {
    let mut sides = [BufWriter::new(tempfile::tempfile()?), BufWriter::new(tempfile::tempfile()?)];
    file.rewind()?;
    let mut within = None;
    for line in BufReader::with_capacity(BUFFER, file).split(b'\n') {
        let line = line?;
        if let Some(next) = mark(&line) {
            within = next;
            continue;
        }
        let wanted = sides.iter_mut().zip([Side::Ours, Side::Theirs]);
        for (side, _) in wanted.filter(|(_, side)| within.is_none_or(|within| within == *side)) {
            side.write_all(&line)?;
            side.write_all(b"\n")?;
        }
    }
    let [ours, theirs] = sides.map(BufWriter::into_inner);
    Ok([ours?, theirs?])
}

fn unreadable(name: &str, error: io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::ReadFailed, format!("cannot read `{name}` in the output directory: {error}")).caused_by(error)
}

/// Returns the error of a file that is not as it was written.
pub(crate) fn damaged(name: &str, at: Option<(usize, &[u8])>) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::BadManifest, format!("`{name}` in the output directory is not a valid state"));
    let error = match at {
        Some((number, line)) => {
            let text: String = String::from_utf8_lossy(line).trim_end().chars().take(80).collect();
            error.with_note(format!("line {number}: `{}`", text.escape_debug()))
        }
        None => error,
    };
    let whole = if name.starts_with(STATE) { "`.dropforge`" } else { "it" };
    error.with_help(format!(
        "restore it with `git checkout`, or delete {whole}: the next run writes a new one, and prunes nothing"
    ))
}

/// Returns the name of the one file that a place with one file for all clusters has.
pub(super) fn of_all() -> String {
    format!("{CLUSTERS}/{}{EXTENSION}", lines::ALL)
}
