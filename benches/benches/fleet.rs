//! W7: a fleet of clusters × five templates, rendered on one thread into memory, ours beside tera 1.20.
//!
//! `cargo bench -p dropforge-benches --bench fleet [-- CLUSTERS]` (10,000 unless said). Both start from parsed JSON
//! values, so the conversion of inputs is part of the time. Every manifest is compared before anything is timed;
//! the rounds are interleaved, and the minimum of each engine counts.

use std::time::{Duration, Instant};

use dropforge::engine::{Dialect, Engine, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;
use dropforge_benches::{Fleet, OUTPUTS, w1_templates, w7};
use tera::{Context, Tera};

const ROUNDS: usize = 5;

fn main() {
    let clusters = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(10_000);
    let fleet = w7(clusters);
    let (tera, ours) = (tera(), ours());
    let bytes = compare(&fleet, &tera, &ours);
    let mut times = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        times[0] = times[0].min(timed(|| with_tera(&fleet, &tera, |_, _, _| ())));
        times[1] = times[1].min(timed(|| with_ours(&fleet, &ours, |_, _, _| ())));
    }
    let [theirs, mine] = times.map(|time| time.as_secs_f64());
    println!("W7: {clusters} clusters x {} templates, {bytes} bytes, the same bytes from both", OUTPUTS.len());
    println!("tera 1.20  {theirs:.3} s");
    println!("dropforge  {mine:.3} s");
    println!("ratio      {:.1} x faster than tera 1.20 (bar of the first issue: 5)", theirs / mine);
}

fn tera() -> Tera {
    let mut tera = Tera::default();
    tera.add_raw_templates(w1_templates()).expect("the templates parse");
    tera
}

fn ours() -> Vec<Template> {
    let builder =
        w1_templates().into_iter().fold(Engine::builder(), |builder, (name, text)| builder.template(name, text));
    let engine = builder.build();
    let load = |name: &&str| engine.load(Dialect::Tera, name).unwrap_or_else(|errors| panic!("{errors}"));
    OUTPUTS.iter().map(load).collect()
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn with_tera(fleet: &Fleet, tera: &Tera, mut see: impl FnMut(usize, usize, &str)) {
    for (at, cluster) in fleet.clusters.iter().enumerate() {
        let mut context = Context::from_value(fleet.shared.clone()).expect("a map");
        context.extend(Context::from_value(cluster.clone()).expect("a map"));
        for (nth, name) in OUTPUTS.iter().enumerate() {
            see(at, nth, &tera.render(name, &context).expect("it renders"));
        }
    }
}

fn with_ours(fleet: &Fleet, templates: &[Template], mut see: impl FnMut(usize, usize, &str)) {
    let (base_arena, names, mut arena) = (Arena::new(), Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let base = InputBuilder::new(&base_arena, &shapes).deserialize(&fleet.shared).expect("a map");
    let (mut session, mut out) = (Session::new(), String::new());
    for (at, cluster) in fleet.clusters.iter().enumerate() {
        let over = InputBuilder::new(&arena, &shapes).deserialize(cluster).expect("a map");
        let inputs = Inputs::layered(base, over);
        for (nth, template) in templates.iter().enumerate() {
            out.clear();
            template.render_inputs(&mut session, inputs, &mut out).unwrap_or_else(|error| panic!("{error}"));
            see(at, nth, &out);
        }
        arena.reset();
    }
}

/// Renders everything with both and compares; the answer is how many bytes that is.
fn compare(fleet: &Fleet, tera: &Tera, templates: &[Template]) -> usize {
    let mut wanted = Vec::new();
    with_tera(fleet, tera, |_, _, text| wanted.push(blake(text)));
    let (mut wanted, mut bytes) = (wanted.into_iter(), 0);
    with_ours(fleet, templates, |cluster, template, text| {
        bytes += text.len();
        assert_eq!(wanted.next(), Some(blake(text)), "cluster {cluster}, template {}", OUTPUTS[template]);
    });
    bytes
}

fn blake(text: &str) -> (usize, [u8; 32]) {
    (text.len(), *blake3::hash(text.as_bytes()).as_bytes())
}
