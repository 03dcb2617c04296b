//! W7: a fleet of clusters × the five templates of W1. Each cluster's inputs override the shared ones.

use std::hint::black_box;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use dropforge::engine::OutputCheck;
use serde_json::Value;

use crate::engines::{Engine, Minijinja, Ours, Tera1, Tera2};
use crate::files::workloads;
use crate::subject::{
    Bar::{AtMost, Faster},
    Subject, Workload,
};
use crate::typed::{self, Compiled, Inputs, Own, Shared, askama::Askama, hand::Hand};
use crate::w1::{OUTPUTS, templates};

/// Number of clusters that the targets refer to.
pub const CLUSTERS: usize = 10_000;

/// The files of a generated fleet, removed on drop.
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// Generates a fleet of `clusters` with `python3`.
    ///
    /// # Panics
    /// Panics without `python3`.
    pub fn generate(clusters: usize) -> Self {
        let folder = std::env::temp_dir().join(format!("dropforge-w7-{}-{clusters}", std::process::id()));
        let made = Command::new("python3")
            .arg(workloads().join("gen_fleet.py"))
            .args([clusters.to_string().as_str(), "42"])
            .arg(&folder)
            .status();
        assert!(made.is_ok_and(|status| status.success()), "python3 generates the fleet");
        Self { folder }
    }

    /// Returns the folder with `shared.json` and `clusters.ndjson`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads one of the files.
    ///
    /// # Panics
    /// Panics if it cannot be read.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // A leftover folder in the temporary directory is harmless.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A parsed fleet.
pub struct Fleet {
    pub(crate) shared: Value,
    pub(crate) clusters: Vec<Value>,
}

impl Fleet {
    /// Generates a fleet of `clusters` and parses it.
    ///
    /// # Panics
    /// Panics if it cannot be generated.
    pub fn generate(clusters: usize) -> &'static Self {
        let files = Files::generate(clusters);
        let parse = |text: &str| serde_json::from_str(text).expect("generated JSON");
        let shared = parse(&files.text("shared.json"));
        let clusters = files.text("clusters.ndjson").lines().map(parse).collect();
        Box::leak(Box::new(Self { shared, clusters }))
    }
}

/// Renders the fleet on one thread into memory.
pub fn render(fleet: &'static Fleet) -> Workload {
    let mut hand = Typed::<Hand>::new(fleet);
    Workload {
        id: "w7",
        title: "W7: 10,000 clusters × 5 templates rendered, inputs converted, 1 thread",
        expected: hand.output(),
        subjects: vec![
            Box::new(Dynamic::<Ours>::new(fleet)),
            Box::new(Dynamic::<Minijinja>::new(fleet)),
            Box::new(Dynamic::<Tera2>::new(fleet)),
            Box::new(Dynamic::<Tera1>::new(fleet)),
            Box::new(Typed::<Askama>::new(fleet)),
            Box::new(hand),
        ],
        bars: vec![
            (Minijinja::NAME, Faster(6.0)),
            (Tera2::NAME, Faster(4.0)),
            (Tera1::NAME, Faster(10.0)),
            (Hand::NAME, AtMost(2.5)),
        ],
    }
}

/// Renders the fleet on one thread into memory and checks the outputs.
pub fn check(fleet: &'static Fleet) -> Workload {
    let subject = |check| -> Box<dyn Subject> { Box::new(Checked { ours: Dynamic::new(fleet), check }) };
    Workload {
        id: "w7-check",
        title: "W7: the same, outputs checked",
        expected: Dynamic::<Ours>::new(fleet).output(),
        subjects: vec![subject(Some(OutputCheck::default())), subject(None)],
        bars: vec![(UNCHECKED, AtMost(3.0))],
    }
}

/// The name of our engine without checks.
const UNCHECKED: &str = "dropforge, unchecked";

/// Our engine with or without checks of the outputs.
struct Checked {
    ours: Dynamic<Ours>,
    check: Option<OutputCheck>,
}

impl Subject for Checked {
    fn engine(&self) -> &'static str {
        if self.check.is_some() { Ours::NAME } else { UNCHECKED }
    }

    fn run(&mut self) {
        let Self { ours, check } = self;
        ours.stamp(&ours.fleet.clusters, &mut |_, text| {
            let errors = check.iter_mut().flat_map(|check| check.errors_of_file("app.yaml", black_box(text)));
            assert_eq!(errors.count(), 0);
        });
    }

    fn output(&mut self) -> String {
        self.run();
        self.ours.output()
    }
}

/// An engine that starts from `serde_json` values.
struct Dynamic<E> {
    engine: E,
    fleet: &'static Fleet,
    out: String,
}

impl<E: Engine> Dynamic<E> {
    fn new(fleet: &'static Fleet) -> Self {
        let mut engine = E::new(templates::<E>());
        engine.share(&fleet.shared);
        Self { engine, fleet, out: String::new() }
    }

    fn stamp(&mut self, clusters: &[Value], see: &mut dyn FnMut(usize, &str)) {
        for own in clusters {
            self.engine.stamp(own, OUTPUTS.len(), &mut self.out, see);
        }
    }
}

impl<E: Engine> Subject for Dynamic<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.stamp(&self.fleet.clusters, &mut |_, text| {
            black_box(text);
        });
    }

    fn output(&mut self) -> String {
        let mut digest = Digest::default();
        self.stamp(&self.fleet.clusters, &mut |_, text| digest.add(text));
        digest.finish()
    }
}

/// Compiled templates, whose inputs are converted to types.
pub(crate) struct Typed<E> {
    shared: Shared,
    fleet: &'static Fleet,
    out: String,
    engine: PhantomData<E>,
}

impl<E: Compiled> Typed<E> {
    pub(crate) fn new(fleet: &'static Fleet) -> Self {
        Self { shared: typed::read(&fleet.shared), fleet, out: String::new(), engine: PhantomData }
    }

    fn stamp(&mut self, mut see: impl FnMut(&str)) {
        for own in &self.fleet.clusters {
            let own: Own = typed::read(own);
            for entry in 0..OUTPUTS.len() {
                self.out.clear();
                E::render(Inputs { shared: &self.shared, own: &own }, entry, &mut self.out);
                see(&self.out);
            }
        }
    }
}

impl<E: Compiled> Subject for Typed<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.stamp(|text| {
            black_box(text);
        });
    }

    fn output(&mut self) -> String {
        let mut digest = Digest::default();
        self.stamp(|text| digest.add(text));
        digest.finish()
    }
}

/// A digest of a fleet's outputs: their total size, and a hash over each output and its end.
#[derive(Default)]
pub(crate) struct Digest {
    bytes: usize,
    hash: blake3::Hasher,
}

impl Digest {
    pub(crate) fn add(&mut self, text: &str) {
        self.bytes += text.len();
        self.hash.update(text.as_bytes()).update(&(text.len() as u64).to_le_bytes());
    }

    pub(crate) fn finish(self) -> String {
        format!("{} bytes, {}", self.bytes, self.hash.finalize())
    }
}

/// Clusters that a thread takes at a time.
const BLOCK: usize = 64;

/// Renders the fleet once with our engine on several threads, each with its own session. Returns the number of bytes.
pub fn threads(fleet: &'static Fleet, threads: usize) -> usize {
    let blocks: Vec<&[Value]> = fleet.clusters.chunks(BLOCK).collect();
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let (mut worker, mut count) = (Dynamic::<Ours>::new(fleet), 0);
        while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            worker.stamp(block, &mut |_, text| count += text.len());
        }
        bytes.fetch_add(count, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    bytes.into_inner()
}
