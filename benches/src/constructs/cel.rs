//! CEL's rows, beside the crate `cel`. One use is the body of `items.map(x, …)`.

use std::hint::black_box;

use dropforge::dialect::cel::{Expression, registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::Value as Input;
use dropforge::vm::Space;
use serde_json::Value;

use super::Kind::{Function, Operator};
use super::subjects::Given;
use super::{FIRST, Kind, Language, Row, Task, data, shared};
use crate::engines::{Engine, Ours, cel as peer};
use crate::subject::Subject;
use crate::w6::lines;

/// The language.
pub const LANGUAGE: Language = Language {
    name: "cel",
    rows: ROWS,
    without: WITHOUT,
    builtins: || super::builtins(&registry()),
    ours: |text, task, row| Box::new(Compiled::new(&around(text, row), task, inputs(row))),
    peers: &[(peer::NAME, None, |text, task, row| Box::new(Peer::new(&around(text, row), task, inputs(row))))],
};

/// Returns the expression of a row's text.
fn around(text: &str, row: &Row) -> String {
    if row.whole { text.to_owned() } else { format!("items.map(x, {text})") }
}

fn inputs(row: &Row) -> Value {
    data::inputs(&[row.text, row.plain])
}

/// dropforge. The space is reset before each evaluation.
struct Compiled {
    expression: Expression,
    given: Given,
    space: Space,
    limits: Limits,
}

impl Compiled {
    fn new(text: &str, task: Task, json: Value) -> Self {
        let limits = Limits::default();
        let expression = Expression::new(&Source::new("expression", text), &registry(), &limits);
        let expression = expression.unwrap_or_else(|errors| panic!("{errors}"));
        Self { expression, given: Given::new(json, task), space: Space::new(), limits }
    }

    /// Evaluates and passes the value on.
    fn evaluate<T>(&mut self, see: impl FnOnce(Input<'_>) -> T) -> T {
        self.space.reset();
        let value = self.expression.evaluate(&self.space, self.given.inputs(), &self.limits);
        see(value.unwrap_or_else(|error| panic!("{error}")))
    }
}

impl Subject for Compiled {
    fn engine(&self) -> &'static str {
        Ours::NAME
    }

    fn run(&mut self) {
        self.evaluate(|value| {
            black_box(value);
        });
    }

    fn output(&mut self) -> String {
        self.evaluate(|value| lines([value.to_data()]))
    }
}

/// The crate `cel`.
struct Peer {
    program: cel::Program,
    convert: bool,
    json: Value,
    ready: cel::Context<'static, 'static>,
}

impl Peer {
    fn new(text: &str, task: Task, json: Value) -> Self {
        let program = cel::Program::compile(text).unwrap_or_else(|errors| panic!("{errors}"));
        let ready = peer::context(cel::Context::default(), json.clone());
        Self { program, convert: task == Task::Converted, json, ready }
    }

    fn evaluate(&self) -> cel::Value {
        let value = if self.convert {
            self.program.execute(&peer::context(cel::Context::default(), self.json.clone()))
        } else {
            self.program.execute(black_box(&self.ready))
        };
        value.unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Subject for Peer {
    fn engine(&self) -> &'static str {
        peer::NAME
    }

    fn run(&mut self) {
        black_box(self.evaluate());
    }

    fn output(&mut self) -> String {
        lines([self.evaluate().json().expect("a value of JSON")])
    }
}

/// A row beside a short string.
const fn row(kind: Kind, name: &'static str, text: &'static str) -> Row {
    Row::new(kind, name, text, "x.s")
}

const fn call(name: &'static str, text: &'static str) -> Row {
    row(Function, name, text)
}

/// A row that both engines have.
const fn both(kind: Kind, name: &'static str, text: &'static str) -> Row {
    row(kind, name, text).same(FIRST)
}

const WITHOUT: &[(&str, &str)] = &[
    ("__not_strictly_false__", "the older name of `@not_strictly_false`"),
    ("omit", "for documents: has a row of cel-yaml"),
];

const ROWS: &[Row] = &[
    row(Operator, "a constant list", "[1, 2, 3]").plain("1").whole(),
    both(Operator, "path", "x.deep.meta.labels.app"),
    both(Operator, "has", "has(x.maybe)"),
    row(Operator, "select optional", "x.?maybe.orValue('none')"),
    call("_?._", "x.?maybe.hasValue()"),
    call("_[?_]", "x.list[?9].orValue('none')"),
    both(Function, "_[_]", "x.list[1]"),
    both(Function, "_[_] (a map)", "x.map['zone']"),
    both(Function, "_+_", "x.n + x.m"),
    both(Function, "_+_ (strings)", "x.s + '-' + x.csv"),
    both(Function, "_+_ (lists)", "x.nums + [x.n]"),
    both(Function, "_-_", "x.n - x.m"),
    both(Function, "_*_", "x.n * x.m"),
    both(Function, "_/_", "x.n / x.m"),
    both(Function, "_%_", "x.n % x.m"),
    both(Function, "-_", "-x.n"),
    both(Function, "!_", "!x.flag"),
    both(Function, "_&&_", "x.flag && x.other"),
    both(Function, "_||_", "x.flag || x.other"),
    both(Function, "_?_:_", "x.flag ? 'on' : 'off'"),
    both(Function, "_==_", "x.s == 'web-00'"),
    both(Function, "_!=_", "x.s != 'web-00'"),
    both(Function, "_<_", "x.n < limit"),
    both(Function, "_<=_", "x.n <= limit"),
    both(Function, "_>_", "x.n > 50"),
    both(Function, "_>=_", "x.n >= 50"),
    both(Function, "@in", "x.s in names"),
    both(Function, "@in (a map)", "x.s in by_name"),
    both(Function, "@not_strictly_false", "x.nums.all(y, y >= 0)"),
    both(Operator, "all", "x.nums.all(y, y < 20)"),
    both(Operator, "exists", "x.nums.exists(y, y > 5)"),
    both(Operator, "exists_one", "x.nums.exists_one(y, y > 5)"),
    both(Operator, "map", "x.nums.map(y, y * 2)"),
    both(Operator, "filter", "x.nums.filter(y, y > 5)"),
    row(Operator, "transformMap", "x.map.transformMap(k, v, v + k)"),
    row(Operator, "cel.bind", "cel.bind(y, x.n + 1, y * y)"),
    both(Operator, "list", "[x.s, x.csv]"),
    both(Operator, "map literal", "{'name': x.s, 'port': x.n}"),
    both(Function, "size", "size(x.list)"),
    both(Function, "size (of a string)", "size(x.text)"),
    both(Function, "contains", "x.text.contains('calls p')"),
    both(Function, "startsWith", "x.s.startsWith('we')"),
    both(Function, "endsWith", "x.s.endsWith('1')"),
    both(Function, "matches", "x.s.matches('^[a-d].*[0-4]$')"),
    // Conversions.
    both(Function, "string", "string(x.n)"),
    both(Function, "int", "int(x.digits)"),
    both(Function, "uint", "uint(x.n) == 7u"),
    both(Function, "double", "double(x.decimal)"),
    call("bool", "bool('true') && x.flag"),
    both(Function, "bytes", "size(bytes(x.s))"),
    call("dyn", "dyn(x.s)"),
    both(Function, "type", "type(x.s) == string"),
    both(Function, "duration", "duration('5m') < duration('1h') && x.flag"),
    both(Function, "timestamp", "timestamp(x.stamp) < timestamp('2020-01-01T00:00:00Z')"),
    both(Function, "getFullYear", "timestamp(x.stamp).getFullYear()"),
    both(Function, "getMonth", "timestamp(x.stamp).getMonth()"),
    both(Function, "getDate", "timestamp(x.stamp).getDate()"),
    both(Function, "getDayOfMonth", "timestamp(x.stamp).getDayOfMonth()"),
    both(Function, "getDayOfWeek", "timestamp(x.stamp).getDayOfWeek()"),
    both(Function, "getDayOfYear", "timestamp(x.stamp).getDayOfYear()"),
    both(Function, "getHours", "timestamp(x.stamp).getHours()"),
    both(Function, "getMinutes", "timestamp(x.stamp).getMinutes()"),
    both(Function, "getSeconds", "timestamp(x.stamp).getSeconds()"),
    both(Function, "getMilliseconds", "timestamp(x.stamp).getMilliseconds()"),
    // Strings.
    call("charAt", "x.s.charAt(1)"),
    call("indexOf", "x.s.indexOf('-')"),
    call("lastIndexOf", "x.s.lastIndexOf('-')"),
    call("join", "x.list.join(', ')"),
    call("lowerAscii", "x.text.lowerAscii()"),
    call("upperAscii", "x.s.upperAscii()").shared("s", shared::upper),
    call("replace", "x.s.replace('-', '_')").shared("s", shared::replace),
    call("split", "x.csv.split(',')"),
    call("substring", "x.text.substring(4, 14)"),
    call("trim", "x.padded.trim()"),
    call("reverse", "x.s.reverse()"),
    call("strings.quote", "strings.quote(x.text)"),
    call("format", "'%s-%d'.format([x.s, x.n])"),
    call("find", "x.s.find('[a-d]+')"),
    call("findAll", "x.s.findAll('[a-z]')"),
    call("regex.replace", "regex.replace(x.s, '-([0-9]+)', r'.\\1')"),
    call("regex.extract", "regex.extract(x.s, '[0-9]+').orValue('')"),
    call("regex.extractAll", "regex.extractAll(x.s, '[0-9]')"),
    call("base64.encode", "base64.encode(bytes(x.text))").shared("text", shared::base64),
    call("base64.decode", "string(base64.decode(x.coded))"),
    // Numbers.
    call("math.@max", "math.greatest(x.n, x.m)"),
    call("math.@min", "math.least(x.n, x.m)"),
    call("math.ceil", "math.ceil(x.f)"),
    call("math.floor", "math.floor(x.f)"),
    call("math.round", "math.round(x.f)"),
    call("math.trunc", "math.trunc(x.f)"),
    call("math.abs", "math.abs(x.neg)"),
    call("math.sign", "math.sign(x.neg)"),
    call("math.sqrt", "math.sqrt(x.f)"),
    call("math.isNaN", "math.isNaN(x.f)"),
    call("math.isInf", "math.isInf(x.f)"),
    call("math.isFinite", "math.isFinite(x.f)"),
    call("math.bitAnd", "math.bitAnd(x.n, x.m)"),
    call("math.bitOr", "math.bitOr(x.n, x.m)"),
    call("math.bitXor", "math.bitXor(x.n, x.m)"),
    call("math.bitNot", "math.bitNot(x.n)"),
    call("math.bitShiftLeft", "math.bitShiftLeft(x.n, x.m)"),
    call("math.bitShiftRight", "math.bitShiftRight(x.n, x.m)"),
    // Lists, sets and maps.
    call("slice", "x.list.slice(1, 3)"),
    call("flatten", "[x.nums, x.nums].flatten()"),
    call("sort", "x.nums.sort()"),
    call("@sortByAssociatedKeys", "x.ports.sortBy(p, p.port).map(p, p.name)"),
    call("distinct", "x.mixed.distinct()"),
    call("lists.range", "lists.range(x.m)"),
    call("range", "range(x.m)"),
    call("isSorted", "x.nums.isSorted()"),
    call("sum", "x.nums.sum()"),
    call("min", "x.nums.min()"),
    call("max", "x.nums.max()"),
    call("includes", "x.list.includes(x.s)"),
    call("lists.setAtIndex", "lists.setAtIndex(x.list, 1, x.s)"),
    call("lists.insertAtIndex", "lists.insertAtIndex(x.list, 1, x.s)"),
    call("lists.removeAtIndex", "lists.removeAtIndex(x.list, 1)"),
    call("sets.contains", "sets.contains(names, x.list)"),
    call("sets.equivalent", "sets.equivalent(x.mixed, x.list)"),
    call("sets.intersects", "sets.intersects(x.mixed, x.list)"),
    call("merge", "x.map.merge(x.deep).size()"),
    call("deepMerge", "x.map.deepMerge(x.deep).size()"),
    call("cel.@mapInsert", "x.map.transformMapEntry(k, v, {k + '-' + v: v})"),
    // Optionals.
    call("optional.of", "optional.of(x.s).value()"),
    call("optional.none", "x.flag ? optional.none().hasValue() : true"),
    call("optional.ofNonZeroValue", "optional.ofNonZeroValue(x.s).hasValue()"),
    call("optional.unwrap", "optional.unwrap([x.?maybe, optional.of(x.s)])"),
    call("unwrapOpt", "[x.?maybe, optional.of(x.s)].unwrapOpt()"),
    call("hasValue", "x.?maybe.hasValue()"),
    call("value", "optional.of(x.n).value()"),
    call("or", "x.?maybe.or(optional.of(x.s)).value()"),
    call("orValue", "x.?maybe.orValue(x.s)"),
    call("first", "x.list.first().value()"),
    call("last", "x.list.last().value()"),
    // Kubernetes.
    call("quantity", "quantity(x.digits + 'Mi').isInteger()"),
    call("isQuantity", "isQuantity(x.digits)"),
    call("sign", "quantity(x.digits).sign()"),
    call("add", "quantity(x.digits).add(20).asInteger()"),
    call("sub", "quantity(x.digits).sub(20).asInteger()"),
    call("isLessThan", "quantity(x.digits).isLessThan(quantity('1k'))"),
    call("isGreaterThan", "quantity(x.digits).isGreaterThan(quantity('1k'))"),
    call("compareTo", "quantity(x.digits).compareTo(quantity('1k'))"),
    call("isInteger", "quantity(x.digits).isInteger()"),
    call("asInteger", "quantity(x.digits).asInteger()"),
    call("asApproximateFloat", "quantity(x.digits).asApproximateFloat()"),
    call("semver", "semver(x.version).isLessThan(semver('2.0.0'))"),
    call("isSemver", "isSemver(x.version)"),
    call("major", "semver(x.version).major()"),
    call("minor", "semver(x.version).minor()"),
    call("patch", "semver(x.version).patch()"),
    call("url", "url('https://' + x.s).getHost()"),
    call("isURL", "isURL('https://' + x.s)"),
    call("getScheme", "url('https://' + x.s).getScheme()"),
    call("getHost", "url('https://' + x.s).getHost()"),
    call("getHostname", "url('https://' + x.s).getHostname()"),
    call("getPort", "url('https://' + x.s).getPort()"),
    call("getEscapedPath", "url('https://' + x.s).getEscapedPath()"),
    call("getQuery", "url('https://' + x.s + '?a=1').getQuery()"),
    call("ip", "ip(x.ip).family()"),
    call("isIP", "isIP(x.ip)"),
    call("ip.isCanonical", "ip.isCanonical(x.ip)"),
    call("family", "ip(x.ip).family()"),
    call("isUnspecified", "ip(x.ip).isUnspecified()"),
    call("isLoopback", "ip(x.ip).isLoopback()"),
    call("isGlobalUnicast", "ip(x.ip).isGlobalUnicast()"),
    call("isLinkLocalUnicast", "ip(x.ip).isLinkLocalUnicast()"),
    call("isLinkLocalMulticast", "ip(x.ip).isLinkLocalMulticast()"),
    call("cidr", "cidr(x.cidr).prefixLength()"),
    call("isCIDR", "isCIDR(x.cidr)"),
    call("containsIP", "cidr(x.cidr).containsIP(x.ip)"),
    call("containsCIDR", "cidr('10.0.0.0/8').containsCIDR(x.cidr)"),
    call("prefixLength", "cidr(x.cidr).prefixLength()"),
    call("masked", "string(cidr(x.cidr).masked())"),
    call("isMask", "cidr(x.cidr).isMask()"),
    call("format.named", "format.named('dns1123Label').hasValue() && x.flag"),
    call("validate", "format.dns1123Label().validate(x.s).hasValue()"),
    call("format.dns1123Label", "format.dns1123Label().validate(x.s).hasValue()"),
    call("format.dns1123LabelPrefix", "format.dns1123LabelPrefix().validate(x.s).hasValue()"),
    call("format.dns1123Subdomain", "format.dns1123Subdomain().validate(x.s).hasValue()"),
    call("format.dns1123SubdomainPrefix", "format.dns1123SubdomainPrefix().validate(x.s).hasValue()"),
    call("format.dns1035Label", "format.dns1035Label().validate(x.s).hasValue()"),
    call("format.dns1035LabelPrefix", "format.dns1035LabelPrefix().validate(x.s).hasValue()"),
    call("format.qualifiedName", "format.qualifiedName().validate(x.s).hasValue()"),
    call("format.labelValue", "format.labelValue().validate(x.s).hasValue()"),
    call("format.uri", "format.uri().validate(x.s).hasValue()"),
    call("format.uuid", "format.uuid().validate(x.s).hasValue()"),
    call("format.byte", "format.byte().validate(x.s).hasValue()"),
    call("format.date", "format.date().validate(x.s).hasValue()"),
    call("format.datetime", "format.datetime().validate(x.s).hasValue()"),
    call("jsonpatch.escapeKey", "jsonpatch.escapeKey(x.name)"),
    // Documents.
    call("json.marshal", "json.marshal(x.deep)").shared("deep", shared::json),
    call("json.unmarshal", "json.unmarshal(x.json).app").shared("json", shared::parse),
    call("hash.fnv64a", "size(hash.fnv64a(x.s))"),
    call("hash.sha256", "size(hash.sha256(x.s))").shared("s", shared::sha256),
    call("hash.md5", "size(hash.md5(x.s))"),
    call("random.seededString", "random.seededString(8, x.s)"),
    call("random.seededInt", "random.seededInt(1, 9, x.s)"),
];
