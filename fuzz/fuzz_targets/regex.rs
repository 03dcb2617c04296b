//! Regular expressions in every language, and glob patterns. The first line is the pattern.

#![no_main]

use dropforge::stdlib::globs;
use dropforge::{Dialect, Engine, Template};
use dropforge_fuzz::limits;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

const TEMPLATES: &[(Dialect, &str)] = &[
    (Dialect::Cel, "s.matches(p)"),
    (Dialect::Hcl, "${length(regexall(p, s)) > 0}"),
    (Dialect::Cel, "s.findAll(p)"),
    (Dialect::Cel, "[regex.extract(s, p), regex.extractAll(s, p), regex.replace(s, p, '<\\\\1>')]"),
    (Dialect::Hcl, "${jsonencode([regexall(p, s), replace(s, \"/${p}/\", \"<$1>\")])}"),
    (Dialect::Tera, "{{ s is matching(p) }}"),
];

thread_local! {
    static COMPILED: Vec<Template> = TEMPLATES.iter().map(compiled).collect();
}

fn compiled((dialect, text): &(Dialect, &str)) -> Template {
    let engine = Engine::builder().limits(limits()).build();
    engine.compile(*dialect, "t", text).unwrap_or_else(|errors| panic!("{errors}"))
}

fuzz_target!(|text: &str| {
    let (pattern, subject) = text.split_once('\n').unwrap_or((text, "ab ab"));
    let inputs = json!({"p": pattern, "s": subject});
    let results: Vec<_> = COMPILED.with(|all| all.iter().map(|template| template.render(&inputs)).collect());
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        dropforge_fuzz::report([&**error]);
    }
    if let [Ok(cel), Ok(hcl), ..] = results.as_slice() {
        assert_eq!(cel.trim(), hcl, "{pattern:?} in {subject:?}");
    }
    let _ = globs::alternatives(pattern);
});
