//! The directives of a map: their names, dependencies and values.

use std::sync::Arc;

use super::build::{FileBuilder, IncludePath, may_interpolate};
use super::{
    Assert, Condition, For, If, Include, Item, Let, LetValue, MapId, NodeId, NodeKind, PathStep, Target, Variable,
    VariableId, VariableKind, With,
};
use crate::syntax::{is_identifier, is_reserved};
use dropforge_base::diagnostics::{Code, nearest};
use dropforge_base::text::Span;
use dropforge_value::yaml::{self, Entry, Kind};

/// The names of directives.
const NAMES: &[&str] =
    &["$schema", "$let", "$assert", "$msg", "$if", "$then", "$else", "$for", "$do", "$include", "$with"];

/// Directives that require another one.
const REQUIRED: &[(&str, &str)] =
    &[("$msg", "$assert"), ("$then", "$if"), ("$else", "$if"), ("$do", "$for"), ("$with", "$include")];

/// Describes a node, with an article.
pub(super) fn kind(node: &yaml::Node) -> &'static str {
    match node.kind {
        Kind::Null => "null",
        Kind::Bool(_) => "a boolean",
        Kind::Int(_) | Kind::Uint(_) => "an integer",
        Kind::Float(_) => "a number",
        Kind::Str => "a string",
        Kind::List(_) => "a list",
        Kind::Map(_) => "a map",
    }
}

/// Checks the name of a variable. The error is the end of a message.
pub(super) fn check_name(name: &str) -> Result<(), &'static str> {
    if !is_identifier(name) {
        return Err("is not a name: letters, digits and `_`, not a digit first");
    }
    if is_reserved(name) { Err("is a reserved word, which no expression can refer to") } else { Ok(()) }
}

/// The directives and entries of a map.
struct MapParts<'y> {
    id: NodeId,
    map: MapId,
    in_list: bool,
    entries: &'y [Entry],
    directives: Vec<&'y Entry>,
}

impl<'y> MapParts<'y> {
    fn get(&self, name: &str) -> Option<&'y Entry> {
        // Most maps have none.
        if self.directives.is_empty() {
            return None;
        }
        self.directives.iter().find(|entry| &*entry.key.text == name).copied()
    }
}

/// Returns `true` for a key that starts like a directive.
fn is_directive(entry: &Entry) -> bool {
    let text = &*entry.key.text;
    matches!(entry.key.kind, Kind::Str) && text.starts_with('$') && !text.starts_with("$$") && !text.starts_with("${")
}

/// The body of a loop, and its variables: the index or key, and the element or value.
struct LoopBody<'y> {
    body: NodeId,
    node: &'y yaml::Node,
    variables: [Option<VariableId>; 2],
}

/// Values to build once the map that contains them is complete.
type Values<'y> = Vec<(NodeId, &'y yaml::Node)>;

impl FileBuilder<'_> {
    /// Builds a map: its directives in the order in which they run, then its keys. It calls itself for maps within, so its
    /// frame is kept small.
    pub fn map(&mut self, id: NodeId, map: MapId, entries: &[Entry], in_list: bool) {
        let parts = self.parts(id, map, entries, in_list);
        let mark = self.names.mark();
        if let Some(schema) = parts.get("$schema") {
            self.schema(id, map, &schema.value);
        }
        for entry in self.lets(&parts) {
            self.let_one(id, map, entry);
        }
        let (values, each) = self.rest(&parts);
        for (id, node) in values {
            self.value(id, node, false);
        }
        if let Some(each) = each {
            self.bind_all(each.variables);
            self.value(each.body, each.node, in_list);
        }
        self.names.leave(mark);
    }

    /// Finds the directives of a map.
    fn parts<'y>(&mut self, id: NodeId, map: MapId, entries: &'y [Entry], in_list: bool) -> MapParts<'y> {
        let mut directives = Vec::new();
        for entry in entries.iter().filter(|entry| is_directive(entry)) {
            if NAMES.contains(&&*entry.key.text) {
                directives.push(entry);
            } else {
                self.unknown(id, entry);
            }
        }
        let parts = MapParts { id, map, in_list, entries, directives };
        self.orphans(&parts);
        parts
    }

    fn unknown(&mut self, id: NodeId, entry: &Entry) {
        let name = &*entry.key.text;
        let bare = |name: &'static str| name.strip_prefix('$');
        let near = nearest(name.trim_start_matches('$'), NAMES.iter().copied().filter_map(bare));
        let help = match near {
            Some(near) => format!("did you mean `${near}`? A key of data is written `${name}`"),
            None => format!("write `${name}` for a key of data that begins with `$`"),
        };
        let message = format!("there is no directive `{name}`");
        self.error_help(Code::UnknownDirective, entry.key.span, id, message, Some(&help));
    }

    /// Reports directives without the ones that they require.
    fn orphans(&mut self, parts: &MapParts<'_>) {
        if parts.directives.is_empty() {
            return;
        }
        for (name, owner) in REQUIRED {
            if let Some(entry) = parts.get(name).filter(|_| parts.get(owner).is_none()) {
                let message = format!("`{name}` belongs to `{owner}`, which this map does not have");
                self.error(Code::BadDirective, entry.key.span, parts.id, message);
            }
        }
        let with_if = parts.get("$if").and(parts.get("$else"));
        if let Some(entry) = with_if.filter(|_| parts.get("$then").is_none()) {
            self.error(Code::BadDirective, entry.key.span, parts.id, "`$else` has no `$then`");
        }
        if let Some(entry) = parts.get("$for").filter(|_| parts.get("$do").is_none()) {
            self.error(Code::BadDirective, entry.key.span, parts.id, "`$for` has no `$do`");
        }
        if parts.in_list && parts.get("$for").is_some() {
            self.beside_loop(parts);
        }
    }

    /// Reports keys next to a loop that makes items of a list.
    fn beside_loop(&mut self, parts: &MapParts<'_>) {
        let keys = parts.entries.iter().filter(|entry| !is_directive(entry));
        let makes = |entry: &&Entry| matches!(&*entry.key.text, "$then" | "$include");
        for entry in keys.chain(parts.directives.iter().copied().filter(makes)) {
            let message = format!("`{}` stands beside a `$for` that makes items of a list", entry.name);
            let help = "put it into `$do`, or make it an item of its own";
            self.error_help(Code::BadDirective, entry.key.span, parts.id, message, Some(help));
        }
    }

    /// Returns the entries of a directive. Reports one that is not a map.
    pub fn map_of<'y>(&mut self, id: NodeId, name: &str, node: &'y yaml::Node, of: &str) -> &'y [Entry] {
        node.as_map().unwrap_or_else(|| {
            let message = format!("`{name}` must be a map of {of}, found {}", kind(node));
            self.error(Code::BadDirective, node.span, id, message);
            &[]
        })
    }

    /// Returns the name of a variable that a directive defines. Reports an invalid one.
    pub(crate) fn variable_name(&mut self, id: NodeId, entry: &Entry) -> Option<Arc<str>> {
        match check_name(&entry.name) {
            Ok(()) => Some(entry.name.clone()),
            Err(why) => {
                let message = format!("`{}` {why}", entry.name);
                self.error(Code::BadDirective, entry.key.span, id, message);
                None
            }
        }
    }

    pub fn variable(&mut self, name: Arc<str>, span: Span, kind: VariableKind, owner: NodeId) -> VariableId {
        self.file.variables.push(Variable { name, span, kind, owner });
        VariableId::of(self.file.variables.len() - 1)
    }

    /// Announces the variables of `$let`, and returns their entries in order.
    fn lets<'y>(&mut self, parts: &MapParts<'y>) -> Vec<&'y Entry> {
        let Some(lets) = parts.get("$let") else { return Vec::new() };
        let entries = self.map_of(parts.id, "$let", &lets.value, "names and their values");
        let named: Vec<_> = entries.iter().filter(|entry| self.variable_name(parts.id, entry).is_some()).collect();
        // The first definition is announced last.
        for entry in named.iter().rev() {
            self.names.announce(&entry.name, entry.key.span);
        }
        named
    }

    /// Builds a variable of `$let`.
    fn let_one(&mut self, owner: NodeId, map: MapId, entry: &Entry) {
        let variable = self.variable(entry.name.clone(), entry.key.span, VariableKind::Let, owner);
        let step = PathStep::Within(Box::new(("$let", entry.name.clone())));
        let node = self.node(&entry.value, Some(owner), step);
        let value = match entry.value.as_str() {
            Some(text) => self.let_text(node, &entry.value, text),
            None => {
                self.value(node, &entry.value, false);
                Some(LetValue::Template(node))
            }
        };
        if let Some((map, value)) = self.file.map_mut(map).zip(value) {
            map.directives_mut().lets.push(Let { variable, value });
        }
        self.bind(variable);
    }

    /// Builds the other directives after `$let`, in order, then the keys. Returns what is left to build.
    fn rest<'y>(&mut self, parts: &MapParts<'y>) -> (Values<'y>, Option<LoopBody<'y>>) {
        let mut values = Values::with_capacity(parts.entries.len());
        if parts.directives.is_empty() {
            let items = self.items(parts, &mut values);
            self.set_items(parts.map, items);
            return (values, None);
        }
        let asserts = self.asserts(parts);
        let condition = self.branches(parts, &mut values);
        let include = self.include(parts, &mut values);
        let items = self.items(parts, &mut values);
        let (each, body) = self.each(parts);
        if let (Some(condition), Some(each)) = (&condition, &each) {
            self.check_guard(parts.id, condition, each);
        }
        if condition.is_some() || each.is_some() {
            self.merging.push(parts.map);
        }
        self.set_items(parts.map, items);
        if let Some(map) = self.file.map_mut(parts.map) {
            let directives = map.directives_mut();
            (directives.asserts, directives.condition) = (asserts, condition);
            (directives.each, directives.include) = (each, include);
        }
        (values, body)
    }

    fn set_items(&mut self, map: MapId, items: Vec<Item>) {
        if let Some(map) = self.file.map_mut(map) {
            map.items = items;
        }
    }

    /// Builds the keys, and the positions of directives that make keys.
    fn items<'y>(&mut self, parts: &MapParts<'y>, values: &mut Values<'y>) -> Vec<Item> {
        let mut items = Vec::with_capacity(parts.entries.len());
        for entry in parts.entries {
            if !is_directive(entry) {
                items.push(self.entry(parts, entry, values));
                continue;
            }
            match &*entry.key.text {
                "$if" if parts.get("$then").is_some() => items.push(Item::Branch),
                "$for" => items.push(Item::Loop),
                "$include" => items.push(Item::Include),
                _ => {}
            }
        }
        items
    }

    fn entry<'y>(&mut self, parts: &MapParts<'y>, entry: &'y Entry, values: &mut Values<'y>) -> Item {
        let (owner, text) = (parts.id, &*entry.key.text);
        if memchr::memchr(b'$', text.as_bytes()).is_some() {
            self.merging.push(parts.map);
        }
        let key = self.node(&entry.key, Some(owner), PathStep::Key(entry.name.clone()));
        let kind = if text.starts_with("$$") && !text.starts_with("$${") {
            self.text(key, &entry.key, text, Span::of(1..text.len()))
        } else if may_interpolate(text) && matches!(entry.key.kind, Kind::Str) {
            self.text(key, &entry.key, text, Span::of(0..text.len()))
        } else {
            Some(NodeKind::Scalar(entry.key.clone()))
        };
        if matches!(kind, Some(NodeKind::Expression(_))) {
            self.file.computed_keys.push(key);
        }
        if let Some(kind) = kind {
            self.set(key, kind);
        }
        let value = self.node(&entry.value, Some(owner), PathStep::Key(entry.name.clone()));
        values.push((value, &entry.value));
        Item::Entry(super::TemplateEntry { key, value })
    }

    fn asserts(&mut self, parts: &MapParts<'_>) -> Vec<Assert> {
        let Some(entry) = parts.get("$assert") else { return Vec::new() };
        let message = parts.get("$msg").and_then(|message| self.message(parts.id, &message.value));
        match entry.value.as_list() {
            Some([]) => {
                self.error(Code::BadDirective, entry.value.span, parts.id, "`$assert` has no condition");
                Vec::new()
            }
            Some(items) => items.iter().filter_map(|item| self.one_assert(parts.id, item, message)).collect(),
            None => self.one_assert(parts.id, &entry.value, message).into_iter().collect(),
        }
    }

    /// Builds a condition, or a map of `$assert` and `$msg` in a list.
    fn one_assert(&mut self, id: NodeId, node: &yaml::Node, message: Option<NodeId>) -> Option<Assert> {
        let Some(entries) = node.as_map() else {
            let condition = self.condition(id, "$assert", node)?;
            return Some(Assert { condition, span: node.span, message });
        };
        let stray = entries.iter().find(|entry| !matches!(&*entry.name, "$assert" | "$msg"));
        if let Some(stray) = stray {
            let message = format!("`{}` is not part of an assertion: `$assert` and `$msg` are", stray.name);
            self.error(Code::BadDirective, stray.key.span, id, message);
        }
        let own = node.get("$msg").and_then(|message| self.message(id, message)).or(message);
        let Some(condition) = node.get("$assert") else {
            self.error(Code::BadDirective, node.span, id, "an assertion in a map has a `$assert`");
            return None;
        };
        let span = condition.span;
        let condition = self.condition(id, "$assert", condition)?;
        Some(Assert { condition, span, message: own })
    }

    fn message(&mut self, owner: NodeId, node: &yaml::Node) -> Option<NodeId> {
        if matches!(node.kind, Kind::List(_) | Kind::Map(_)) {
            let message = format!("`$msg` is text, not {}", kind(node));
            self.error(Code::BadDirective, node.span, owner, message);
            return None;
        }
        let id = self.node(node, Some(owner), PathStep::Directive("$msg"));
        self.scalar(id, node);
        Some(id)
    }

    fn branches<'y>(&mut self, parts: &MapParts<'y>, values: &mut Values<'y>) -> Option<If> {
        let entry = parts.get("$if")?;
        let mut branch = |build: &mut Self, name: &'static str| {
            let value = &parts.get(name)?.value;
            let id = build.node(value, Some(parts.id), PathStep::Directive(name));
            values.push((id, value));
            Some(id)
        };
        let (then, otherwise) = (branch(self, "$then"), branch(self, "$else"));
        let condition = self.condition(parts.id, "$if", &entry.value)?;
        Some(If { condition, span: entry.key.span, then, otherwise })
    }

    /// Builds a condition: `true`, `false` or an expression.
    fn condition(&mut self, owner: NodeId, name: &str, node: &yaml::Node) -> Option<Condition> {
        match node.kind {
            Kind::Bool(truth) => Some(Condition::Constant(truth)),
            Kind::Str => self.bare(owner, name, node).map(Condition::Expression),
            _ => {
                let message = format!("`{name}` is an expression that is true or false, not {}", kind(node));
                self.error(Code::BadDirective, node.span, owner, message);
                None
            }
        }
    }

    /// Reports variables of a loop in the condition next to it, which is evaluated first.
    fn check_guard(&mut self, owner: NodeId, guard: &If, each: &For) {
        let Condition::Expression(id) = guard.condition else { return };
        let named = |id: Option<VariableId>| Some(self.file.variable(id?)?.name.clone());
        let names = [named(each.key), named(Some(each.value))];
        let unknown = |free: &&super::Free| free.variable.is_none() && free.declared.is_none();
        let expression = self.file.expression(id);
        let free = expression.into_iter().flat_map(|of| &of.free).filter(unknown);
        let wrong: Vec<_> =
            free.filter(|free| names.iter().flatten().any(|name| *name == free.name)).cloned().collect();
        for free in wrong {
            let message =
                format!("`$if` is asked once before `$for` begins, and does not see its variable `{}`", free.name);
            let help = "to choose among the iterations, put `$if` and `$then` into `$do`, or filter the list";
            self.error_help(Code::UndefinedVariable, free.span, owner, message, Some(help));
        }
    }

    /// Builds the header of a loop, and returns its body. Even if the header is invalid, errors in the body are reported.
    fn each<'y>(&mut self, parts: &MapParts<'y>) -> (Option<For>, Option<LoopBody<'y>>) {
        let Some(entry) = parts.get("$for") else { return (None, None) };
        let header = self.header(parts.id, &entry.value);
        let Some(Entry { value: node, .. }) = parts.get("$do") else { return (None, None) };
        let body = self.node(node, Some(parts.id), PathStep::Directive("$do"));
        let (over, variables) = header.unzip();
        let variables @ [key, value] = variables.unwrap_or_default();
        let (span, in_list) = (entry.key.span, parts.in_list);
        let each = over.flatten().zip(value).map(|(over, value)| For { span, key, value, over, body, in_list });
        (each, Some(LoopBody { body, node, variables }))
    }

    fn bind_all(&mut self, variables: [Option<VariableId>; 2]) {
        variables.into_iter().flatten().for_each(|variable| self.bind(variable));
    }

    fn include<'y>(&mut self, parts: &MapParts<'y>, values: &mut Values<'y>) -> Option<Box<Include>> {
        let entry = parts.get("$include")?;
        let with = parts.get("$with").map_or(Vec::new(), |with| self.with(parts.id, &with.value, values));
        let node = &entry.value;
        if node.as_str().is_none_or(str::is_empty) {
            let found = if node.as_str().is_some() { "empty" } else { kind(node) };
            let message = format!("`$include` is the path of a file, not {found}");
            self.error(Code::BadDirective, node.span, parts.id, message);
            return None;
        }
        let path = self.node(node, Some(parts.id), PathStep::Directive("$include"));
        self.scalar(path, node);
        if let NodeKind::Scalar(scalar) = &self.file.node(path)?.kind {
            let constant = scalar.text.clone();
            let (map, owner, span) = (parts.map, path, node.span);
            self.includes.push(IncludePath { map, owner, span, path: constant, constant: true });
        }
        let name = self.file.source.name();
        let folder = name.rfind('/').and_then(|at| name.get(..=at)).unwrap_or("");
        let target = Target::Dynamic(folder.into(), Vec::new());
        Some(Box::new(Include { span: node.span, path, target, with }))
    }

    fn with<'y>(&mut self, owner: NodeId, node: &'y yaml::Node, values: &mut Values<'y>) -> Vec<With> {
        let entries = self.map_of(owner, "$with", node, "names and their values");
        let mut with = Vec::with_capacity(entries.len());
        for entry in entries {
            let Some(name) = self.variable_name(owner, entry) else { continue };
            let value = self.node(&entry.value, Some(owner), PathStep::Within(Box::new(("$with", name.clone()))));
            values.push((value, &entry.value));
            with.push(With { name, span: entry.key.span, value });
        }
        with
    }
}
