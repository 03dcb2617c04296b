//! The manifest: the files that runs have written, with their hashes, clusters and templates. Pruning removes only
//! files in this list.
//!
//! It is sorted and written last, by rename. A file that a run did not write stays in the list until it is pruned, so
//! a partial run forgets nothing. The file has a line for each cluster, so a change of one cluster changes one line. It
//! is never held in memory: it is read entry by entry, and merged with sorted rows.

mod parse;
mod read_log;
mod rows;
mod runs;
mod write;

pub use self::read_log::{Logged, ReadFiles, ReadLog, short_digest};
#[cfg(feature = "remote")]
pub(crate) use self::rows::SAME_TAG;
pub use self::rows::{Entry, Row, Rows};
pub(super) use self::runs::Ownership;
pub use self::runs::{Owner, PROJECT_FILE, RunOptions, Withheld};
pub use self::write::OwnFiles;
pub(super) use self::write::{NewManifest, write};

use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;

use self::parse::Head;
use self::runs::Runs;
use super::key_set::{KeySet, SortedKeys};
use super::output_dir::OutputDir;
use super::shards::PARTS;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, thousands};

/// Receives the names of files.
type Each<'e> = &'e mut dyn FnMut(&str) -> Result<()>;

/// The manifest's name in the output directory.
pub const MANIFEST: &str = ".dropforge-manifest.json";
/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 16;
/// Paths, the BLAKE3 hashes of their content, and their makers.
#[derive(Debug, Default)]
pub struct Manifest {
    /// The manifest, or both sides of a merge, then the parts of shards that are not finished.
    files: Vec<ManifestPart>,
    paths: SortedKeys,
    /// `true` if the last run ended early.
    incomplete: bool,
    /// `true` if it has the conflicts of a merge.
    conflicts: bool,
    /// The runs that made the files.
    runs: Runs,
}

/// A file with entries.
#[derive(Debug)]
struct ManifestPart {
    name: String,
    file: File,
    /// The run of each template.
    runs: Vec<Option<usize>>,
}

/// The maker of a file of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maker {
    /// The name of the cluster.
    pub cluster: String,
    /// The path of the template.
    pub template: String,
    /// `true` if the file is as it was written.
    pub is_unchanged: bool,
    /// The run that wrote it, if it is known.
    pub run: Option<RunOptions>,
}

impl Manifest {
    /// Reads the manifest of the last run, and the parts of shards that are not finished. Returns an empty one if there
    /// is none.
    ///
    /// # Errors
    /// `file.bad_manifest` if it is not a manifest; errors of reading it.
    pub fn read(dir: Option<&OutputDir>) -> Result<Self> {
        Self::of(dir.map(|dir| dir as &dyn OwnFiles))
    }

    /// Works like [`Manifest::read`], for any destination.
    ///
    /// # Errors
    /// Same as [`Manifest::read`].
    pub fn of(from: Option<&dyn OwnFiles>) -> Result<Self> {
        let Some(from) = from else { return Ok(Self::default()) };
        Self::of_own(&|name| from.open_own(name), &|each| from.each_own(PARTS, each))
    }

    /// Reads the manifest that `open` opens, and the parts of shards, whose names `parts` passes on.
    pub(super) fn of_own(
        open: &dyn Fn(&str) -> Result<Option<File>>,
        parts: &dyn Fn(Each<'_>) -> Result<()>,
    ) -> Result<Self> {
        let mut names = vec![MANIFEST.to_owned()];
        parts(&mut |path| {
            names.extend(path.ends_with(".json").then(|| path.to_owned()));
            Ok(())
        })?;
        let (mut manifest, mut paths) = (Self::default(), KeySet::default());
        for name in names {
            let Some(file) = open(&name)? else { continue };
            let part = ManifestPart { name, file, runs: Vec::new() };
            match part.parsed(&mut |entry| paths.add(entry.path)) {
                Ok(head) => manifest.add(part, head),
                Err(error) if error.code == Code::BadManifest => manifest.add_sides(&part, &mut paths)?,
                Err(error) => return Err(error),
            }
        }
        Ok(Self { paths: paths.sort()?, ..manifest })
    }

    /// Adds a file with entries.
    fn add(&mut self, part: ManifestPart, head: Head) {
        self.incomplete |= head.incomplete;
        let runs = self.runs.add(head.runs, &head.templates, &head.digests);
        self.files.push(ManifestPart { runs, ..part });
    }

    /// Adds both sides of a merge with conflicts. Lines outside of the conflicts name templates by their places in a list,
    /// so both sides must have the same.
    fn add_sides(&mut self, merged: &ManifestPart, paths: &mut KeySet) -> Result<()> {
        let mut templates = None;
        for file in sides(&merged.file).map_err(|_| merged.damaged())? {
            let part = ManifestPart { name: merged.name.clone(), file, runs: Vec::new() };
            let head = part.parsed(&mut |entry| paths.add(entry.path))?;
            if templates.get_or_insert_with(|| head.templates.clone()) != &head.templates {
                return Err(merged
                    .damaged()
                    .with_note("it has the conflicts of a merge, and its sides have different templates")
                    .with_help("take one side: `git checkout --theirs` or `--ours`; then stamp again"));
            }
            self.add(part, head);
        }
        self.conflicts = true;
        Ok(())
    }

    /// Returns a part alone. Its paths are not looked up.
    pub(super) fn part(name: String, file: File) -> Self {
        Self { files: vec![ManifestPart { name, file, runs: Vec::new() }], ..Self::default() }
    }

    /// Returns the error of a file that is not as it was written.
    pub(super) fn damaged(&self) -> Box<Diagnostic> {
        self.files.first().map_or_else(|| damaged(MANIFEST), ManifestPart::damaged)
    }

    /// Calls `each` with every entry, in the order of the file: by cluster and path.
    ///
    /// # Errors
    /// `file.bad_manifest`; errors of `each`.
    pub fn each(&self, each: &mut dyn FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        self.files.iter().try_for_each(|part| part.parsed(each).map(drop))
    }

    /// Returns the maker of the file at `path` with this content.
    ///
    /// # Errors
    /// `file.bad_manifest`.
    pub fn maker(&self, path: &str, content: &[u8]) -> Result<Option<Maker>> {
        let (mut found, hash) = (None, blake3::hash(content));
        self.each(&mut |entry| {
            if let Some((cluster, template)) = entry.maker.filter(|_| entry.path == path) {
                let run = entry.run.and_then(|run| self.runs.of(run, template));
                let (cluster, template, is_unchanged) = (cluster.to_owned(), template.to_owned(), entry.hash == hash);
                found = Some(Maker { cluster, template, is_unchanged, run });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns `true` if the run that wrote it ended early.
    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Returns `true` if it has the conflicts of a merge.
    pub(super) fn has_conflicts(&self) -> bool {
        self.conflicts
    }

    /// Returns the number of the run with these options, if it made files.
    pub fn run_with(&self, options: &RunOptions) -> Option<usize> {
        self.runs.find(options)
    }

    /// Returns what a run is to the files of each former run, by number. A file of an unknown run belongs to its template.
    pub(super) fn ownership(&self, run: Option<&RunOptions>) -> Vec<Ownership> {
        self.runs.ownership(run)
    }

    /// Returns the files of other projects than that of `run`, if there are any.
    ///
    /// # Errors
    /// `file.bad_manifest`; errors of temporary files.
    pub(super) fn of_others(&self, run: Option<&RunOptions>) -> Result<Option<SortedKeys>> {
        let ownership = self.ownership(run);
        if !ownership.contains(&Ownership::Other) {
            return Ok(None);
        }
        let mut others = KeySet::default();
        self.each(&mut |entry| match entry.ownership(&ownership) {
            Ownership::Other => others.add(entry.path),
            _ => Ok(()),
        })?;
        others.sort().map(Some)
    }

    /// Returns the project that owns the file at `path`, if it is known.
    ///
    /// # Errors
    /// `file.bad_manifest`.
    pub(super) fn project_of(&self, path: &str) -> Result<Option<Owner>> {
        let mut found = None;
        self.each(&mut |entry| {
            if entry.path == path {
                found = entry.run.and_then(|run| self.runs.get(run)).and_then(|(run, _)| run.project.clone());
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the options `--fleet` of the run that wrote a file, if it is known.
    pub(super) fn fleets(&self, entry: Entry<'_>) -> Option<Vec<&str>> {
        Some(self.runs.get(entry.run?)?.0.fleets())
    }

    /// Returns `true` if the file at `path` is in the list.
    ///
    /// # Errors
    /// Errors of the temporary file.
    pub(super) fn contains(&self, path: &str) -> Result<bool> {
        self.paths.contains(path)
    }

    /// Guards against pruning most of the `total` files of the run's templates by accident, for example with an empty
    /// fleet.
    ///
    /// # Errors
    /// `plan.mass_delete` for more than half of the files, unless `force` is set.
    pub(super) fn guard(stale: usize, total: usize, force: bool) -> Result<()> {
        if force || stale * 2 <= total {
            return Ok(());
        }
        let message = format!("pruning would delete {} of {}", thousands(stale), counted(total, "file"));
        Err(Diagnostic::new(Code::MassDelete, message)
            .with_note("the fleet, the selector or the templates may be wrong")
            .with_help("use `--prune-force` to prune anyway"))
    }
}

impl ManifestPart {
    /// Passes on the entries. Returns the rest of the file.
    fn parsed(&self, each: &mut dyn FnMut(Entry<'_>) -> Result<()>) -> Result<Head> {
        let reader = BufReader::with_capacity(BUFFER, FromStart { file: &self.file, at: 0 });
        parse::parse(reader, &self.runs, each)?.ok_or_else(|| self.damaged())
    }

    fn damaged(&self) -> Box<Diagnostic> {
        damaged(&self.name)
    }
}

fn damaged(name: &str) -> Box<Diagnostic> {
    let message = format!("`{name}` in the output directory is not a valid manifest");
    Diagnostic::new(Code::BadManifest, message)
        .with_help("restore it, or delete it: the next run writes a new one, and prunes nothing")
}

/// Reads a file from its start. Its own position stays.
struct FromStart<'f> {
    file: &'f File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(to, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The part of a conflict that belongs to neither side.
const BASE: usize = 2;

/// Returns both sides. Without conflicts they are what the file is.
///
/// # Errors
/// Errors of reading, and of the temporary files.
pub(super) fn sides(file: &File) -> io::Result<[File; 2]> {
    let mut sides = [BufWriter::new(tempfile::tempfile()?), BufWriter::new(tempfile::tempfile()?)];
    let mut within = None;
    for line in BufReader::with_capacity(BUFFER, FromStart { file, at: 0 }).split(b'\n') {
        let line = line?;
        match line.get(..7) {
            Some(b"<<<<<<<") => within = Some(0),
            Some(b"|||||||") => within = Some(BASE),
            Some(b"=======") => within = Some(1),
            Some(b">>>>>>>") => within = None,
            _ => {
                let wanted = sides.iter_mut().enumerate().filter(|(at, _)| within.is_none_or(|side| side == *at));
                for (_, side) in wanted {
                    side.write_all(&line)?;
                    side.write_all(b"\n")?;
                }
            }
        }
    }
    let [ours, theirs] = sides.map(BufWriter::into_inner);
    Ok([ours?, theirs?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Path, cluster and template of an entry. Its hash is that of its path.
    type Shown = (String, Option<(String, String)>);

    fn shown(manifest: &Manifest) -> Vec<Shown> {
        let mut all = Vec::new();
        let each = &mut |entry: Entry<'_>| {
            assert_eq!(entry.hash, blake3::hash(entry.path.as_bytes()));
            assert_eq!(entry.tag.is_empty(), entry.path.contains('/') || entry.maker.is_none());
            let maker = entry.maker.map(|(cluster, template)| (cluster.to_owned(), template.to_owned()));
            all.push((entry.path.to_owned(), maker));
            Ok(())
        };
        manifest.each(each).unwrap();
        all
    }

    /// Writes a manifest over the one in `dir`: rows of path, cluster and template, and those that `kept` keeps.
    fn rewrite(dir: &OutputDir, made: &[(&str, &str, &str)], kept: &dyn Fn(&str) -> bool) -> Manifest {
        let old = Manifest::read(Some(dir)).unwrap();
        let (mut rows, mut templates) = (Rows::default(), Vec::new());
        for (path, cluster, template) in made {
            let row = Row {
                cluster: (*cluster).to_owned(),
                path: (*path).to_owned(),
                template: templates.len() as u32,
                hash: *blake3::hash(path.as_bytes()).as_bytes(),
                tag: if path.contains('/') { String::new() } else { "\"tag\"".to_owned() },
            };
            rows.add(row).unwrap();
            templates.push((*template).to_owned());
        }
        let kept = |entry: Entry<'_>| Ok(kept(entry.path));
        let new = NewManifest { to: dir, name: MANIFEST, fsync: true, incomplete: false, run: None };
        write(&old, &kept, (rows, templates), &new).unwrap();
        Manifest::read(Some(dir)).unwrap()
    }

    #[test]
    fn entries_survive_a_round_trip_and_damaged_ones_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let made = [("eu/y", "us", "t/b"), ("eu/x", "eu", "t/b"), ("us/\"", "eu", "t/a")];
        let manifest = rewrite(&dir, &made, &|_| false);
        let of = |(path, cluster, template): (&str, &str, &str)| {
            (path.to_owned(), Some((cluster.to_owned(), template.to_owned())))
        };
        assert_eq!(shown(&manifest), [of(made[1]), of(made[2]), of(made[0])]);
        assert!(manifest.contains("eu/x").unwrap() && !manifest.contains("eu").unwrap());
        let text = || fs::read_to_string(temp.path().join(MANIFEST)).unwrap();
        let lines = text();
        let head = "{\"version\":2,\"hash\":\"blake3\",\"templates\":[\"t/a\",\"t/b\"],\"clusters\":{\n";
        assert!(lines.starts_with(head) && lines.ends_with("]]\n},\"files\":{}}\n"), "{lines}");
        assert!(lines.contains("\n\"us\":[[\"eu/y\",1,\""), "{lines}");
        // What is kept is written as before, and names of templates that are gone are left out.
        rewrite(&dir, &[], &|_| true);
        assert_eq!(text(), lines);
        let manifest = rewrite(&dir, &[("n", "a", "t/c")], &|path| path == "eu/x");
        assert_eq!(shown(&manifest), [of(("n", "a", "t/c")), of(made[1])]);
        assert!(text().contains("[\"t/b\",\"t/c\"]"));
        assert_eq!(shown(&rewrite(&dir, &[], &|_| false)), []);
        let bad = [
            "",
            "{}",
            "[1]",
            r#"{"version":2,"files":[]}"#,
            r#"{"version":3,"files":{}}"#,
            r#"{"version":1,"files":{"a":"zz"}}"#,
            r#"{"version":2,"files":{},"templates":[],"clusters":{"c":[["c/a",0,""]]}}"#,
            r#"{"version":2,"files":{}} x"#,
            "\u{0}",
        ];
        for text in bad {
            fs::write(temp.path().join(MANIFEST), text).unwrap();
            assert_eq!(Manifest::read(Some(&dir)).unwrap_err().code, Code::BadManifest, "{text}");
        }
    }

    #[test]
    fn the_first_version_is_read_and_kept() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let old = format!("{{\"files\": {{\"a\": \"{}\"}}, \"hash\": \"blake3\", \"version\": 1}}", blake3::hash(b"a"));
        fs::write(temp.path().join(MANIFEST), old).unwrap();
        let expected = [("a".to_owned(), None)];
        assert_eq!(shown(&Manifest::read(Some(&dir)).unwrap()), expected);
        assert_eq!(shown(&rewrite(&dir, &[], &|_| true)), expected);
    }

    #[test]
    fn a_run_that_ended_early_leaves_a_mark() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        for incomplete in [true, false] {
            let new = NewManifest { to: &dir, name: MANIFEST, fsync: false, incomplete, run: None };
            write(&Manifest::default(), &|_| Ok(false), Default::default(), &new).unwrap();
            assert_eq!(Manifest::read(Some(&dir)).unwrap().is_incomplete(), incomplete);
        }
    }

    #[test]
    fn half_may_go_more_may_not() {
        assert!(Manifest::guard(1, 2, false).is_ok());
        assert_eq!(Manifest::guard(2, 2, false).unwrap_err().code, Code::MassDelete);
        assert!(Manifest::guard(2, 2, true).is_ok());
    }
}
