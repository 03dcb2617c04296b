//! A template tree as one line of text.

use crate::syntax::unparse;
use crate::yaml::{
    Condition, ExpressionId, File, Item, LetValue, Map, NodeId, NodeKind, Target, TextPart, VariableId, VariableKind,
};
use dropforge_value::yaml::Kind;

pub fn show(file: &File) -> String {
    file.documents.iter().map(|id| node(file, *id)).collect::<Vec<_>>().join(" --- ")
}

/// An expression; each name of the file's own with what kind of variable it is.
fn expression(file: &File, id: ExpressionId) -> String {
    let of = file.expression(id).expect("an expression");
    let meaning = |free: &crate::yaml::Free| {
        let kind = free.variable.and_then(|id| file.variable(id)).map(|variable| variable.kind);
        let kind = match kind {
            Some(VariableKind::Let) => "let",
            Some(VariableKind::Key) => "key",
            Some(VariableKind::Value) => "value",
            Some(VariableKind::Checked) => "checked",
            None if free.later.is_some() => "later",
            None => "",
        };
        let typed = if free.declared.is_some() { "typed" } else { "" };
        (!kind.is_empty() || !typed.is_empty()).then(|| format!("{}:{kind}{typed}", free.name))
    };
    let meanings: Vec<_> = of.free.iter().filter_map(meaning).collect();
    let meanings = if meanings.is_empty() { String::new() } else { format!("; {}", meanings.join(" ")) };
    format!("<{}{meanings}>", unparse(&of.tree))
}

pub fn node(file: &File, id: NodeId) -> String {
    let node = file.node(id).expect("a node");
    let shown = match &node.kind {
        NodeKind::Scalar(scalar) if matches!(scalar.kind, Kind::Str) => format!("{:?}", scalar.text),
        NodeKind::Scalar(scalar) if scalar.text.is_empty() => "~".to_owned(),
        NodeKind::Scalar(scalar) => scalar.text.to_string(),
        NodeKind::Expression(id) => expression(file, *id),
        NodeKind::Text(run) => {
            let part = |part: &TextPart| match part {
                TextPart::Text(text) => text.replace('\n', "\\n"),
                TextPart::Expression(id) => expression(file, *id),
            };
            format!("\"{}\"", file.parts(*run).iter().map(part).collect::<String>())
        }
        NodeKind::List(run) => {
            let items: Vec<_> = file.elements(*run).iter().map(|id| self::node(file, *id)).collect();
            format!("[{}]", items.join(", "))
        }
        NodeKind::Map(id) => map(file, file.map(*id).expect("a map")),
    };
    node.tag.as_ref().map_or(shown.clone(), |tag| format!("{tag} {shown}"))
}

fn condition(file: &File, of: Condition) -> String {
    match of {
        Condition::Constant(truth) => truth.to_string(),
        Condition::Expression(id) => expression(file, id),
    }
}

fn name(file: &File, id: VariableId) -> &str {
    &file.variable(id).expect("a variable").name
}

fn map(file: &File, map: &Map) -> String {
    let mut shown = Vec::new();
    for id in &map.directives().schema {
        shown.push(format!("$schema {}", file.declared(*id).expect("declared").name));
    }
    for of in &map.directives().lets {
        let value = match &of.value {
            LetValue::Template(id) => node(file, *id),
            LetValue::Expression(id) => format!("={}", expression(file, *id)),
            LetValue::Unless { expression: id, text } => {
                format!("?{} or {}", expression(file, *id), node(file, *text))
            }
        };
        shown.push(format!("$let {} {value}", name(file, of.variable)));
    }
    for of in &map.directives().asserts {
        let message = of.message.map_or(String::new(), |id| format!(" msg {}", node(file, id)));
        shown.push(format!("$assert {}{message}", condition(file, of.condition)));
    }
    if let Some(of) = &map.directives().condition {
        let branch =
            |name: &str, id: Option<NodeId>| id.map_or(String::new(), |id| format!(" {name} {}", node(file, id)));
        let (then, otherwise) = (branch("then", of.then), branch("else", of.otherwise));
        shown.push(format!("$if {}{then}{otherwise}", condition(file, of.condition)));
    }
    if let Some(of) = &map.directives().each {
        let key = of.key.map_or(String::new(), |id| format!("{}, ", name(file, id)));
        let list = if of.in_list { " items" } else { " merged" };
        let (over, body) = (expression(file, of.over), node(file, of.body));
        shown.push(format!("$for {key}{} in {over}{list} {body}", name(file, of.value)));
    }
    if let Some(of) = &map.directives().include {
        let target = match &of.target {
            Target::File(id) => format!("file {}", id.index()),
            Target::Missing(_) => "missing".to_owned(),
            Target::Template(name) => format!("template {name}"),
            Target::Dynamic(folder, candidates) => {
                let names: String = candidates.iter().map(|candidate| format!(" {}", candidate.name)).collect();
                format!("dynamic {folder:?}{names}")
            }
        };
        let with = of.with.iter().map(|with| format!(" {}={}", with.name, node(file, with.value)));
        shown.push(format!("$include {target} {}{}", node(file, of.path), with.collect::<String>()));
    }
    for item in &map.items {
        shown.push(match item {
            Item::Entry(entry) => format!("{}: {}", node(file, entry.key), node(file, entry.value)),
            Item::Branch => "*branch".to_owned(),
            Item::Loop => "*loop".to_owned(),
            Item::Include => "*include".to_owned(),
        });
    }
    format!("{{{}}}", shown.join(", "))
}
