//! Long work looks at the clock: every function of every language with huge arguments in every place. No clock is read
//! here. The steps that a call pays for say how long it works, and the looks at the clock in between are counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dropforge::engine::{Dialect, Engine, Template};
use dropforge::function::Capabilities;
use dropforge::limits::{Deadline, Limits};
use dropforge::value::{Arena, Inputs, Value};
use dropforge::vm::Session;

use super::extremes::{NAMES, calls};
use super::is_thorough;

/// The most steps for each look at the clock: those of 256 kB of text, or of some thousand items.
const STEPS: u64 = 1 << 12;

/// The steps of a call, so that those which compare all pairs end.
const FUEL: u64 = 1 << 17;

/// The size of a huge list, and the bytes of a huge text for each of its items.
const ITEMS: usize = 6_000;
const BYTES: usize = 50;

/// Functions that go over a text in one pass, or wait for a search or a cipher that cannot be left, without a look at the
/// clock.
const AT_ONCE: [(Dialect, &[&str]); 4] = [
    (
        Dialect::Tera,
        &[
            "b64decode",
            "b64encode",
            "concat",
            "from_json",
            "from_yaml",
            "md5",
            "quote",
            "regex_match",
            "regex_replace",
            "semver_compare",
            "sha1",
            "sha256",
            "slugify",
        ],
    ),
    (
        Dialect::Helm,
        &[
            "adler32sum",
            "b32enc",
            "b64enc",
            "buildCustomCert",
            "camelcase",
            "cat",
            "clean",
            "date",
            "dateInZone",
            "date_in_zone",
            "decryptAES",
            "dir",
            "encryptAES",
            "genPrivateKey",
            "html",
            "join",
            "js",
            "kebabcase",
            "merge",
            "mergeOverwrite",
            "mustMerge",
            "mustMergeOverwrite",
            "mustRegexFind",
            "mustRegexMatch",
            "mustRegexReplaceAll",
            "mustRegexReplaceAllLiteral",
            "osClean",
            "osDir",
            "print",
            "printf",
            "println",
            "quote",
            "regexFind",
            "regexMatch",
            "regexQuoteMeta",
            "regexReplaceAll",
            "regexReplaceAllLiteral",
            "repeat",
            "semver",
            "semverCompare",
            "set",
            "sha1sum",
            "sha256sum",
            "sha512sum",
            "shuffle",
            "snakecase",
            "squote",
            "urlParse",
            "urlquery",
            "wrap",
        ],
    ),
    (
        Dialect::Hcl,
        &[
            "base64encode",
            "base64gzip",
            "base64sha256",
            "base64sha512",
            "csvdecode",
            "dirname",
            "sha1",
            "sha256",
            "sha512",
            "strrev",
            "substr",
            "trim",
            "urldecode",
            "urlencode",
            "join",
            "md5",
            "regex",
            "regexall",
            "regexreplace",
        ],
    ),
    (
        Dialect::Cel,
        &[
            "hash.fnv64a",
            "hash.md5",
            "deepMerge",
            "hash.sha256",
            "merge",
            "isQuantity",
            "isSemver",
            "jsonpatch.escapeKey",
            "strings.quote",
            "json.unmarshal",
            "quantity",
            "random.seededString",
            "semver",
        ],
    ),
];

/// Returns the huge arguments.
fn huge(arena: &Arena) -> Vec<Value<'_>> {
    let text = |part: &str| arena.text(&part.repeat(ITEMS * BYTES / part.len()));
    let keys: Vec<_> = (0..ITEMS).map(|at| arena.copy_str(&format!("key{}", at * 7919 % ITEMS))).collect();
    let texts: Vec<_> = keys.iter().map(|key| arena.text(key)).collect();
    let numbers: Vec<_> = (0..ITEMS).map(|at| Value::Int((at * 7919 % ITEMS) as i64)).collect();
    let maps: Vec<_> = texts.iter().map(|text| arena.map(&[("a", *text)])).collect();
    let entries: Vec<_> = keys.iter().zip(&numbers).map(|(key, number)| (*key, *number)).collect();
    let lists = [&texts, &numbers, &maps].map(|items| arena.list(items));
    let texts = ["ab c, d\n", "\u{e9}\u{df} "].map(text);
    texts.into_iter().chain(lists).chain([arena.map(&entries)]).collect()
}

/// Returns arguments of `places` places, each of which has a huge value in some of them.
fn arguments<'v>(huge: &[Value<'v>], others: &[Value<'v>], places: usize) -> Vec<Vec<Value<'v>>> {
    let mut rows = Vec::new();
    for (place, value) in (0..places).flat_map(|place| huge.iter().map(move |value| (place, *value))) {
        let others = others.iter().chain((places > 1 && place == 0).then_some(&value));
        rows.extend(others.map(|other| (0..places).map(|at| if at == place { value } else { *other }).collect()));
    }
    rows
}

/// Renders a template. Returns the steps that it took for each look at the clock.
fn steps(template: &Template, limits: &Limits, session: &mut Session, given: &[Value<'_>]) -> u64 {
    let arena = Arena::new();
    let entries: Vec<_> = NAMES.into_iter().zip(given.iter().copied()).collect();
    let _ = template.render_inputs(session, Inputs::new(arena.map(&entries)), &mut String::new());
    session.left().map_or(0, |left| (limits.fuel - left.fuel) / (left.asked + 1))
}

#[track_caller]
fn asks(dialect: Dialect, least: usize) {
    let limits = Limits { fuel: FUEL, ..Limits::default() };
    let engine = Engine::builder().limits(limits.clone()).allow(Capabilities::ALL).build();
    let arena = Arena::new();
    let huge = huge(&arena);
    let few = arena.list(&[arena.text(","), arena.text("a")]);
    let others = [arena.text(","), Value::Int(2), few];
    let (mut session, mut runs, mut wrong) = (Session::new(), 0, BTreeMap::new());
    session.set_deadline(Some(Arc::new(Deadline::after(Duration::from_secs(600)))));
    let at_once = AT_ONCE.iter().find(|(of, _)| *of == dialect).map_or(&[][..], |(_, names)| names);
    let nth = if is_thorough() { 1 } else { 5 };
    for builtin in engine.registry(dialect).iter().filter(|builtin| !at_once.contains(&&*builtin.name)).step_by(nth) {
        for (text, places) in calls(builtin).into_iter().filter(|(_, places)| *places <= 3) {
            let Ok(template) = engine.compile(dialect, "t", &text) else { continue };
            for given in arguments(&huge, &others, places) {
                let steps = steps(&template, &limits, &mut session, &given);
                runs += 1;
                if steps > STEPS {
                    let kinds: Vec<_> = given.iter().map(Value::kind).collect();
                    wrong.insert(text.clone(), format!("{text}: {steps} steps at once for {}", kinds.join(", ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} calls\n{}", wrong.len(), wrong.into_values().collect::<Vec<_>>().join("\n"));
    assert!(runs > least, "{runs} calls of {dialect:?}");
}

#[test]
fn functions_of_helm_look_at_the_clock() {
    asks(Dialect::Helm, 100);
}

#[test]
fn functions_of_tera_look_at_the_clock() {
    asks(Dialect::Tera, 100);
}

#[test]
fn functions_of_hcl_look_at_the_clock() {
    asks(Dialect::Hcl, 100);
}

#[test]
fn functions_of_cel_look_at_the_clock() {
    asks(Dialect::Cel, 100);
}
