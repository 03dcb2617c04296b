//! W7 through `dropforge::bulk`, to files and into one stream, compared with plain loops that only write the same
//! bytes.

use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use dropforge::bulk::{
    self, DEFAULT_LAYOUT, Fleet, FleetOptions, Format, Job, Layers, Layout, Options, Output, Plan, Templates,
};
use dropforge::bulk::{Merge, Selector, Watch, dialect_of, discover, language_extensions, outputs};
use dropforge::engine::Engine;
use dropforge::text::Source;
use dropforge::value::Data;

use crate::files::workloads;

/// A fleet with its plan.
pub struct Bulk {
    text: usize,
    fleet: Fleet,
    layers: Layers,
    templates: Templates,
    plan: Plan,
}

impl Bulk {
    /// Plans the generated fleet in `folder` with the templates of W1.
    ///
    /// # Panics
    /// Panics if a file is missing or invalid.
    pub fn new(folder: &Path) -> Self {
        let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a generated file");
        let text = Source::new("clusters.ndjson", read("clusters.ndjson"));
        let fleet = Fleet::read(&text, Format::Ndjson, &FleetOptions::default()).expect("a fleet");
        let shared: Data = serde_json::from_str(&read("shared.json")).expect("JSON");
        let layers = Layers::new([shared.into_map().expect("a map")], Vec::new(), Merge::Replace);
        let (templates, outputs) = templates();
        let layout = Layout::parse(DEFAULT_LAYOUT).expect("a layout");
        let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, layout);
        let plan = plan.unwrap_or_else(|errors| panic!("{errors:?}"));
        Self { text: text.text().len(), fleet, layers, templates, plan }
    }

    /// Returns the size of the fleet's text, which a run keeps in memory.
    pub fn text_bytes(&self) -> usize {
        self.text
    }

    /// Stamps everything below `folder`, checking the outputs first if `check_outputs`.
    ///
    /// # Panics
    /// Panics if something fails.
    pub fn files(&self, threads: usize, check_outputs: bool, folder: &Path) {
        self.run(Options { threads, check_outputs, ..Options::default() }, |stamper, job| {
            bulk::stamp(stamper, job, folder)
        });
    }

    /// Stamps everything into a stream.
    ///
    /// # Panics
    /// Panics if something fails.
    pub fn stream(&self, threads: usize, out: &mut (dyn Write + Send)) {
        self.run(Options { threads, ..Options::default() }, |stamper, job| bulk::stream(stamper, job, out));
    }

    fn run(
        &self,
        options: Options,
        run: impl FnOnce(&bulk::Stamper<'_>, &Job<'_>) -> dropforge::diagnostics::Result<bulk::Report>,
    ) {
        let Self { fleet, layers, templates, plan, .. } = self;
        let names = plan.outputs().iter().map(|output| output.template.as_str());
        let stamper = templates.stamper(names, layers).expect("the templates");
        let job = Job { fleet, layers, plan, options: &options, watch: Watch::none() };
        let report = run(&stamper, &job).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.failed, 0);
    }
}

fn templates() -> (Templates, Vec<Output>) {
    let set = discover(&[workloads().join("w1/tera1")], None, &|name| dialect_of(name).is_some()).expect("templates");
    let templates = Templates::compile(&set, None, Engine::builder()).unwrap_or_else(|errors| panic!("{errors}"));
    let names = outputs(&set.files, &mut |name| templates.references(name)).expect("outputs");
    let outputs = names.into_iter().map(|name| Output::new(name, &language_extensions())).collect();
    (templates, outputs)
}

/// A directory in memory, removed on drop.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates an empty directory, below `/dev/shm` if it exists.
    ///
    /// # Panics
    /// Panics if it cannot be created.
    pub fn new(name: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = parent.join(format!("dropforge-{name}-{}", std::process::id()));
        // Leftovers of an earlier run.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover directory is harmless.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the files of a directory, sorted, with their paths below `root`. Skips the manifest and other hidden files.
pub fn files_below(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found.sort();
    found
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(root, &path, found);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            let below = path.strip_prefix(root).expect("a path below the root").to_owned();
            found.push((below, fs::read(&path).expect("a file")));
        }
    }
}

/// Files that a thread of the plain loop takes at a time: those of as many clusters as `bulk` hands out.
const BLOCK: usize = 5 * 64;

/// Writes each file below `root` to a temporary name and renames it.
///
/// # Panics
/// Panics if something fails.
pub fn plain_files(files: &[(PathBuf, Vec<u8>)], threads: usize, root: &Path) {
    let blocks: Vec<_> = files.chunks(BLOCK).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            block.iter().for_each(|(path, bytes)| plain_file(&root.join(path), bytes).expect("a file"));
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

fn plain_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file = match fs::File::create(&temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            fs::File::create(&temporary)
        }
        file => file,
    }?;
    file.write_all(bytes)?;
    fs::rename(&temporary, path)
}

/// Writes bytes one mebibyte at a time.
///
/// # Panics
/// Panics if something fails.
pub fn plain_stream(bytes: &[u8], path: &Path) {
    let mut file = fs::File::create(path).expect("a file");
    for piece in bytes.chunks(1 << 20) {
        file.write_all(black_box(piece)).expect("it is written");
    }
}
