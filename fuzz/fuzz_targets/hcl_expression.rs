//! HCL expressions, traversals and type expressions: parsed and evaluated, errors explained.

#![no_main]

use dropforge::dialect::hcl::Expression;
use dropforge::dialect::hcl::syntax::parser::{parse_expression, parse_partial_traversal, parse_traversal};
use dropforge::dialect::hcl::typeexpr::{self, Mode};
use dropforge::text::Source;
use dropforge::value::{Arena, Inputs, Shapes};
use dropforge::vm::Space;
use dropforge_fuzz::{REGISTRY, limits, report, variables};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (source, limits) = (Source::new("e", text), limits());
    report(parse_traversal(&source, &limits).diagnostics.iter().map(|error| &**error));
    report(parse_partial_traversal(&source, &limits).diagnostics.iter().map(|error| &**error));
    let parsed = parse_expression(&source, &limits);
    let space = Space::new();
    let mut value = |_| Ok(dropforge::value::Value::Null);
    let read = typeexpr::read(&space.context(&limits), &parsed.tree, parsed.root, Mode::Defaults(&mut value));
    report(read.diagnostics.iter().map(|error| &**error));
    let _ = typeexpr::text(&read.ty);
    evaluate(&source);
});

fn evaluate(source: &std::sync::Arc<Source>) {
    let (names, space, limits) = (Arena::new(), Space::new(), limits());
    let shapes = Shapes::new(&names);
    let expression = match REGISTRY.with(|all| Expression::new(source, all, &limits)) {
        Ok(expression) => expression,
        Err(errors) => return report(errors.iter()),
    };
    let inputs = Inputs::new(variables(space.arena(), &shapes));
    match expression.evaluate(&space, inputs, &limits) {
        Err(error) => report([&*error]),
        Ok(mut evaluation) => {
            let _ = evaluation.value.to_data();
            expression.explain(&space, inputs, &limits, &mut evaluation.errors);
            report(evaluation.errors.iter().map(|error| &**error));
        }
    }
}
