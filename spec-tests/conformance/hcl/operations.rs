//! `hcl` rows for operations on values: `cty:*` of the value operations, `hcl:Index`, `hcl:ApplyPath`.

use dropforge::bytecode::BinaryOp;
use dropforge::dialect::hcl::values::access::{self, Step};
use dropforge::dialect::hcl::values::json::Json;
use dropforge::dialect::hcl::values::traverse::{self, Accessed};
use dropforge::dialect::hcl::values::{Fault, Outcome};
use dropforge::dialect::hcl::values::{elements, operators};
use dropforge::function::Cx;
use dropforge::value::{Arena, Value};

use super::encoding::{Check, Row, same, value, want, with_cx};

type Unary = for<'v> fn(&Cx<'v>, Value<'v>) -> Outcome<Value<'v>>;
type Binary = for<'v> fn(&Cx<'v>, Value<'v>, Value<'v>) -> Outcome<Value<'v>>;

/// Returns the function that runs rows of a kind.
pub fn runner(kind: &str) -> Option<fn(&Row<'_>) -> Check> {
    Some(match kind {
        "cty:ValueEquals" => |row| binary(row, operators::equals, ["LHS", "RHS"]),
        "cty:ValueAdd" => |row| operator(row, BinaryOp::Add, ["LHS", "RHS"]),
        "cty:ValueSubtract" => |row| operator(row, BinaryOp::Sub, ["LHS", "RHS"]),
        "cty:ValueMultiply" => |row| operator(row, BinaryOp::Mul, ["LHS", "RHS"]),
        "cty:ValueDivide" => |row| operator(row, BinaryOp::Div, ["LHS", "RHS"]),
        "cty:ValueModulo" => |row| operator(row, BinaryOp::Rem, ["LHS", "RHS"]),
        "cty:ValueAnd" => |row| binary(row, operators::and, ["Receiver", "Other"]),
        "cty:ValueOr" => |row| binary(row, operators::or, ["Receiver", "Other"]),
        "cty:LessThan" => |row| operator(row, BinaryOp::Lt, ["Receiver", "Other"]),
        "cty:LessThanOrEqualTo" => |row| operator(row, BinaryOp::Le, ["Receiver", "Other"]),
        "cty:GreaterThan" => |row| operator(row, BinaryOp::Gt, ["Receiver", "Other"]),
        "cty:GreaterThanOrEqualTo" => |row| operator(row, BinaryOp::Ge, ["Receiver", "Other"]),
        "cty:ValueIndex" => |row| binary(row, access::index, ["Collection", "Key"]),
        "cty:ValueHasIndex" => |row| binary(row, access::has_index, ["Collection", "Key"]),
        "cty:HasElement" => |row| binary_to(row, access::has_element, ["Set", "Elem"], "Want"),
        "cty:ValueNegate" => |row| unary(row, operators::neg, "Receiver", "Expected"),
        "cty:ValueAbsolute" => |row| unary(row, operators::abs, "Receiver", "Expected"),
        "cty:ValueNot" => |row| unary(row, operators::not, "Receiver", "Expected"),
        "cty:UnknownAsNull" => |row| unary(row, elements::unknown_as_null, "Input", "Want"),
        "cty:ValueGetAttr" => get_attr,
        "cty:ValueRawEquals" => raw_equals,
        "cty:ContainsMarked" | "cty:IsMarked" => is_marked,
        "cty:ValueForEachElement" | "cty:Elements" => walked,
        "cty:PathApply" => path_apply,
        "cty:PathEquals" => path_equals,
        "cty:CanListVal" | "cty:CanSetVal" | "cty:CanMapVal" => common_type,
        "cty:SetVal_nestedStructures" => nested_set,
        "cty:UnmarkDeep" => unmark_deep,
        "cty:PathValueMarks" => marked_paths,
        "cty:PathValueMarksEqual" => marked_paths_equal,
        "cty:SetOrder" => set_order,
        "hcl:Index" => hcl_index,
        "hcl:ApplyPath" => hcl_apply_path,
        _ => return None,
    })
}

fn must<'v>(arena: &'v Arena, row: &Row<'_>, name: &str) -> Check<Value<'v>> {
    row.value(arena, name)?.ok_or_else(|| format!("`{name}` is no value"))
}

fn said<T>(outcome: Outcome<T>) -> Check<T> {
    outcome.map_err(|fault| match fault {
        Fault::Wrong(wrong) => wrong.message,
        Fault::Limit(limit) => limit.message.clone(),
    })
}

fn unary(row: &Row<'_>, run: Unary, of: &str, expected: &str) -> Check {
    with_cx(|cx| {
        let got = said(run(cx, must(cx.arena(), row, of)?))?;
        want(cx.arena(), row, expected, Some(got))
    })
}

fn binary(row: &Row<'_>, run: Binary, of: [&str; 2]) -> Check {
    binary_to(row, run, of, "Expected")
}

fn operator(row: &Row<'_>, op: BinaryOp, of: [&str; 2]) -> Check {
    with_cx(|cx| {
        let [a, b] = of.map(|name| must(cx.arena(), row, name));
        want(cx.arena(), row, "Expected", Some(said(operators::binary(cx, a?, b?, op))?))
    })
}

fn binary_to(row: &Row<'_>, run: Binary, of: [&str; 2], expected: &str) -> Check {
    with_cx(|cx| {
        let [a, b] = of.map(|name| must(cx.arena(), row, name));
        want(cx.arena(), row, expected, Some(said(run(cx, a?, b?))?))
    })
}

/// Compares `got` with a boolean field.
fn flag(row: &Row<'_>, name: &str, got: bool) -> Check {
    if row.flag(name) == got { Ok(()) } else { Err(format!("got {got}")) }
}

fn get_attr(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let object = must(cx.arena(), row, "Object")?;
        let got = said(access::get_attr(cx, object, row.text("AttrName")?))?;
        want(cx.arena(), row, "Expected", Some(got))
    })
}

fn raw_equals(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let [a, b] = ["LHS", "RHS"].map(|name| must(cx.arena(), row, name));
        flag(row, "Expected", said(operators::raw_equals(cx, a?, b?))?)
    })
}

fn is_marked(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let value = must(cx.arena(), row, "val")?;
        let deep = row.text("kind")? == "cty:ContainsMarked";
        flag(row, "want", if deep { said(elements::contains_marked(cx, value))? } else { value.is_marked() })
    })
}

fn walked(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let each = row.text("kind")? == "cty:ValueForEachElement";
        let (of, expected) = if each { ("Receiver", "Expected") } else { ("Input", "Want") };
        let got = said(elements::elements(cx, must(cx.arena(), row, of)?))?;
        let wanted = row.list(expected);
        if got.len() < wanted.len() || got.len() > wanted.len() && !row.flag("Stopped") {
            return Err(format!("{} elements, not {}", got.len(), wanted.len()));
        }
        for ((key, element), wanted) in got.iter().zip(wanted) {
            let part = |name: &str, at: usize| {
                let json = wanted.get(name).or_else(|| wanted.as_list()?.get(at)).ok_or("no element")?;
                value(cx.arena(), json)
            };
            same(cx.arena(), part("Key", 0)?, *key)?;
            same(cx.arena(), part("Element", 1)?, *element)?;
        }
        Ok(())
    })
}

fn steps<'v>(arena: &'v Arena, json: Option<&Json<'_>>) -> Check<Vec<Step<'v>>> {
    let step = |json: &Json<'_>| match (json.get("attr").or(Some(json)).and_then(Json::as_text), json.get("index")) {
        (_, Some(key)) => value(arena, key).map(Step::Index),
        (Some(name), _) => Ok(Step::Attr(arena.copy_str(name))),
        _ => Err(format!("no step: {json:?}")),
    };
    json.and_then(Json::as_list).unwrap_or(&[]).iter().map(step).collect()
}

fn path_apply(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let path = steps(cx.arena(), row.get("Path"))?;
        let got = access::apply_path(cx, must(cx.arena(), row, "Start")?, &path);
        match (got, row.text("WantErr")?) {
            (Ok(got), "") => want(cx.arena(), row, "Want", Some(got)),
            (Err(Fault::Wrong(_)), wanted) if !wanted.is_empty() => Ok(()),
            (got, wanted) => Err(format!("want {wanted:?}, got {got:?}")),
        }
    })
}

fn path_equals(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let [a, b] = ["A", "B"].map(|name| steps(cx.arena(), row.get(name)));
        let (a, b) = (a?, b?);
        flag(row, "Equal", access::same_path(cx, &a, &b))?;
        flag(row, "Prefix", access::has_prefix(cx, &a, &b))
    })
}

fn common_type(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let items: Vec<&Json<'_>> = match row.get("Elems") {
            Some(Json::Object(entries)) => entries.iter().map(|(_, item)| item).collect(),
            other => other.and_then(Json::as_list).unwrap_or(&[]).iter().collect(),
        };
        let items = items.iter().map(|item| value(cx.arena(), item)).collect::<Check<Vec<_>>>()?;
        flag(row, "Want", said(elements::common_type(cx, &items))?.is_some())
    })
}

fn nested_set(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let items = row.list("Elems").iter().map(|item| value(cx.arena(), item)).collect::<Check<Vec<_>>>()?;
        let element = said(elements::common_type(cx, &items))?.ok_or("no common type")?;
        let set = said(access::set_of(cx, element, &[items.clone(), items.clone()].concat()))?;
        let got = set.elements().ok_or("no set")?;
        if got.len() == items.len() { Ok(()) } else { Err(format!("{} elements", got.len())) }
    })
}

/// Returns the marks listed in a row.
fn listed<'r>(json: Option<&'r Json<'_>>) -> Vec<&'r str> {
    let mut marks: Vec<_> = json.and_then(Json::as_list).unwrap_or(&[]).iter().filter_map(Json::as_text).collect();
    marks.sort_unstable();
    marks
}

fn unmark_deep(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let (got, found) = said(elements::unmark_deep(cx, must(cx.arena(), row, "val")?))?;
        let wanted = listed(row.get("marks"));
        if found != wanted {
            return Err(format!("want {wanted:?}, got {found:?}"));
        }
        want(cx.arena(), row, "want", Some(got))
    })
}

fn marked_paths(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let marked = must(cx.arena(), row, "marked")?;
        let (plain, found) = said(elements::unmark_deep_with_paths(cx, marked))?;
        want(cx.arena(), row, "unmarked", Some(plain))?;
        for wanted in row.list("pvms") {
            let path = steps(cx.arena(), wanted.get("Path"))?;
            let wanted = listed(wanted.get("Marks"));
            if !found.iter().any(|(other, marks)| access::same_path(cx, &path, other) && *marks == wanted) {
                return Err(format!("want {wanted:?} at {path:?}, got {found:?}"));
            }
        }
        if found.len() != row.list("pvms").len() {
            return Err(format!("got {found:?}"));
        }
        want(cx.arena(), row, "marked", Some(said(elements::mark_with_paths(cx, plain, &found))?))
    })
}

fn marked_paths_equal(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let [one, other] = ["original", "compare"].map(|name| row.field(name));
        let (one, other) = (one?, other?);
        let same_path =
            access::same_path(cx, &steps(cx.arena(), one.get("Path"))?, &steps(cx.arena(), other.get("Path"))?);
        flag(row, "want", same_path && listed(one.get("Marks")) == listed(other.get("Marks")))
    })
}

fn set_order(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let [a, b] = ["a", "b"].map(|name| must(cx.arena(), row, name));
        flag(row, "want", said(access::comes_before(cx, a?, b?))?)
    })
}

fn hcl_index(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let [value, key] = ["coll", "key"].map(|name| must(cx.arena(), row, name));
        let got = said(traverse::index(cx, value?, key?))?;
        accessed(cx, row, got, row.text("err")?)
    })
}

fn hcl_apply_path(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let path = steps(cx.arena(), row.get("path"))?;
        let got = said(traverse::apply_path(cx, must(cx.arena(), row, "start")?, &path))?;
        accessed(cx, row, got, row.text("wanterr")?)
    })
}

fn accessed<'v>(cx: &Cx<'v>, row: &Row<'_>, got: Accessed<'v>, error: &str) -> Check {
    match (got, error) {
        (Ok(got), "") => want(cx.arena(), row, "want", Some(got)),
        (Err(_), wanted) if !wanted.is_empty() => Ok(()),
        (got, wanted) => Err(format!("want {wanted:?}, got {got:?}")),
    }
}
