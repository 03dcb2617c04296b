//! Generated expressions have the same value, or fail, both here and in CEL-C++.
//!
//! `spec-tests/cel/install` installs the reference. If it is missing, the property prints a message and is skipped; in CI it
//! fails.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use dropforge::dialect::cel::check::Environment;
use dropforge::dialect::cel::{Expression, Settings, registry};
use dropforge::function::Registry;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Extended, InputBuilder, Inputs, Shapes, Value};
use dropforge::vm::Space;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::json;

/// Expressions by the letter of their type, with the letters of their parts in braces.
///
/// I int, U uint, D double, S string, Y bytes, B bool, T timestamp, P duration, L list(int), R list(string), M map(string, int),
/// O optional(int), Q such an optional that is not of a value of any type, X any value.
///
/// Not compared, as the reference differs from the specification or from cel-go there: the parts of an empty text
/// (`''.split('')`), a substring that ends with the text, searches from the end of a text or after it, base64 with white space or
/// without padding, numbers in texts with white space around them, `T` and `F` as booleans, optionals of values of any type in
/// literals, macros and `value()`, the order of the keys of a map, a key given twice where an operator absorbs the error, and
/// macros over an empty literal, whose type cel-go infers from the first overload that takes an element.
const SHAPES: &str = r#"
I ~ 1 ~ 0 ~ -1 ~ 7 ~ i ~ 9223372036854775807 ~ (-9223372036854775808) ~ m.a ~ l[1] ~ m['zz'] ~ 0x10 ~ 2147483648
I ~ ({I} + {I}) ~ ({I} - {I}) ~ ({I} * {I}) ~ ({I} / {I}) ~ ({I} % {I}) ~ (-{I}) ~ ({B} ? {I} : {I}) ~ size({S})
I ~ {R}.size() ~ size({M}) ~ size({Y}) ~ {L}[{I}] ~ {M}[{S}] ~ int({D}) ~ int({U}) ~ int({S}.trim()) ~ int({T})
I ~ {P}.getSeconds() ~ {P}.getMinutes() ~ {P}.getHours() ~ {P}.getMilliseconds() ~ {T}.getFullYear() ~ {T}.getMonth()
I ~ {T}.getDate() ~ {T}.getDayOfMonth() ~ {T}.getDayOfWeek() ~ {T}.getDayOfYear() ~ {T}.getHours()
I ~ {T}.getMinutes('+05:30') ~ {T}.getSeconds() ~ {T}.getMilliseconds() ~ {T}.getHours('America/New_York')
I ~ {T}.getDate('-23:59') ~ {S}.indexOf({S}) ~ ('aba' + {S}).indexOf({S}, 2) ~ {S}.lastIndexOf({S})
I ~ ('aba' + {S}).lastIndexOf({S}, 2) ~ math.greatest({I}, {I}) ~ math.least({L}) ~ math.abs({I}) ~ math.sign({I})
I ~ math.bitAnd({I}, {I}) ~ math.bitXor({I}, {I}) ~ math.bitNot({I}) ~ math.bitShiftLeft({I}, {I})
I ~ math.bitShiftRight({I}, {I}) ~ cel.bind(v, {I}, v + {I}) ~ {O}.orValue({I}) ~ {Q}.value() ~ dyn({I})
I ~ {M}.?a.orValue({I}) ~ math.greatest([0] + {M}.map(k, {M}[k]))
U ~ 1u ~ 0u ~ 18446744073709551615u ~ 0xFFu ~ ({U} + {U}) ~ ({U} - {U}) ~ ({U} * {U}) ~ ({U} / {U}) ~ ({U} % {U})
U ~ uint({I}) ~ uint({D}) ~ uint({S}.trim()) ~ ({B} ? {U} : {U}) ~ math.bitOr({U}, {U}) ~ math.greatest({U}, {U})
D ~ 1.5 ~ -0.0 ~ 1e308 ~ 0.1 ~ 1e-320 ~ d ~ 9.007199254740993e15 ~ 9223372036854775807.0 ~ ({D} + {D}) ~ ({D} - {D})
D ~ ({D} * {D}) ~ ({D} / {D}) ~ (-{D}) ~ double({I}) ~ double({U}) ~ double({S}.trim()) ~ ({B} ? {D} : {D}) ~ math.ceil({D})
D ~ math.floor({D}) ~ math.round({D}) ~ math.trunc({D}) ~ math.abs({D}) ~ math.sign({D}) ~ math.least({D}, {D})
D ~ math.sqrt({D})
S ~ 'a' ~ '' ~ 'ab ba' ~ s ~ 'é日😀' ~ '12' ~ '-7' ~ '1.5' ~ 'true' ~ r'\d+' ~ 'x\ny\t"q"\u00e9' ~ 'b' ~ ' a '
S ~ ({S} + {S}) ~ string({I}) ~ string({U}) ~ string({B}) ~ string({Y}) ~ string({S}) ~ ({B} ? {S} : {S}) ~ {R}[{I}]
S ~ {S}.charAt({I}) ~ {S}.lowerAscii() ~ {S}.upperAscii() ~ {S}.replace({S}, {S}) ~ {S}.replace({S}, {S}, {I})
S ~ {S}.substring({I}) ~ ({S} + 'é!').substring(0, 1) ~ {S}.trim() ~ {R}.join() ~ {R}.join({S}) ~ {S}.reverse()
S ~ strings.quote({S}) ~ base64.encode({Y}) ~ '%d|%s|%x|%b|%o'.format([{I}, {S}, {I}, {I}, {U}])
S ~ '%s %s'.format([{B}, {L}]) ~ '%.2f'.format([{D}]) ~ '%X %s'.format([{S}, null])
Y ~ b'a' ~ b'' ~ b'\xff\x00' ~ bytes({S}) ~ ({Y} + {Y}) ~ base64.decode(base64.encode({Y})) ~ ({B} ? {Y} : {Y})
B ~ true ~ false ~ b ~ ({B} && {B}) ~ ({B} || {B}) ~ !{B} ~ ({I} < {I}) ~ ({I} >= {I}) ~ ({U} <= {U}) ~ ({D} > {D})
B ~ ({S} < {S}) ~ ({Y} >= {Y}) ~ ({B} < {B}) ~ ({T} < {T}) ~ ({P} <= {P}) ~ ({I} == {I}) ~ ({D} == {D}) ~ ({S} != {S})
B ~ ({L} == {L}) ~ ({M} == {M}) ~ ({X} == {X}) ~ ({X} != {X}) ~ ({Y} == {Y}) ~ ({T} == {T}) ~ ({P} == {P})
B ~ ({I} in {L}) ~ ({S} in {R}) ~ ({S} in {M}) ~ ({X} in [{X}, {X}]) ~ (dyn({I}) < dyn({D})) ~ (dyn({U}) >= dyn({I}))
B ~ (dyn({D}) == dyn({U})) ~ (dyn({X}) < dyn({X})) ~ {S}.contains({S}) ~ {S}.startsWith({S}) ~ {S}.endsWith({S})
B ~ {S}.matches({S}) ~ matches({S}, '^[a-z ]*$') ~ bool({S}.lowerAscii()) ~ has(m.a) ~ has(m.zz) ~ has({M}.x) ~ {L}.all(x, x > {I})
B ~ {L}.exists(x, x == {I}) ~ {L}.exists_one(x, x / {I} == 1) ~ {R}.all(x, {I} / x.size() > 0)
B ~ {M}.exists(k, k == {S}) ~ {M}.all(k, {M}[k] > 0) ~ (type({X}) == type({X})) ~ (type({X}) == int) ~ ({X} == null)
B ~ {O}.hasValue() ~ ({O} == {O}) ~ math.isNaN({D}) ~ math.isInf({D}) ~ math.isFinite({D})
B ~ ({L} == [] || {M} == {} || size([]) == {I})
T ~ timestamp('2024-02-29T23:59:59.999999999Z') ~ timestamp(0) ~ timestamp('0001-01-01T00:00:00Z')
T ~ timestamp('9999-12-31T23:59:59Z') ~ timestamp('1969-12-31T23:59:59.5-08:00') ~ timestamp({I}) ~ ({T} + {P})
T ~ ({T} - {P}) ~ ({P} + {T}) ~ timestamp({S}) ~ ({B} ? {T} : {T})
P ~ duration('1.5s') ~ duration('-90m') ~ duration('1h2m3s4ms') ~ duration('0s') ~ duration('1ns') ~ ({P} + {P})
P ~ ({P} - {P}) ~ ({T} - {T}) ~ duration({S})
L ~ [1, 2, 3] ~ [1].filter(x, x > 1) ~ l ~ [{I}] ~ [{I}, {I}, {I}] ~ ({L} + {L}) ~ {L}.map(x, x * {I})
L ~ {L}.filter(x, x > {I}) ~ {L}.map(x, x > {I}, x + 1) ~ {R}.map(x, x.size()) ~ ({B} ? {L} : {L})
L ~ [?{Q}, {I}] ~ {L}.map(x, {L}.map(y, x + y)).map(z, z[0])
R ~ ['a', 'b'] ~ ['a'].filter(x, x == 'b') ~ [{S}, {S}] ~ ({S} + 'q').split({S}) ~ ({S} + 'q').split({S}, {I})
R ~ {R}.filter(x, x.contains({S})) ~ {R}.map(x, x + {S}) ~ ({R} + {R})
M ~ {'a': 1} ~ m ~ {{S}: {I}} ~ {{S}: {I}, 'k' + {S}: {I}} ~ ({B} ? {M} : {M}) ~ {?'a': {Q}}
O ~ optional.of({I}) ~ {Q} ~ optional.ofNonZeroValue(0) ~ optional.ofNonZeroValue({I}) ~ {L}[?{I}] ~ {M}[?{S}]
O ~ {O}.or({O}) ~ {Q}.optMap(x, x + {I}) ~ m.?b
Q ~ optional.of({I}) ~ optional.ofNonZeroValue({I} - {I}) ~ {Q}.or({Q}) ~ [1, {I}].first()
X ~ {I} ~ null ~ {U} ~ {D} ~ {S} ~ {B} ~ {Y} ~ {L} ~ {M} ~ {T} ~ {P} ~ x ~ x.none ~ dyn({X}) ~ [{X}] ~ {'k': {X}}
"#;

/// Maximum number of differences to print.
const SHOWN: usize = 150;

/// The types of whole expressions.
const ROOTS: &str = "IUDSYBLRMIBS";

/// Depth from which expressions have no parts.
const DEPTH: usize = 5;

fn inputs() -> serde_json::Value {
    json!({"i": 3, "s": "a b", "d": 2.5, "b": true, "l": [1, 2, 3], "m": {"a": 1, "b": 2}, "x": null})
}

/// Returns the shapes by their types: those without parts, then all.
fn shapes() -> HashMap<char, [Vec<&'static str>; 2]> {
    let mut shapes: HashMap<char, [Vec<&str>; 2]> = HashMap::new();
    for (of, all) in SHAPES.lines().filter_map(|line| line.split_once(" ~ ")) {
        let [leaves, known] = shapes.entry(of.chars().next().expect("a type")).or_default();
        known.extend(all.split(" ~ "));
        leaves.extend(all.split(" ~ ").filter(|shape| places(shape).next().is_none()));
    }
    shapes
}

/// Writes an expression of a type, as `choices` have it. A type without leaves goes deeper.
fn write(
    out: &mut String,
    of: char,
    depth: usize,
    shapes: &HashMap<char, [Vec<&str>; 2]>,
    choices: &mut dyn Iterator<Item = u16>,
) {
    let [leaves, all] = &shapes[&of];
    let from = if depth >= DEPTH && !leaves.is_empty() { leaves } else { all };
    let shape = from[usize::from(choices.next().unwrap_or(0)) % from.len()];
    let mut end = 0;
    for at in places(shape) {
        out.push_str(&shape[end..at]);
        write(out, shape.as_bytes()[at + 1] as char, depth + 1, shapes, choices);
        end = at + 3;
    }
    out.push_str(&shape[end..]);
}

/// Returns where the parts of a shape are: `{I}`.
fn places(shape: &str) -> impl Iterator<Item = usize> {
    let is_part = |part: &[u8]| part[0] == b'{' && part[1].is_ascii_uppercase() && part[2] == b'}';
    shape.as_bytes().windows(3).enumerate().filter(move |(_, part)| is_part(part)).map(|(at, _)| at)
}

fn expression() -> impl Strategy<Value = String> {
    (0..ROOTS.len(), vec(any::<u16>(), 1..40)).prop_map(|(root, choices)| {
        let mut text = String::new();
        write(&mut text, ROOTS.as_bytes()[root] as char, 0, &shapes(), &mut choices.into_iter());
        text
    })
}

/// Prints a value with the types of everything in it, as the script does.
fn shown(value: Value<'_>) -> String {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    let map = |entries: &mut dyn Iterator<Item = (String, Value<'_>)>| {
        let mut all: Vec<_> = entries.map(|(key, value)| format!("{key}:{}", shown(value))).collect();
        all.sort_unstable();
        format!("{{{}}}", all.join(","))
    };
    match (value, value.extended()) {
        (Value::Null, _) => "null".to_owned(),
        (Value::Bool(truth), _) => truth.to_string(),
        (Value::Int(n), _) => n.to_string(),
        (Value::Uint(n), _) => format!("{n}u"),
        (Value::Float(n), _) if n.is_nan() => "nan".to_owned(),
        (Value::Float(n), _) => format!("d{:016x}", n.to_bits()),
        (Value::Str(text), _) => format!("s{}", hex(text.as_str().as_bytes())),
        (Value::List(list), _) => {
            format!("[{}]", list.items().iter().map(|one| shown(*one)).collect::<Vec<_>>().join(","))
        }
        (Value::Map(of), _) => map(&mut of.iter().map(|(key, value)| (format!("s{}", hex(key.as_bytes())), value))),
        (_, Some(Extended::Entries(of))) => map(&mut of.iter().map(|(key, value)| (shown(key), value))),
        (_, Some(Extended::Bytes(bytes))) => format!("b{}", hex(bytes)),
        _ => format!("other {value:?}"),
    }
}

fn environment(registry: &Registry) -> Environment {
    let mut environment = Environment::new(registry);
    for name in inputs().as_object().into_iter().flat_map(|all| all.keys()) {
        environment.declare(name.as_str(), "dyn").expect("a type");
    }
    environment
}

fn ours(text: &str, environment: &Environment, registry: &Registry) -> String {
    let (limits, data) = (Limits::default(), inputs());
    let source = Source::new("e", text);
    let Ok(compiled) = Expression::with(&source, &Settings::checked(environment), registry, &limits) else {
        return "refused".to_owned();
    };
    let space = Space::new();
    let shapes = Shapes::new(space.arena());
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).serialize(&data).expect("inputs"));
    compiled.evaluate(&space, inputs, &limits).map_or_else(|_| "failed".to_owned(), shown)
}

/// The running reference.
struct Reference {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Reference {
    /// Starts the reference, if it is installed.
    fn start() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        let installed = root.join(target).join("cel-reference");
        if !installed.join("installed").exists() {
            return None;
        }
        let mut command = Command::new("python3");
        command.arg(root.join("spec-tests/cel/reference.py")).env("PYTHONPATH", installed);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let (mut input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        writeln!(input, "{}", inputs()).ok()?;
        Some(Self { child, input, output })
    }

    fn evaluate(&mut self, text: &str) -> String {
        let mut line = String::new();
        writeln!(self.input, "{}", json!(text)).expect("the reference reads");
        self.output.read_line(&mut line).expect("the reference writes");
        line.trim_end().to_owned()
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn expressions_are_evaluated_as_by_the_reference() {
    let Some(mut reference) = Reference::start() else {
        assert!(std::env::var_os("CI").is_none(), "the reference is missing: spec-tests/cel/install");
        println!("skipped: spec-tests/cel/install installs the reference");
        return;
    };
    let registry = registry();
    let environment = environment(&registry);
    // The reference has deviations of its own: the short form tries the same expressions each time.
    let seed = if super::has_all_cases() { RngSeed::Random } else { RngSeed::Fixed(46) };
    let mut runner = TestRunner::new(Config { rng_seed: seed, ..super::cases(20_000) });
    let (mut same, mut different) = (0, Vec::new());
    for _ in 0..runner.config().cases {
        let text = expression().new_tree(&mut runner).expect("an expression").current();
        let (here, there) = (ours(&text, &environment, &registry), reference.evaluate(&text));
        if here == there {
            same += 1;
        } else {
            different.push(format!("{text}\n  here  {here}\n  there {there}"));
        }
    }
    different.sort_by_key(String::len);
    println!("{same} the same, {} different", different.len());
    different.truncate(SHOWN);
    assert!(different.is_empty(), "{}", different.join("\n"));
}
