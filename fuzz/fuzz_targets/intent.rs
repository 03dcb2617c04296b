//! Intent definitions: parsed, validated, resolved whole and step by step.

#![no_main]

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::tower::intent::{Inputs, Intent, ValidateOptions};
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};
use libfuzzer_sys::fuzz_target;

const INPUTS: &str = r#"{
    "params": {"app": "it's", "n": 2, "b": true, "l": ["a", 1], "x": "-v"},
    "context": {"rev": 7, "name": "é $(x)"},
    "facts": {"execution_id": "e1", "failed_step": "build"}
}"#;

fuzz_target!(|text: &str| {
    let intent = match Intent::parse_within(&Source::new("i.yaml", text), &dropforge_fuzz::limits()) {
        Ok(intent) => intent,
        Err(errors) => return report(&errors),
    };
    for strict in [true, false] {
        let found = intent.validate(&ValidateOptions { strict, ..ValidateOptions::default() });
        report(&found.errors);
        report(&found.warnings);
    }
    resolve(intent, &Inputs::from_json(INPUTS).expect("the inputs are valid"));
});

fn resolve(mut intent: Intent, inputs: &Inputs) {
    report(&intent.resolve(inputs).err().unwrap_or_default());
    let steps: Vec<String> = intent.steps().iter().filter_map(|step| step.name.clone()).collect();
    for step in &steps {
        report(&intent.resolve_step(step, inputs, &mut |_| {}).err().unwrap_or_default());
        let outputs = DataMap::from_iter([("tag".to_owned(), Data::Str("a b".to_owned()))]);
        intent.step_completed(step, outputs).expect("the step exists");
    }
}

fn report(errors: &[Box<Diagnostic>]) {
    dropforge_fuzz::report(errors.iter().map(|error| &**error));
}
