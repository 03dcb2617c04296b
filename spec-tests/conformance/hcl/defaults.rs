//! Rows for the defaults of optional attributes.

use dropforge::dialect::hcl::values::json::Json;
use dropforge::dialect::hcl::values::types::{Children, Defaults};
use dropforge::value::{Arena, Type};

use super::encoding::{self, Check, Row, with_cx};
use super::typing::said;

/// Runs a `defaults_apply` row.
pub fn applies(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let defaults = defaults(cx.arena(), row.field("defaults")?)?;
        let made = defaults.apply(cx, row.value(cx.arena(), "value")?.ok_or("no value")?).map_err(said)?;
        encoding::want(cx.arena(), row, "want", Some(made))
    })
}

/// Decodes defaults in the notation of the rows.
fn defaults<'v>(arena: &'v Arena, json: &Json<'_>) -> Check<Defaults<'v>> {
    let ty = encoding::ty(arena, json.get("type").ok_or("defaults without a type")?)?;
    let mut values = Vec::new();
    if let Some(Json::Object(entries)) = json.get("default_values") {
        for (name, value) in entries {
            values.push((arena.copy_str(name), encoding::value(arena, value)?));
        }
    }
    Ok(Defaults { ty, values, children: children(arena, ty, json.get("children"))? })
}

fn children<'v>(arena: &'v Arena, ty: Type<'v>, json: Option<&Json<'_>>) -> Check<Children<'v>> {
    let mut named = Vec::new();
    if let Some(Json::Object(entries)) = json {
        for (name, child) in entries {
            named.push((arena.copy_str(name), defaults(arena, child)?));
        }
    }
    Ok(match ty {
        _ if named.is_empty() => Children::None,
        Type::Object(_) => Children::Attributes(named),
        Type::Tuple(_) => {
            let mut elements: Vec<_> =
                named.into_iter().filter_map(|(at, child)| Some((at.parse().ok()?, child))).collect();
            elements.sort_by_key(|(at, _): &(usize, _)| *at);
            Children::Elements(elements)
        }
        _ => Children::Element(Box::new(named.remove(0).1)),
    })
}
