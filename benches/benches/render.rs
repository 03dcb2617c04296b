//! W1: each of the five templates rendered once with ready inputs, and compiled once, ours beside tera 1.20.
//!
//! `cargo bench -p dropforge-benches --bench render`. Outputs are compared with the expected files first.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dropforge::engine::{Dialect, Engine, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;
use dropforge_benches::{OUTPUTS, w1_templates, workload};
use tera::{Context, Tera};

fn engine() -> Engine {
    w1_templates().into_iter().fold(Engine::builder(), |builder, (name, text)| builder.template(name, text)).build()
}

fn load(engine: &Engine, name: &str) -> Template {
    engine.load(Dialect::Tera, name).unwrap_or_else(|errors| panic!("{errors}"))
}

fn render(criterion: &mut Criterion) {
    let context: serde_json::Value = serde_json::from_str(&workload("w1/context.json")).expect("JSON");
    let mut tera = Tera::default();
    tera.add_raw_templates(w1_templates()).expect("the templates parse");
    let their_context = Context::from_value(context.clone()).expect("a map");
    let (arena, names, engine) = (Arena::new(), Arena::new(), engine());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).deserialize(&context).expect("a map"));
    let (mut session, mut out) = (Session::new(), String::new());
    for name in OUTPUTS {
        let template = load(&engine, name);
        out.clear();
        template.render_inputs(&mut session, inputs, &mut out).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(out, workload(&format!("w1/expected/{}", name.replace(".tera", ".yaml"))), "{name}");
        let mut group = criterion.benchmark_group(format!("W1 render {name}"));
        group.bench_function("tera 1.20", |bench| bench.iter(|| black_box(tera.render(name, &their_context))));
        group.bench_function("dropforge", |bench| {
            bench.iter(|| {
                out.clear();
                template.render_inputs(&mut session, inputs, black_box(&mut out))
            });
        });
        group.finish();
    }
}

fn compile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("W1 parse and compile");
    group.bench_function("tera 1.20, all files", |bench| {
        bench.iter(|| Tera::default().add_raw_templates(black_box(w1_templates())));
    });
    let engine = engine();
    group.bench_function("dropforge, five outputs", |bench| {
        bench.iter(|| OUTPUTS.map(|name| load(&engine, black_box(name))));
    });
    group.finish();
}

criterion_group!(benches, render, compile);
criterion_main!(benches);
