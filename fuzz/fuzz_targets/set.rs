//! `--set` and similar options. The first byte selects the option.

#![no_main]

use dropforge::bulk::values::{Gaps, SetKind, parse_set};
use dropforge::value::Data;
use dropforge_fuzz::{inputs, report};
use libfuzzer_sys::fuzz_target;

const KINDS: [SetKind; 5] = [SetKind::Typed, SetKind::Text, SetKind::Json, SetKind::File, SetKind::Literal];

fuzz_target!(|text: &str| {
    let Some(first) = text.chars().next() else { return };
    let kind = KINDS[first as usize % KINDS.len()];
    match parse_set(kind, &text[first.len_utf8()..], &mut |name| Ok(name.to_owned())) {
        Err(error) => report([&*error]),
        Ok(assignments) => {
            let data: Data = serde_json::from_value(inputs()).expect("the inputs are data");
            let (mut map, mut gaps) = (data.into_map().expect("the inputs are a map"), Gaps::default());
            for assignment in assignments {
                assert!(!assignment.top().is_empty() || text.contains('=') || text.contains('{') || text.contains('['));
                assignment.apply(&mut map, &mut gaps).unwrap_or_else(|error| report([&*error]));
            }
            let json = serde_json::to_string(&Data::Map(map)).expect("data is JSON");
            serde_json::from_str::<Data>(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
        }
    }
});
