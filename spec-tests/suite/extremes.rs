//! Every function of every language with extreme numbers in every place: a call ends in a result or an error, never in a
//! panic, and holds no more memory than its limit allows.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use allocation_counter::measure;
use dropforge::bytecode::ImportKind;
use dropforge::engine::{Dialect, Engine, Template};
use dropforge::function::{Builtin, Capabilities, Params};
use dropforge::limits::Limits;
use dropforge::value::{Arena, Inputs, Value};
use dropforge::vm::Session;

use super::is_thorough;

/// The limit on memory, and the bytes that a call may hold at a time: caches of patterns and zones are besides.
const LIMIT: u64 = 1 << 20;
const MOST: u64 = 24 << 20;

/// Whole numbers at the ends of types, and at the limits that libraries have.
const WHOLE: [i64; 30] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 53) - 1,
    i32::MIN as i64 - 1,
    i32::MIN as i64,
    -1_000_001,
    -65_536,
    -2,
    -1,
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    255,
    256,
    65_535,
    65_536,
    1_000_000,
    1_000_001,
    i32::MAX as i64,
    i32::MAX as i64 + 1,
    u32::MAX as i64,
    u32::MAX as i64 + 1,
    (1 << 53) + 1,
    253_402_300_800,
    i64::MAX - 1,
    i64::MAX,
];

/// Floats at the ends of their type, and beyond those of integers.
const FLOATS: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -0.0,
    0.5,
    -0.5,
    5e-324,
    1e15,
    9.223_372_036_854_776e18,
    1.844_674_407_370_955_2e19,
    -1e19,
    1e300,
    f64::MAX,
    f64::MIN,
];

/// Texts that functions take: numbers, lists, versions, moments, networks, formats.
const TEXTS: [&str; 26] = [
    "",
    "text",
    "a,b\nc",
    "ß\u{1F600}e\u{301}",
    "9223372036854775808",
    "-9223372036854775808",
    "1e400",
    "NaN",
    "0x7fffffffffffffff",
    "18446744073709551616.18446744073709551616.0",
    "1.2.3",
    "2024-02-29",
    "9999-12-31T23:59:59.999999999Z",
    "2006-01-02T15:04:05Z07:00",
    "9223372036854775807ns",
    "2562047h47m16.854775807s",
    "UTC",
    "10.0.0.0/8",
    "::/0",
    "255.255.255.255/32",
    "%*.*d",
    "%[1]*.[1]*[1]f %x %c %U %q",
    "%1000000.1000000v",
    "%.65536e",
    "(a*)*$",
    "9223372036854775807Ei",
];

/// Returns the values that are put beside each other, extreme numbers first, and how many of them are numbers.
fn values(arena: &Arena) -> (Vec<Value<'_>>, usize) {
    let numbers = WHOLE.map(Value::Int).into_iter().chain([u64::MAX, i64::MAX as u64 + 1].map(Value::uint));
    let mut all: Vec<_> = numbers.chain(FLOATS.map(Value::Float)).collect();
    let count = all.len();
    let texts: Vec<_> = TEXTS.iter().map(|text| arena.text(text)).collect();
    let list = arena.list(&[Value::Int(3), Value::Int(i64::MAX), Value::Float(f64::NAN)]);
    all.extend(&texts);
    all.extend([list, arena.list(&texts[..4]), arena.list(&[]), arena.map(&[("a", Value::Int(1)), ("b", list)])]);
    all.extend([Value::Null, Value::Bool(true)]);
    (all, count)
}

/// The most arguments of a call of a function that takes any number.
const MOST_ARGUMENTS: usize = 4;

/// The names of the arguments.
pub(super) const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Returns calls of a function, each with its number of arguments.
pub(super) fn calls(builtin: &Builtin) -> Vec<(String, usize)> {
    let name = &builtin.name;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':'));
    if !is_name || builtin.kind == ImportKind::Intrinsic {
        return Vec::new();
    }
    let listed = |from: usize, count: usize, separator: &str| NAMES[from..count.max(from)].join(separator);
    match &builtin.params {
        Params::Assigned(params) => {
            let call = |count| {
                format!("{{{{ {name}{} }}}}", NAMES[..count].iter().map(|name| format!(" .{name}")).collect::<String>())
            };
            (0..=MOST_ARGUMENTS).filter(|count| params.takes(*count)).map(|count| (call(count), count)).collect()
        }
        Params::Positional(params) => {
            let least = params.params.len();
            let most = if params.rest.is_some() { MOST_ARGUMENTS } else { least };
            let call = |count| (format!("${{{name}({})}}", listed(0, count, ", ")), count);
            // Numbers of any size.
            let large = |at: usize| {
                let (call, count) = call(least);
                (call.replace(NAMES[at], &format!("{} * 1e999", NAMES[at])), count)
            };
            (least..=most).map(call).chain((0..least).map(large)).collect()
        }
        Params::Named(params) => {
            let given = |from| {
                let given = params.iter().zip(NAMES).skip(from).map(|(param, name)| format!("{}={name}", param.name));
                given.collect::<Vec<_>>().join(", ")
            };
            let call = match (builtin.kind, params.len()) {
                (ImportKind::Filter, _) => format!("{{{{ a | {name}({}) }}}}", given(1)),
                // The last parameter of a test rejects further arguments.
                (ImportKind::Test, ..=2) => format!("{{% if a is {name} %}}{{% endif %}}"),
                (ImportKind::Test, count) => {
                    format!("{{% if a is {name}({}) %}}{{% endif %}}", listed(1, count - 1, ", "))
                }
                _ => format!("{{{{ {name}({}) }}}}", given(0)),
            };
            vec![(call, params.len())]
        }
        Params::Overloaded(overloads) => {
            let call = |member, count| match member {
                true => format!("a.{name}({})", listed(1, count, ", ")),
                false => format!("{name}({})", listed(0, count, ", ")),
            };
            let calls = overloads.iter().map(|overload| (overload.member, overload.params.len()));
            let calls: BTreeSet<_> = calls.map(|(member, count)| (call(member, count), count)).collect();
            calls.into_iter().collect()
        }
        Params::Open => Vec::new(),
    }
}

/// Renders a template with values as `a`, `b` and so on. Returns what went wrong.
fn run(template: &Template, session: &mut Session, given: &[Value<'_>]) -> Option<String> {
    let arena = Arena::new();
    let entries: Vec<_> = NAMES.into_iter().zip(given.iter().copied()).collect();
    let inputs = Inputs::new(arena.map(&entries));
    let mut ended = Ok(());
    let held = measure(|| {
        ended = catch_unwind(AssertUnwindSafe(|| {
            let _ = template.render_inputs(session, inputs, &mut String::new());
        }))
        .map_err(|_| "a panic");
    });
    let shown = || given.iter().map(|value| format!("{:?}", value.to_data())).collect::<Vec<_>>().join(", ");
    match ended {
        Err(panic) => Some(format!("{panic} for {}", shown())),
        Ok(()) if held.bytes_max > MOST => Some(format!("{} bytes for {}", held.bytes_max, shown())),
        Ok(()) => None,
    }
}

/// Returns arguments for a call: each number in each place, beside other values, and some numbers in all places.
fn arguments<'v>(all: &[Value<'v>], numbers: usize, places: usize) -> Vec<Vec<Value<'v>>> {
    let beside = if is_thorough() { all.len() } else { 2 };
    let mut rows = Vec::new();
    for (place, number) in (0..places).flat_map(|place| (0..numbers).map(move |number| (place, number))) {
        for nth in 0..beside {
            // A step that is prime to the number of values, so that all of them come beside all numbers.
            let other = |at: usize| all[(numbers + nth * 7 + number * 11 + at * 3) % all.len()];
            rows.push((0..places).map(|at| if at == place { all[number] } else { other(at) }).collect());
        }
    }
    for number in 0..numbers {
        rows.push(vec![all[number]; places]);
        rows.push((0..places).map(|at| all[(number * 5 + at * 13) % numbers]).collect());
    }
    rows
}

#[track_caller]
fn ends_well(dialect: Dialect, least: usize) {
    let limits = Limits { fuel: 100_000, memory: LIMIT, output_bytes: 1 << 20, ..Limits::default() };
    let engine = Engine::builder().limits(limits).allow(Capabilities::ALL).build();
    let arena = Arena::new();
    let (all, numbers) = values(&arena);
    let (mut session, mut runs, mut wrong) = (Session::new(), 0, Vec::new());
    for builtin in engine.registry(dialect).iter() {
        for (text, places) in calls(builtin) {
            let Ok(template) = engine.compile(dialect, "t", &text) else { continue };
            for given in arguments(&all, numbers, places) {
                runs += 1;
                wrong.extend(run(&template, &mut session, &given).map(|what| format!("{text}: {what}")));
            }
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(runs > least, "{runs} calls of {dialect:?}");
}

#[test]
fn functions_of_helm() {
    ends_well(Dialect::Helm, 10_000);
}

#[test]
fn functions_of_tera() {
    ends_well(Dialect::Tera, 5_000);
}

#[test]
fn functions_of_hcl() {
    ends_well(Dialect::Hcl, 10_000);
}

#[test]
fn functions_of_cel() {
    ends_well(Dialect::Cel, 5_000);
}
