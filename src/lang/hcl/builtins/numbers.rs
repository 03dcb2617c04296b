//! Functions of numbers, of timestamps and of IP networks, and the operators as functions.

use std::cmp::Ordering;

use super::{string, string_list};
use crate::values::{binary, machine_int, number_of, number_value, operators};
use chrono::{DateTime, FixedOffset, Utc};
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::bignum::{FULL, MACHINE};
use dropforge_base::stdlib::duration::{Form, LayoutError, laid_out, moment, rfc3339, span};
use dropforge_base::stdlib::network::{Network, address, network};
use dropforge_base::stdlib::numbers::{logarithm, power};
use dropforge_base::stdlib::timestamps;
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Cx, Fault, Outcome, Rest, number, whole};
use dropforge_machine::functions;
use dropforge_value::{BigNum, Value};
use num_bigint::BigInt;

functions! {
    /// Number functions of the standard library and OpenTofu.
    pub(super) static NUMBERS:
    "ceil" (num: Number [dynamic]) -> Number = ceil, "Rounds up to a whole number."
        ["ceil(1.2)" => "2"];
    "floor" (num: Number [dynamic]) -> Number = floor, "Rounds down to a whole number."
        ["floor(-1.2)" => "-2"];
    "min" (... numbers: Number [dynamic]) -> Number = outermost(Ordering::Less),
        "Returns the smallest number." ["min(3, 1, 2)" => "1"];
    "max" (... numbers: Number [dynamic]) -> Number = outermost(Ordering::Greater),
        "Returns the largest number." ["max(3, 1, 2)" => "3"];
    "log" (num: Number, base: Number) -> Number = log, "Returns the logarithm of a number in a base." ["log(16, 2)" => "4"];
    "pow" (num: Number, power: Number) -> Number = pow, "Raises a number to a power." ["pow(2, 10)" => "1024"];
    "signum" (num: Number) -> Number = signum, "Returns -1, 0 or 1, the sign of a whole number."
        ["signum(-7)" => "-1"];
    "parseint" (number: Any, base: Number) -> Number = parse_int,
        "Parses a whole number in a base from 2 to 62." ["parseint(\"ff\", 16)" => "255"];
}

functions! {
    /// Number functions of the standard library.
    pub(super) static STANDARD_NUMBERS:
    "int" (num: Number [dynamic]) -> Number = int, "Removes the fraction of a number."
        ["int(-1.7)" => "-1"];
}

fn ceil<'v>(cx: &Cx<'v>, n: BigNum) -> Outcome<Value<'v>> {
    number_value(cx, n.ceil())
}

fn floor<'v>(cx: &Cx<'v>, n: BigNum) -> Outcome<Value<'v>> {
    number_value(cx, n.floor())
}

fn int<'v>(cx: &Cx<'v>, n: BigNum) -> Outcome<Value<'v>> {
    if !n.is_finite() {
        return Err(Fault::wrong("an infinity has no integer part"));
    }
    if n.is_whole() {
        return number_value(cx, n);
    }
    let whole = n.truncate();
    let precision = if whole.to_i64().is_some() { MACHINE } else { FULL };
    number_value(cx, whole.with_precision(precision))
}

/// Returns a body that returns the number which is `wanted` (less or greater) in comparison with all others.
fn outermost<'a, 'v>(wanted: Ordering) -> impl Fn(&Cx<'v>, Rest<'a, 'v>) -> Outcome<Value<'v>> {
    move |cx, Rest(numbers)| {
        cx.spend(numbers.len() as u64)?;
        let mut best: Option<(BigNum, Value<'v>)> = None;
        for (at, value) in numbers.iter().enumerate() {
            let n = number(*value, at)?;
            if best.is_none_or(|(found, _)| n.compare(&found) == wanted) {
                best = Some((n, *value));
            }
        }
        best.map(|(_, value)| value).ok_or_else(|| Fault::wrong("at least one number is required"))
    }
}

fn log<'v>(cx: &Cx<'v>, n: BigNum, base: BigNum) -> Outcome<Value<'v>> {
    of_float(cx, logarithm(float(n)?) / logarithm(float(base)?))
}

fn pow<'v>(cx: &Cx<'v>, n: BigNum, exponent: BigNum) -> Outcome<Value<'v>> {
    of_float(cx, power(float(n)?, float(exponent)?))
}

/// Converts a number to a 64-bit float.
fn float(n: BigNum) -> Outcome<f64> {
    match n.to_f64() {
        None => Ok(if n.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY }),
        Some(float) if float.is_finite() => Ok(float),
        Some(_) => Err(Fault::wrong("a number in the range of 64-bit floats is required")),
    }
}

fn of_float<'v>(cx: &Cx<'v>, float: f64) -> Outcome<Value<'v>> {
    number_value(cx, BigNum::of_f64(float).ok_or_else(|| Fault::wrong("the result is not a number"))?)
}

fn signum<'v>(cx: &Cx<'v>, n: i64) -> Outcome<Value<'v>> {
    machine_int(cx, n.signum())
}

fn parse_int<'v>(cx: &Cx<'v>, text: &str, base: Value<'v>) -> Outcome<Value<'v>> {
    let base = number_of(base).and_then(|base| u32::try_from(base.to_i64()?).ok());
    let Some(base) = base.filter(|base| (2..=62).contains(base)) else {
        return Err(Fault::argument(1, "a base is a whole number from 2 to 62"));
    };
    // Parsing takes quadratic time in the number of digits.
    cx.spend((text.len() as u64).saturating_mul(text.len() as u64) / 64)?;
    let parsed = BigNum::parse_whole(text, base);
    number_value(cx, parsed.ok_or_else(|| Fault::argument(0, format!("not a whole number in base {base}")))?)
}

functions! {
    /// Operators of the standard library and OpenTofu.
    pub(super) static SHARED_OPERATORS:
    "abs" (num: Number [dynamic]) -> Number = operators::abs, "Returns the absolute value of a number." ["abs(-1)" => "1"];
}

functions! {
    /// Operators of the standard library.
    pub(super) static OPERATORS:
    "not" (val: Bool [dynamic]) -> Bool = operators::not, "Negates a boolean." ["not(true)" => "false"];
    "and" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = operators::and, "Returns `true` if both operands are true."
        ["and(true, false)" => "false"];
    "or" (a: Bool [dynamic], b: Bool [dynamic]) -> Bool = operators::or, "Returns `true` if an operand is true."
        ["or(true, false)" => "true"];
    "equal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = operator(BinaryOp::Eq),
        "Returns `true` if both values have the same type and are equal." ["equal(1, 1)" => "true"];
    "notequal" (a: Any [null unknown dynamic], b: Any [null unknown dynamic]) -> Bool = operator(BinaryOp::Ne),
        "Returns `true` if the values differ." ["notequal(1, \"1\")" => "true"];
    "absolute" (num: Number [dynamic]) -> Number = operators::abs, "Returns the absolute value of a number."
        ["absolute(-1)" => "1"];
    "add" (a: Number [dynamic], b: Number [dynamic]) -> Number = operator(BinaryOp::Add), "Adds two numbers."
        ["add(1, 2)" => "3"];
    "subtract" (a: Number [dynamic], b: Number [dynamic]) -> Number = operator(BinaryOp::Sub),
        "Subtracts the second number from the first." ["subtract(1, 2)" => "-1"];
    "multiply" (a: Number [dynamic], b: Number [dynamic]) -> Number = operator(BinaryOp::Mul), "Multiplies two numbers."
        ["multiply(2, 3)" => "6"];
    "divide" (a: Number [dynamic], b: Number [dynamic]) -> Number = operator(BinaryOp::Div),
        "Divides the first number by the second." ["divide(1, 2)" => "0.5"];
    "modulo" (a: Number [dynamic], b: Number [dynamic]) -> Number = operator(BinaryOp::Rem),
        "Returns the remainder of a division, with the sign of the dividend." ["modulo(-7, 3)" => "-1"];
    "negate" (num: Number [dynamic]) -> Number = operators::neg, "Negates a number." ["negate(1)" => "-1"];
    "lessthan" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = operator(BinaryOp::Lt),
        "Returns `true` if the first number is less than the second." ["lessthan(1, 2)" => "true"];
    "lessthanorequalto" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = operator(BinaryOp::Le),
        "Returns `true` if the first number is less than or equal to the second." ["lessthanorequalto(2, 2)" => "true"];
    "greaterthan" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = operator(BinaryOp::Gt),
        "Returns `true` if the first number is greater than the second." ["greaterthan(1, 2)" => "false"];
    "greaterthanorequalto" (a: Number [unknown dynamic marked], b: Number [unknown dynamic marked]) -> Bool
        = operator(BinaryOp::Ge),
        "Returns `true` if the first number is greater than or equal to the second."
        ["greaterthanorequalto(2, 2)" => "true"];
}

functions! {
    /// Time functions of the standard library and OpenTofu.
    pub(super) static TIMES:
    "formatdate" (format: String, time: String) -> String = format_date,
        "Formats a timestamp by a layout of repeated letters, such as `YYYY-MM-DD'T'hh:mm:ssZ`."
        ["formatdate(\"DD MMM YYYY hh:mm ZZZ\", \"2018-01-04T23:12:01Z\")" => "\"04 Jan 2018 23:12 UTC\""];
}

functions! {
    /// Time functions of the standard library.
    pub(super) static STANDARD_TIMES:
    "timeadd" (timestamp: String, duration: String) -> String or null = time_add(Form::Strict),
        "Adds a duration such as `1h30m` to a timestamp."
        ["timeadd(\"2017-11-22T00:00:00Z\", \"10m1s\")" => "\"2017-11-22T00:10:01Z\""];
}

functions! {
    /// Time functions of OpenTofu.
    pub(super) static OPENTOFU_TIMES:
    "timeadd" (timestamp: String, duration: String) -> String = time_add(Form::Lenient),
        "Adds a duration such as `1h30m` to a timestamp."
        ["timeadd(\"2017-11-22T00:00:00Z\", \"10m1s\")" => "\"2017-11-22T00:10:01Z\""];
    "timecmp" (timestamp_a: String, timestamp_b: String) -> Number = time_compare,
        "Returns -1, 0 or 1 if the first timestamp is before, equal to or after the second."
        ["timecmp(\"2017-11-22T00:00:00Z\", \"2017-11-22T01:00:00+01:00\")" => "0"];
    "timestamp" () -> String = timestamp, needs CLOCK, "Returns the current time in UTC."
        ["timecmp(timestamp(), \"2020-01-01T00:00:00Z\")" => "1"];
    "plantimestamp" () -> String = plan_timestamp, needs CLOCK,
        "Returns the time in UTC at which the engine was given the clock. It is the same in all renders."
        ["plantimestamp() == plantimestamp()" => "true"];
}

fn timestamp_in(text: &str, form: Form) -> Outcome<DateTime<FixedOffset>> {
    moment(text, form).map_err(|why| Fault::wrong(format!("not an RFC 3339 timestamp: {why}")))
}

fn format_date<'v>(cx: &Cx<'v>, layout: &str, timestamp: &str) -> Outcome<Value<'v>> {
    let timestamp = timestamp_in(timestamp, Form::Strict).map_err(|fault| fault.of_argument(1))?;
    // A letter becomes at most nine, as in `EEEE` and `MMMM`.
    let allowed = layout.len().saturating_mul(4).saturating_add(16);
    cx.charge(allowed)?;
    let formatted = laid_out(timestamp, layout, allowed).map_err(|why| match why {
        LayoutError::Unclosed => Fault::argument(0, "a quotation mark is not closed"),
        LayoutError::Letters(letters) => Fault::argument(0, format!("unknown part of a date: `{letters}`")),
        LayoutError::TooLong => Fault::Limit(Limit::Memory.error(allowed as u64)),
    })?;
    string(cx, &formatted)
}

/// Returns a body that applies an operator.
fn operator<'v>(op: BinaryOp) -> impl Fn(&Cx<'v>, Value<'v>, Value<'v>) -> Outcome<Value<'v>> {
    move |cx, a, b| binary(cx, a, b, op)
}

/// Returns a body that adds a duration to a timestamp in a form.
fn time_add<'v>(form: Form) -> impl Fn(&Cx<'v>, &'v str, &'v str) -> Outcome<Value<'v>> {
    move |cx, timestamp, duration| {
        let timestamp = timestamp_in(timestamp, form)?;
        let duration = span(duration).ok_or_else(|| Fault::wrong(format!("`{duration}` is not a duration")))?;
        let sum = timestamp.checked_add_signed(duration);
        string(cx, &rfc3339(sum.ok_or_else(|| Fault::wrong("the timestamp is out of range"))?))
    }
}

/// Compares timestamps as Go's `time.Parse` reads them.
fn time_compare<'v>(cx: &Cx<'v>, a: &str, b: &str) -> Outcome<Value<'v>> {
    let read = |text, at| timestamp_in(text, Form::Lenient).map_err(|fault| fault.of_argument(at));
    machine_int(cx, read(a, 0)?.cmp(&read(b, 1)?) as i64)
}

fn timestamp<'v>(cx: &Cx<'v>) -> Outcome<Value<'v>> {
    string(cx, &rfc3339(DateTime::<Utc>::from(timestamps::now()).fixed_offset()))
}

fn plan_timestamp<'v>(cx: &Cx<'v>) -> Outcome<Value<'v>> {
    match cx.capabilities().moment() {
        Some(moment) => string(cx, &rfc3339(DateTime::<Utc>::from(moment).fixed_offset())),
        None => timestamp(cx),
    }
}

functions! {
    /// Network functions of OpenTofu.
    pub(super) static NETWORKS:
    "cidrhost" (prefix: String, hostnum: Number) -> String = host, "Returns the address with a number in a network."
        ["cidrhost(\"10.0.0.0/8\", 5)" => "\"10.0.0.5\""];
    "cidrnetmask" (prefix: String) -> String = netmask, "Returns the netmask of an IPv4 network."
        ["cidrnetmask(\"10.0.0.0/8\")" => "\"255.0.0.0\""];
    "cidrsubnet" (prefix: String, newbits: Number, netnum: Number) -> String = subnet,
        "Returns the subnet with a number among those whose prefix is longer by some bits."
        ["cidrsubnet(\"10.0.0.0/8\", 8, 2)" => "\"10.2.0.0/16\""];
    "cidrsubnets" (prefix: String, ... newbits: Number) -> (list String) = subnets,
        "Returns consecutive subnets whose prefixes are longer by these numbers of bits."
        ["cidrsubnets(\"10.0.0.0/8\", 8, 16)" => "[\"10.0.0.0/16\", \"10.1.0.0/24\"]"];
    "cidrcontains" (containing_prefix: String, contained_ip_or_prefix: String) -> Bool or null = contains,
        "Returns `true` if a network contains an address or network." ["cidrcontains(\"10.0.0.0/8\", \"10.1.2.3\")" => "true"];
}

fn parse_network(prefix: &str) -> Outcome<Network> {
    network(prefix)
        .ok_or_else(|| Fault::wrong(format!("`{prefix}` is not a network (address, `/`, length of the prefix)")))
}

/// Returns a whole number. One that is larger than any address is replaced by a power of two, which makes no difference.
fn index(n: BigNum) -> Outcome<BigInt> {
    if !n.is_whole() {
        return Err(Fault::wrong("a whole number is required"));
    }
    let is_small = n.to_f64().is_some_and(|n| n.abs() < 1e40);
    let small = if is_small { n.whole_text(10).and_then(|digits| digits.parse().ok()) } else { None };
    Ok(small.unwrap_or_else(|| BigInt::from(if n.is_negative() { -1 } else { 1 }) << 256_u32))
}

fn host<'v>(cx: &Cx<'v>, prefix: &str, hostnum: BigNum) -> Outcome<Value<'v>> {
    let (network, hostnum) = (parse_network(prefix)?, index(hostnum)?);
    let host = network.host(&hostnum);
    string(cx, &host.ok_or_else(|| Fault::wrong(format!("the network has no address {hostnum}")))?.to_string())
}

fn netmask<'v>(cx: &Cx<'v>, prefix: &str) -> Outcome<Value<'v>> {
    let network = parse_network(prefix)?;
    if !network.first.is_short() {
        return Err(Fault::wrong("an IPv6 network has no netmask"));
    }
    string(cx, &network.mask().to_string())
}

fn subnet<'v>(cx: &Cx<'v>, prefix: &str, newbits: Value<'v>, netnum: BigNum) -> Outcome<Value<'v>> {
    let (network, newbits, netnum) = (parse_network(prefix)?, whole(newbits, 1)?, index(netnum)?);
    // The reference's text of a network without a mask.
    if newbits < -i64::from(network.prefix) && netnum == BigInt::ZERO {
        return string(cx, "<nil>");
    }
    let subnet = network.subnet(newbits, &netnum);
    let missing = || Fault::wrong(format!("with {newbits} more bits, the network has no subnet {netnum}"));
    string(cx, &subnet.ok_or_else(missing)?.to_string())
}

fn subnets<'v>(cx: &Cx<'v>, prefix: &str, Rest(newbits): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let network = parse_network(prefix).map_err(|fault| fault.of_argument(0))?;
    let (mut before, mut texts) = (None, Vec::new());
    for (at, newbits) in (1..).zip(newbits) {
        cx.charge(64)?;
        let newbits = whole(*newbits, at).map_err(|_| Fault::argument(at, "a whole number is required"))?;
        if newbits < 1 {
            return Err(Fault::argument(at, "the prefix must become longer by at least one bit"));
        }
        let length = u32::try_from(newbits).ok().and_then(|newbits| network.prefix.checked_add(newbits));
        let Some(length) = length.filter(|length| *length <= network.first.width) else {
            return Err(Fault::argument(at, format!("an address has only {} bits", network.first.width)));
        };
        let next = network.next(before, length);
        let next = next.ok_or_else(|| Fault::argument(at, "the network has no room for another subnet"))?;
        texts.push(next.to_string());
        before = Some(next);
    }
    string_list(cx, texts.iter().map(String::as_str))
}

fn contains<'v>(_: &Cx<'v>, outer: &str, inner: &str) -> Outcome<Value<'v>> {
    let outer = parse_network(outer)?;
    let (first, last) = match (address(inner), network(inner)) {
        (Some(address), _) => (address, address),
        (None, Some(inner)) => (inner.first, inner.last()),
        (None, None) => return Err(Fault::wrong(format!("`{inner}` is neither an address nor a network"))),
    };
    if first.is_short() != outer.first.is_short() {
        return Err(Fault::wrong("cannot compare an IPv4 address with an IPv6 address"));
    }
    Ok(Value::Bool(outer.contains(first) && outer.contains(last)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::tests::with_cx;
    use dropforge_machine::function::{Arguments, FromArgument};

    #[test]
    fn floats_are_those_of_the_reference() {
        with_cx(|cx| {
            for (base, exponent, wanted) in [(3, 2, "9"), (2, -2, "0.25"), (0, 2, "0")] {
                let [base, exponent] = [base, exponent].map(|n| BigNum::of_int(n, FULL));
                let value = super::pow(cx, base, exponent).unwrap();
                assert_eq!(super::number_of(value).unwrap().to_text(), wanted);
            }
            assert!(super::log(cx, BigNum::of_int(-1, FULL), BigNum::of_int(2, FULL)).is_err());
            let half = cx.arena().number(BigNum::parse("1.5").unwrap());
            assert!(i64::take(&mut Arguments::new(cx, &[half])).is_err());
            assert!(super::outermost(Ordering::Less)(cx, Rest(&[])).is_err());
        });
    }
}
