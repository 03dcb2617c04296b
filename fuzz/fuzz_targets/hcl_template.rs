//! HCL templates: compiled, rendered, written as an artifact, checked.

#![no_main]

use dropforge::Dialect;
use dropforge::dialect::hcl::check::check_template;
use dropforge::text::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    dropforge_fuzz::render(Dialect::Hcl, text);
    let checked = |registry: &_| check_template(&Source::new("t", text), registry, None, &dropforge_fuzz::limits());
    match dropforge_fuzz::REGISTRY.with(checked) {
        Ok(errors) => dropforge_fuzz::report(errors.iter().map(|error| &**error)),
        Err(errors) => dropforge_fuzz::report(errors.iter()),
    }
});
