//! Places of states, and writing one: the new rows, and the old entries that are kept.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::lines::{push_cluster, push_field, push_file, push_values, tidy};
use super::read::{OLD_STATE, of_all};
use super::rows::{OLD_TAG, Row, Rows, SAME_TAG, SortedRows};
use super::runs::{RunOptions, Runs};
use super::{Entry, RUNS, Section, State, path_of};
use crate::key_set::SortedKeys;
use crate::output_files::{Change, WriteParts};
use crate::shards::PlanShard;
use dropforge_base::diagnostics::Result;

/// Passes on the name and the content of a file to write.
pub type PutFile<'p> = &'p mut dyn FnMut(&str, &[u8]) -> Result<()>;

/// Receives the names and contents of files.
pub type ReadFile<'r> = &'r mut dyn FnMut(&str, &mut dyn BufRead) -> Result<()>;

/// The files of dropforge's own in a place. They are below `.dropforge`, where no output is.
pub trait OwnFiles: Sync {
    /// Returns `true` if all clusters share one file. A request for each cluster would cost more than one large object.
    fn has_one_file(&self) -> bool {
        false
    }

    /// Opens a file for reading, if it exists.
    ///
    /// # Errors
    /// `file.read_failed`, `file.symbolic_link`; errors of the store.
    fn open_own(&self, name: &str) -> Result<Option<File>>;

    /// Replaces a file at once, unless it has this content. With `fsync` it survives a power failure.
    ///
    /// # Errors
    /// `file.write_failed`; errors of the store; errors of `write`.
    fn write_own(&self, name: &str, fsync: bool, write: WriteParts<'_>) -> Result<Change>;

    /// Calls `each` with the path of every file below `directory`, which may be missing.
    ///
    /// # Errors
    /// Errors of reading, and of `each`.
    fn each_own(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// `file.write_failed`; errors of the store.
    fn remove_own(&self, name: &str) -> Result<()>;

    /// Calls `each` with the path and the content of every file in `directory` whose name ends with `extension`, by name.
    ///
    /// # Errors
    /// Errors of reading, and of `each`.
    fn read_each(&self, directory: &str, extension: &str, each: ReadFile<'_>) -> Result<()> {
        let mut names = Vec::new();
        self.each_own(directory, &mut |path| {
            names.extend(path.ends_with(extension).then(|| path.to_owned()));
            Ok(())
        })?;
        names.sort_unstable();
        for name in names {
            if let Some(file) = self.open_own(&name)? {
                each(&name, &mut BufReader::with_capacity(1 << 16, file))?;
            }
        }
        Ok(())
    }

    /// Replaces files, each at once, as `files` passes them on.
    ///
    /// # Errors
    /// Same as [`OwnFiles::write_own`]; errors of `files`.
    fn write_each(&self, fsync: bool, files: &mut dyn FnMut(PutFile<'_>) -> Result<()>) -> Result<()> {
        files(&mut |name, content| self.write_own(name, fsync, &mut |write| write(content)).map(drop))
    }
}

/// A state to write, or the part of a shard.
pub struct NewState<'a> {
    pub to: &'a dyn OwnFiles,
    pub shard: Option<&'a PlanShard>,
    pub fsync: bool,
    /// Mark it as that of a run that ended early.
    pub incomplete: bool,
    /// The run that made the rows.
    pub run: Option<RunOptions>,
}

/// The maker of files: a template, and the release that it is of. That of a run's values has neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MadeBy {
    pub release: String,
    pub template: String,
}

/// The makers of all rows, each with its run.
struct Makers {
    all: Vec<(MadeBy, Option<usize>)>,
    places: HashMap<Option<usize>, HashMap<String, u32>>,
    /// The key that is looked up.
    key: String,
}

impl Makers {
    fn new(of_run: Vec<MadeBy>, run: Option<usize>) -> Self {
        let mut makers = Self { all: Vec::new(), places: HashMap::new(), key: String::new() };
        // Rows name these by their places.
        for MadeBy { release, template } in of_run {
            makers.key_of(&release, &template);
            makers.places.entry(run).or_default().insert(makers.key.clone(), makers.all.len() as u32);
            makers.all.push((MadeBy { release, template }, run));
        }
        makers
    }

    fn key_of(&mut self, release: &str, template: &str) {
        self.key.clear();
        self.key.extend([release, "\0", template]);
    }

    /// Returns the place of the maker of an entry.
    fn place(&mut self, entry: Entry<'_>) -> u32 {
        let (_, template) = entry.maker.unwrap_or_default();
        self.key_of(entry.release, template);
        let of_run = self.places.entry(entry.run).or_default();
        if let Some(place) = of_run.get(&self.key) {
            return *place;
        }
        let place = self.all.len() as u32;
        of_run.insert(self.key.clone(), place);
        let made_by = MadeBy { release: entry.release.to_owned(), template: template.to_owned() };
        self.all.push((made_by, entry.run));
        place
    }

    /// Returns the run of files.
    fn run(&self, place: u32) -> Option<usize> {
        let (made_by, run) = self.all.get(place as usize)?;
        run.filter(|_| !made_by.template.is_empty())
    }

    /// Returns the templates of all runs.
    fn templates(&self) -> HashSet<(usize, &str)> {
        self.all.iter().filter_map(|(made_by, run)| Some(((*run)?, made_by.template.as_str()))).collect()
    }

    /// Returns the release and the template of each place as fields of a line, and the run.
    fn fields(&self, runs: &Runs) -> Vec<(String, String)> {
        let fields = |(made_by, run): &(MadeBy, Option<usize>)| {
            let (mut origin, mut id) = (String::new(), String::new());
            push_field(&made_by.release, &mut origin);
            origin.push(' ');
            push_field(&made_by.template, &mut origin);
            push_field(run.map_or("", |run| runs.id(run)), &mut id);
            (origin, id)
        };
        self.all.iter().map(fields).collect()
    }
}

/// Writes a state, or the part of a shard: `rows`, whose templates are indexes of `makers`, and the entries of `old` that are
/// kept.
///
/// # Errors
/// `file.write_failed`; errors of temporary files.
pub fn write(
    old: &State,
    kept: &dyn Fn(Entry<'_>) -> Result<bool>,
    (mut rows, makers): (Rows, Vec<MadeBy>),
    new: &NewState<'_>,
) -> Result<()> {
    let mut runs = old.runs.clone();
    let templates = makers.iter().map(|made_by| made_by.template.as_str());
    let run = new.run.clone().map(|run| runs.add_run(run, templates));
    let mut makers = Makers::new(makers, run);
    // The files of clusters that stay as they are, and the runs that made files.
    let (mut same, mut used) = (HashSet::new(), BTreeSet::new());
    let touched = rows.take_clusters()?;
    old.each_section(&mut |section| {
        let mut places = Vec::new();
        section.each(&mut |entry| {
            let is_kept = entry.is_of_values() || kept(entry)?;
            places.push(is_kept.then(|| makers.place(entry)));
            Ok(())
        })?;
        if !places.contains(&None) && stays(section, new, &touched)? {
            used.extend(places.into_iter().flatten().filter_map(|place| makers.run(place)));
            same.insert(path_of(&section.cluster));
            return Ok(());
        }
        let mut places = places.into_iter();
        section.each(&mut |entry| {
            let place = match places.next().flatten() {
                Some(place) => place,
                None if entry.tag.is_empty() => return Ok(()),
                None => OLD_TAG,
            };
            let (cluster, _) = entry.maker.unwrap_or_default();
            Row::of(entry, cluster, place).try_for_each(|row| rows.add(row))
        })
    })?;
    used.extend(rows.templates().iter().filter_map(|place| makers.run(*place)));
    let templates = makers.templates();
    let text =
        |of: &BTreeSet<usize>| runs.text(of, |run, template| templates.contains(&(run, template)), new.incomplete);
    let mut sections = Sections { rows: rows.sort()?, next: None, fields: makers.fields(&runs) };
    let put = |name: &str, text: &str| new.to.write_own(name, new.fsync, &mut |write| write(text.as_bytes())).map(drop);
    if let Some(shard) = new.shard {
        put(&shard.runs(), &text(&used))?;
        return sections.write_all(&shard.part(), new);
    }
    // Files of clusters that are still the old ones name the old runs.
    put(RUNS, &text(&used.iter().copied().chain(old.runs.numbers()).collect()))?;
    let left = sections.write((old, &same), new)?;
    left.iter().try_for_each(|name| new.to.remove_own(name))?;
    if old.is_old {
        new.to.remove_own(OLD_STATE)?;
    }
    if old.runs.numbers().any(|run| !used.contains(&run)) { put(RUNS, &text(&used)) } else { Ok(()) }
}

/// Returns `true` if the file of a section is as it would be written, once all files in it are kept: the run has made no file
/// of the cluster.
fn stays(section: &Section<'_>, new: &NewState<'_>, touched: &SortedKeys) -> Result<bool> {
    let (old, name) = (section.state, path_of(&section.cluster));
    let is_alone = !old.has_parts && !old.is_old && new.shard.is_none() && !new.to.has_one_file();
    Ok(is_alone && old.files.get(&name).is_some_and(Option::is_some) && !touched.contains(&section.cluster)?)
}

/// The sections of a state that is being written.
struct Sections {
    rows: SortedRows,
    /// The first row of the next section.
    next: Option<Row>,
    /// The fields of makers and runs.
    fields: Vec<(String, String)>,
}

impl Sections {
    /// Writes the files of clusters that change. Returns the names of those that have no more entries.
    fn write(&mut self, (old, same): (&State, &HashSet<String>), new: &NewState<'_>) -> Result<Vec<String>> {
        let others = old.files.iter().filter(|(name, _)| !same.contains(*name));
        let mut left: BTreeMap<&str, Option<u128>> = others.map(|(name, hash)| (&**name, *hash)).collect();
        if new.to.has_one_file() {
            let name = of_all();
            self.write_all(&name, new)?;
            left.remove(&*name);
        } else {
            let mut section = String::new();
            new.to.write_each(new.fsync, &mut |put| {
                while let Some(cluster) = self.next(&mut section)? {
                    let name = path_of(&cluster);
                    let hash = xxh3_128_with_seed(section.as_bytes(), old.seed);
                    if left.remove(&*name).flatten() != Some(hash) {
                        put(&name, section.as_bytes())?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(left.into_keys().map(str::to_owned).collect())
    }

    /// Writes all sections to one file.
    fn write_all(&mut self, name: &str, new: &NewState<'_>) -> Result<()> {
        let mut section = String::new();
        let written = new.to.write_own(name, new.fsync, &mut |write| {
            while self.next(&mut section)?.is_some() {
                write(section.as_bytes())?;
            }
            Ok(())
        });
        written.map(drop)
    }

    /// Makes the section of the next cluster that has files. Returns its name.
    fn next(&mut self, to: &mut String) -> Result<Option<String>> {
        loop {
            let Some(first) = self.next.take().map_or_else(|| self.rows.next(), |row| Ok(Some(row)))? else {
                return Ok(None);
            };
            let (cluster, mut values, mut files) = (first.cluster.clone(), Vec::new(), Vec::new());
            let mut row = Some(first);
            while let Some(one) = row.take_if(|row| row.cluster == cluster) {
                if one.path.is_empty() {
                    values.push(one)
                } else {
                    add(one, &mut files)
                }
                row = self.rows.next()?;
            }
            self.next = row;
            if !files.is_empty() {
                self.section(&cluster, (&values, &files), to);
                return Ok(Some(cluster));
            }
        }
    }

    fn section(&self, cluster: &str, (values, files): (&[Row], &[Row]), to: &mut String) {
        let fields = |row: &Row| self.fields.get(row.template as usize).map_or(("", ""), |(origin, run)| (origin, run));
        to.clear();
        push_cluster(cluster, to);
        let mut last = None;
        for row in values {
            let (_, run) = fields(row);
            // The first one is that of the new run.
            if last != Some(row.template) && files.iter().any(|file| fields(file).1 == run) {
                push_values(&row.tag, run, to);
                last = Some(row.template);
            }
        }
        for row in files {
            let (origin, run) = fields(row);
            // Without the old tag the next run puts the object again.
            let tag = if row.tag == SAME_TAG { "" } else { &row.tag };
            push_file(&row.path, origin, blake3::Hash::from_bytes(row.hash).to_hex().as_str(), (run, tag), to);
        }
        tidy(to);
    }
}

/// Adds a row to those of its cluster. A row with an old tag passes it on to the row before it.
fn add(row: Row, to: &mut Vec<Row>) {
    let last = to.last_mut().filter(|last| last.path == row.path);
    match last {
        _ if row.template != OLD_TAG => to.push(row),
        Some(last) if last.tag == SAME_TAG && last.hash == row.hash => last.tag = row.tag,
        _ => {}
    }
}
