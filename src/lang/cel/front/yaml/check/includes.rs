//! Included files, and the fit of values to schemas: constants are validated, expressions are checked by their types.

use std::sync::Arc;

use super::{COMBINATIONS, Definition, TemplateChecker, TypedFile, Visit, With};
use crate::check::{Kind, TypeId, Types};
use crate::yaml::syntax::{
    DeclaredName, File, FileId, Include, LetValue, Map, NodeId, NodeKind, Target, TemplateEntry,
};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::paths;
use dropforge_base::text::{Source, Span};
use dropforge_schema::{Additional, Node, NodeId as SchemaId, Schema, Types as Allowed, Violation};
use dropforge_value::{Data, DataMap};

impl<'t> TemplateChecker<'t> {
    /// Checks the includes of a file, and schedules the checks of the included files.
    pub fn includes(&mut self, typed: &mut TypedFile<'t>) {
        let includes: Vec<&Include> =
            typed.file.maps.iter().filter_map(|map| map.directives().include.as_deref()).collect();
        for include in includes {
            let id = match &include.target {
                Target::File(id) => *id,
                other => {
                    other.files().for_each(|id| self.schedule(typed, include, id, None));
                    continue;
                }
            };
            let Some(file) = self.templates.file(id) else { continue };
            let unfit = self.with_fits(typed, include, file);
            let mut with = With::new();
            for given in &include.with {
                // A misfit is reported once.
                let ty = if unfit.contains(&given.name) { Types::DYN } else { self.node_type(typed, given.value) };
                with.insert(given.name.clone(), ty);
            }
            self.schedule(typed, include, id, Some(Arc::new(with)));
        }
    }

    /// Schedules the check of a file with `with`, once.
    fn schedule(&mut self, typed: &TypedFile<'_>, include: &Include, file: FileId, with: Option<Arc<With>>) {
        let combinations = self.combinations.entry(file).or_default();
        if combinations.len() < COMBINATIONS && combinations.insert(with.clone()) {
            self.visits.push(Visit { file, with, from: Some((typed.visit, include.span)) });
        }
    }

    /// Checks the variables of `$with` against the schemas of a file, and returns the names that do not fit.
    fn with_fits(&mut self, typed: &TypedFile<'t>, include: &Include, file: &'t File) -> Vec<Arc<str>> {
        let (schema, mut unfit) = (format!("the `$schema` of `{}`", file.source.name()), Vec::new());
        for declared in schemas_of(file) {
            let (owner, misfits) = match include.with.iter().find(|given| given.name == declared.name) {
                Some(given) => {
                    let misfits = self.misfits(typed, &declared.schema, given.value);
                    unfit.extend(misfits.first().map(|_| declared.name.clone()));
                    (given.value, misfits)
                }
                None if declared.schema.is_required() => {
                    let what = "expected a value (required)".to_owned();
                    (include.path, vec![Misfit { span: include.span, path: String::new(), what, help: None }])
                }
                None => continue,
            };
            self.report_misfits(typed, (Some(owner), &file.source), declared, &schema, misfits);
        }
        unfit
    }

    /// Checks variables of the file against the schemas of an inner map.
    pub fn declared(&mut self, typed: &mut TypedFile<'t>, map: &Map) {
        let file = typed.file;
        for declared in map.directives().schema.iter().filter_map(|id| file.declared(*id)) {
            let Some(of) = declared.of else { continue };
            let template = match typed.definitions.get(&of) {
                Some(Definition::Let(LetValue::Template(node))) => Some(*node),
                _ => None,
            };
            let misfits = match template {
                Some(node) => self.misfits(typed, &declared.schema, node),
                None => {
                    let ty = self.variable(typed, of);
                    let span = file.variable(of).map(|variable| variable.span).unwrap_or_default();
                    self.type_misfits(&declared.schema, ty, span)
                }
            };
            let owner = file.variable(of).map(|variable| variable.owner);
            self.report_misfits(typed, (template.or(owner), &file.source), declared, "a `$schema`", misfits);
        }
    }

    /// Reports misfits to a schema `declared` in the file `there`.
    fn report_misfits(
        &mut self,
        typed: &TypedFile<'_>,
        (owner, there): (Option<NodeId>, &Arc<Source>),
        declared: &DeclaredName,
        schema: &str,
        misfits: Vec<Misfit>,
    ) {
        for Misfit { span, path, what, help } in misfits {
            let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            let message = format!("`{}{dot}{path}` does not fit {schema}: {what}", declared.name);
            let mut error = Diagnostic::new(Code::InputType, message).at(there, declared.span, "what is said of it");
            error.help = help;
            self.error(typed, owner, span, error);
        }
    }
}

/// Returns the schemas at the root of a file.
fn schemas_of(file: &File) -> impl Iterator<Item = &DeclaredName> {
    let map = file.documents.first().and_then(|root| file.map_of(*root));
    let ids = map.map_or(&[][..], |map| &map.directives().schema);
    ids.iter().filter_map(|id| file.declared(*id))
}

/// The maximum number of violations of one value.
const MOST: usize = 100;

/// A value that does not fit a schema: its span, its path within the whole value, the message, and a help line.
struct Misfit {
    pub span: Span,
    pub path: String,
    pub what: String,
    pub help: Option<String>,
}

impl<'t> TemplateChecker<'t> {
    /// Returns the misfits of the value of a node.
    fn misfits(&mut self, typed: &TypedFile<'t>, schema: &Schema, node: NodeId) -> Vec<Misfit> {
        let mut found = Vec::new();
        self.node_fits(typed, schema, Schema::ROOT, (node, String::new()), &mut found);
        found
    }

    /// Returns the misfits of a type.
    fn type_misfits(&mut self, schema: &Schema, ty: TypeId, span: Span) -> Vec<Misfit> {
        let mut found = Vec::new();
        self.type_fits(schema, Schema::ROOT, ty, (span, String::new()), &mut found);
        found
    }

    fn node_fits(
        &mut self,
        typed: &TypedFile<'t>,
        schema: &Schema,
        id: SchemaId,
        (at, path): (NodeId, String),
        found: &mut Vec<Misfit>,
    ) {
        let Some((node, rules)) = typed.file.node(at).zip(schema.node(id)) else { return };
        if let Some(data) = constant(typed, at) {
            let steps = &mut self.steps;
            let mut spend = |count: u64| {
                *steps = steps.saturating_sub(count);
                if *steps == 0 { Err(()) } else { Ok(()) }
            };
            let violations = schema.validate_data(id, &data, MOST, &mut spend).unwrap_or_default();
            found.extend(violations.into_iter().map(|violation| located(typed, at, &path, violation)));
            return;
        }
        match &node.kind {
            NodeKind::Expression(expression) => {
                let span = typed.file.expression(*expression);
                let span = span.map_or(node.span, |expression| expression.span_of(expression.tree.root));
                let ty = typed.of(*expression);
                self.type_fits(schema, id, ty, (span, path), found);
            }
            NodeKind::Text(_) => {
                let _ = kind_fits(rules, Allowed::STRING, "text", (node.span, path), found);
            }
            NodeKind::List(run) => {
                if kind_fits(rules, Allowed::ARRAY, "a list", (node.span, path.clone()), found)
                    && let Some(items) = rules.items
                {
                    for (index, element) in typed.file.elements(*run).iter().enumerate() {
                        self.node_fits(typed, schema, items, (*element, format!("{path}[{index}]")), found);
                    }
                }
            }
            NodeKind::Map(_) => {
                if let Some(entries) = plain_entries(typed, at)
                    && kind_fits(rules, Allowed::OBJECT, "a map", (node.span, path.clone()), found)
                {
                    self.entries_fit(typed, schema, rules, (node.span, path), &entries, found);
                }
            }
            NodeKind::Scalar(_) => {}
        }
    }

    fn entries_fit(
        &mut self,
        typed: &TypedFile<'t>,
        schema: &Schema,
        rules: &Node,
        (span, path): (Span, String),
        entries: &[TemplateEntry],
        found: &mut Vec<Misfit>,
    ) {
        let named: Vec<_> = entries.iter().map(|entry| (key_name(typed, entry.key), entry.value)).collect();
        if named.iter().all(|(name, _)| name.is_some()) {
            let has = |required: &str| named.iter().any(|(name, _)| name.as_deref() == Some(required));
            for name in rules.required.iter().filter(|name| !has(name)) {
                let what = format!("missing property `{name}` (required)");
                found.push(Misfit { span, path: path.clone(), what, help: None });
            }
        }
        for (name, value) in named.iter().filter_map(|(name, value)| Some((name.as_deref()?, *value))) {
            let path = format!("{path}{}{name}", if path.is_empty() { "" } else { "." });
            match (rules.properties.get(name), rules.additional) {
                (Some(schema_id), _) => self.node_fits(typed, schema, *schema_id, (value, path), found),
                (None, Additional::Schema(id)) => self.node_fits(typed, schema, id, (value, path), found),
                (None, Additional::None) => {
                    let what = "unexpected property (additionalProperties)".to_owned();
                    let near = dropforge_base::diagnostics::nearest(name, rules.properties.keys().map(String::as_str));
                    let help = near.map(|near| format!("did you mean `{near}`?"));
                    let span = typed.file.node(value).map_or(span, |node| node.span);
                    found.push(Misfit { span, path, what, help });
                }
                (None, Additional::Any | Additional::Unsaid) => {}
            }
        }
    }

    fn type_fits(
        &mut self,
        schema: &Schema,
        id: SchemaId,
        ty: TypeId,
        (span, path): (Span, String),
        found: &mut Vec<Misfit>,
    ) {
        let (Some(rules), Some(is)) = (schema.node(id), self.schema_types(ty)) else { return };
        let text = format!("a value of type '{}'", self.checks.env.types().text(ty));
        if !kind_fits(rules, is, &text, (span, path.clone()), found) {
            return;
        }
        match self.kind(ty) {
            Kind::List(element) => {
                if let Some(items) = rules.items {
                    self.type_fits(schema, items, element, (span, format!("{path}[]")), found);
                }
            }
            Kind::Object(at) => {
                let fields = self.checks.env.types().object(at).map(|object| object.fields.clone()).unwrap_or_default();
                for (name, ty) in fields {
                    if let Some(property) = rules.properties.get(&name) {
                        let path = format!("{path}{}{name}", if path.is_empty() { "" } else { "." });
                        self.type_fits(schema, *property, ty, (span, path), found);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the JSON types of values of a type; `None` for a type of any values.
    fn schema_types(&mut self, ty: TypeId) -> Option<Allowed> {
        Some(match self.kind(ty) {
            Kind::Null => Allowed::NULL,
            Kind::Bool => Allowed::BOOLEAN,
            // A double can be an integer.
            Kind::Int | Kind::Uint | Kind::Double | Kind::Number => Allowed::INTEGER.or(Allowed::NUMBER),
            Kind::String => Allowed::STRING,
            Kind::List(_) => Allowed::ARRAY,
            Kind::Map(..) | Kind::Object(_) => Allowed::OBJECT,
            Kind::Nullable(of) => self.schema_types(of)?.or(Allowed::NULL),
            Kind::Bytes | Kind::Timestamp | Kind::Duration | Kind::Type(_) | Kind::Opaque(..) => Allowed::default(),
            Kind::Dyn | Kind::Error | Kind::Optional(_) | Kind::Param(_) | Kind::Var(_) => return None,
        })
    }
}

/// Returns `true` if a schema allows one of the types. Reports a misfit otherwise.
fn kind_fits(rules: &Node, is: Allowed, text: &str, (span, path): (Span, String), found: &mut Vec<Misfit>) -> bool {
    let fits = rules.types.is_any() || rules.types.has(is);
    if !fits {
        let what = format!("expected {}, found {text} (type)", rules.types.sentence());
        found.push(Misfit { span, path, what, help: None });
    }
    fits
}

/// Returns the misfit of a violation, at its position.
fn located(typed: &TypedFile<'_>, node: NodeId, path: &str, violation: Violation) -> Misfit {
    let mut at = node;
    for name in paths::names(&violation.pointer) {
        let next = match typed.file.node(at).map(|node| &node.kind) {
            Some(NodeKind::List(run)) => {
                name.parse().ok().and_then(|index: usize| typed.file.elements(*run).get(index).copied())
            }
            _ => plain_entries(typed, at)
                .into_iter()
                .flatten()
                .find_map(|entry| (key_name(typed, entry.key).as_deref() == Some(&*name)).then_some(entry.value)),
        };
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    let span = typed.file.node(at).map(|node| node.span).unwrap_or_default();
    let dot = if path.is_empty() || violation.path.is_empty() || violation.path.starts_with('[') { "" } else { "." };
    let (what, help) = (violation.what(), violation.help);
    Misfit { span, path: format!("{path}{dot}{}", violation.path), what, help }
}

/// Returns the entries of a map without directives.
fn plain_entries(typed: &TypedFile<'_>, node: NodeId) -> Option<Vec<TemplateEntry>> {
    let map = typed.file.map_of(node).filter(|map| map.is_plain() && map.directives().asserts.is_empty())?;
    Some(map.entries().collect())
}

/// Returns the name of a constant key.
fn key_name(typed: &TypedFile<'_>, key: NodeId) -> Option<String> {
    match &typed.file.node(key)?.kind {
        NodeKind::Scalar(scalar) => Some(scalar.text.to_string()),
        _ => None,
    }
}

/// Returns the value of a constant node.
fn constant(typed: &TypedFile<'_>, at: NodeId) -> Option<Data> {
    let node = typed.file.node(at)?;
    match &node.kind {
        NodeKind::Scalar(scalar) => Some(scalar.to_data()),
        NodeKind::List(run) => {
            let items = typed.file.elements(*run).iter().map(|item| constant(typed, *item));
            items.collect::<Option<_>>().map(Data::List)
        }
        NodeKind::Map(_) => {
            let entries = plain_entries(typed, at)?;
            // Keys other than strings are not names of properties.
            let pair = |entry: &TemplateEntry| {
                Some((typed.file.string(entry.key)?.to_string(), constant(typed, entry.value)?))
            };
            entries.iter().map(pair).collect::<Option<DataMap>>().map(Data::Map)
        }
        NodeKind::Expression(_) | NodeKind::Text(_) => None,
    }
}
