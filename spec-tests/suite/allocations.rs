//! A warm evaluation allocates nothing: every expression of the benchmark W6 is evaluated again in the memory of its
//! first evaluations.

use allocation_counter::measure;
use dropforge::dialect::{cel, hcl};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes};
use dropforge::vm::Space;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    cel: String,
    hcl: String,
}

/// Returns the names of the expressions whose third evaluation allocates. `evaluate` evaluates the expression `at`.
fn allocating(cases: &[Case], mut evaluate: impl FnMut(&mut Space, usize)) -> Vec<String> {
    let mut space = Space::new();
    let mut found = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        (0..2).for_each(|_| evaluate(&mut space, at));
        let count = measure(|| evaluate(&mut space, at)).count_total;
        if count > 0 {
            found.push(format!("{}: {count}", case.name));
        }
    }
    found
}

#[test]
fn a_warm_evaluation_allocates_nothing() {
    let read = |name: &str| {
        let path = format!("{}/../benches/workloads/w6/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("a workload")
    };
    let cases: Vec<Case> = serde_json::from_str(&read("expressions.json")).expect("cases");
    let data: Data = serde_json::from_str(&read("context.json")).expect("inputs");
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data(&data).expect("values"));
    let limits = Limits::default();
    let source = |text: &str| Source::new("expression", text);

    let compile = |case: &Case| hcl::Expression::new(&source(&case.hcl), &hcl::registry(), &limits).expect(&case.hcl);
    let expressions: Vec<_> = cases.iter().map(compile).collect();
    let in_hcl = allocating(&cases, |space, at| {
        space.reset();
        let answer = expressions[at].evaluate(space, inputs, &limits).expect("within the limits");
        assert!(answer.errors.is_empty());
    });
    let compile = |case: &Case| cel::Expression::new(&source(&case.cel), &cel::registry(), &limits).expect(&case.cel);
    let expressions: Vec<_> = cases.iter().map(compile).collect();
    let in_cel = allocating(&cases, |space, at| {
        space.reset();
        expressions[at].evaluate(space, inputs, &limits).expect("a value");
    });
    assert_eq!((in_hcl, in_cel), (Vec::new(), Vec::new()));
}
