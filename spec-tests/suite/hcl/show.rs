//! The notation of values in the case files: the value, ` : `, its type.

use std::fmt::Write as _;

use dropforge::dialect::hcl::typeexpr::text;
use dropforge::value::{Arena, CapsuleContent, Extended, Refinement, Type, Value};

/// Formats a value and its type: `[1, "a"] : tuple([number,string])`.
pub fn typed(arena: &Arena, value: Value<'_>) -> String {
    let mut out = String::new();
    write(value, &mut out);
    let _ = write!(out, " : {}", text(&value.type_in(arena)));
    out
}

fn write(value: Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => _ = write!(out, "{b}"),
        Value::Int(n) => _ = write!(out, "{n}"),
        Value::Extended(extension) => extended(extension.kind(), out),
        Value::Map(map) => {
            let entries = map.iter_sorted().map(|(name, value)| (Some(name), value));
            listed(["{", "}"], entries, out);
        }
        other => match (other.as_str(), other.elements()) {
            (Some(text), _) => _ = write!(out, "{text:?}"),
            (None, Some(items)) => listed(["[", "]"], items.iter().map(|item| (None, *item)), out),
            (None, None) => _ = write!(out, "{other:?}"),
        },
    }
}

fn listed<'v>([open, close]: [&str; 2], items: impl Iterator<Item = (Option<&'v str>, Value<'v>)>, out: &mut String) {
    out.push_str(open);
    for (at, (name, value)) in items.enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        if let Some(name) = name {
            let _ = write!(out, "{name:?}: ");
        }
        write(value, out);
    }
    out.push_str(close);
}

fn extended(value: &Extended<'_>, out: &mut String) {
    match value {
        Extended::Number(number) => out.push_str(&number.to_text()),
        Extended::Null(_) => out.push_str("null"),
        Extended::Unknown(unknown) => {
            let _ = write!(out, "unknown({}", text(&unknown.ty));
            refinement(&unknown.refinement, &unknown.ty, out);
            out.push(')');
        }
        Extended::Marked(value, marks) => {
            let _ = write!(out, "marked({}, ", marks.join(", "));
            write(*value, out);
            out.push(')');
        }
        Extended::Typed(_, elements) => write(*elements, out),
        Extended::Capsule(capsule) => match capsule.content {
            CapsuleContent::Type(ty) => out.push_str(&text(&ty)),
            CapsuleContent::Opaque => out.push_str(capsule.name),
            CapsuleContent::Text(held) => out.push_str(held),
            CapsuleContent::Texts(held) => out.push_str(&held.join(", ")),
        },
        other => out.push_str(other.name()),
    }
}

/// Formats the refinement of an unknown value of type `ty`.
fn refinement(known: &Refinement<'_>, ty: &Type<'_>, out: &mut String) {
    out.push_str(if known.not_null { ", not null" } else { "" });
    if !known.prefix.is_empty() {
        let _ = write!(out, ", {:?}…", known.prefix);
    }
    for (bound, [closed, open]) in [(known.least, [">=", ">"]), (known.most, ["<=", "<"])] {
        if let Some((number, inclusive)) = bound {
            let _ = write!(out, ", {} {}", if *inclusive { closed } else { open }, number.to_text());
        }
    }
    if ty.element().is_some() && (known.len_least > 0 || known.len_most < u64::MAX) {
        let _ = write!(out, ", {} to {} elements", known.len_least, known.len_most);
    }
}
