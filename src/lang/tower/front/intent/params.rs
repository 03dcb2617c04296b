//! Parameters: their declarations, and their values before rendering.
//!
//! Defaults are applied here and nowhere else. Null counts as missing. Messages name parameters and types but never
//! values, because a parameter may be a secret.

use std::sync::Arc;

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::Errors;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::{Kind, Node};
use dropforge_value::{Data, DataMap};

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// Text.
    String,
    /// An integer.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// One of the declared values.
    Enum,
}

impl ParameterType {
    const NAMES: [(&'static str, ParameterType); 5] = [
        ("string", ParameterType::String),
        ("integer", ParameterType::Integer),
        ("number", ParameterType::Number),
        ("boolean", ParameterType::Boolean),
        ("enum", ParameterType::Enum),
    ];

    /// Returns the name of the type in an intent.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    fn admits(self, value: &Data) -> bool {
        match self {
            ParameterType::String => matches!(value, Data::Str(_)),
            ParameterType::Integer => matches!(value, Data::Int(_) | Data::Uint(_)),
            ParameterType::Number => matches!(value, Data::Int(_) | Data::Uint(_) | Data::Float(_) | Data::Number(_)),
            ParameterType::Boolean => matches!(value, Data::Bool(_)),
            ParameterType::Enum => !matches!(value, Data::Null | Data::List(_) | Data::Map(_)),
        }
    }
}

/// A declared parameter.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type. `None` if the declaration is invalid, which is reported once.
    pub kind: Option<ParameterType>,
    /// `true` if a value is required.
    pub required: bool,
    /// The value used if none is supplied.
    pub default: Option<Data>,
    /// The values of an enum.
    pub values: Vec<Data>,
    /// The span of the name.
    pub span: Span,
}

impl Parameter {
    /// Returns `true` if values of this parameter can begin with `-`.
    pub fn may_begin_with_dash(&self) -> bool {
        match self.kind {
            Some(ParameterType::Boolean) => false,
            Some(ParameterType::Enum) => self.values.iter().any(|value| match value {
                Data::Str(text) => text.starts_with('-'),
                Data::Int(n) => *n < 0,
                Data::Float(n) => n.is_sign_negative(),
                _ => false,
            }),
            _ => true,
        }
    }

    /// Returns the error of a `value` that this parameter does not allow.
    fn refuse(&self, value: &Data) -> Option<Box<Diagnostic>> {
        let kind = self.kind?;
        let name = &self.name;
        if !kind.admits(value) {
            let message = format!("parameter '{name}' is declared as {}, not {}", kind.name(), value.kind());
            let error = Diagnostic::new(Code::ParameterType, message).with_field("parameter", name);
            return Some(match (kind, value) {
                (ParameterType::String, _) => error.with_help("put the value in quotes"),
                (_, Data::Str(_)) => error.with_help("give the value without quotes"),
                _ => error,
            });
        }
        if kind != ParameterType::Enum || self.values.contains(value) {
            return None;
        }
        let message = format!("the value of parameter '{name}' is not one of those it is declared with");
        let spelled = |value: &Data| value.as_str().map_or_else(|| json_text(value), str::to_owned);
        let allowed: Vec<String> = self.values.iter().map(spelled).collect();
        Some(Diagnostic::new(Code::ParameterNotAllowed, message).with_field("parameter", name).with_available(allowed))
    }
}

fn json_text(value: &Data) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The parameters of an intent.
#[derive(Debug, Clone, Default)]
pub struct Declarations {
    /// The parameters in order. `None` if the intent declares none, so that nothing can be checked.
    pub parameters: Option<IndexMap<String, Parameter>>,
}

impl Declarations {
    /// Reads `spec.parameters`.
    pub fn read(node: Option<&Node>, errors: &mut Errors<'_>) -> Self {
        let Some(node) = node.filter(|node| node.kind != Kind::Null) else { return Self::default() };
        let Some(items) = node.as_list() else {
            let message = format!("`spec.parameters` must be a list, found {}", node.kind_name());
            let first = node.as_map().and_then(|entries| entries.first()).map_or("…", |entry| &entry.name);
            let help = format!("write each parameter as an item: `- name: {first}`");
            errors.list.push(errors.error(Code::ParameterDeclaration, node.span, message).with_help(help));
            return Self::default();
        };
        let mut parameters: IndexMap<String, Parameter> = IndexMap::new();
        for item in items {
            let Some(parameter) = read_parameter(item, errors) else { continue };
            match parameters.entry(parameter.name.clone()) {
                Entry::Vacant(entry) => drop(entry.insert(parameter)),
                Entry::Occupied(first) => {
                    let message = format!("parameter '{}' is declared twice", parameter.name);
                    let error = errors.error(Code::ParameterDeclaration, parameter.span, message);
                    errors.list.push(error.at(errors.source, first.get().span, "first here"));
                }
            }
        }
        Self { parameters: Some(parameters) }
    }

    /// Returns the parameter called `name`.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters.as_ref()?.get(name)
    }

    /// Returns the declared names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().flat_map(IndexMap::keys).map(String::as_str)
    }

    /// Returns the values of the parameters: the supplied ones, checked against the declarations, and defaults.
    ///
    /// # Errors
    /// Every parameter that is missing, has the wrong type, is not one of its allowed values, or is not declared.
    pub fn resolve(&self, given: &DataMap, source: &Arc<Source>) -> Result<DataMap, Vec<Box<Diagnostic>>> {
        let Some(parameters) = &self.parameters else { return Ok(given.clone()) };
        let (mut values, mut errors) = (DataMap::default(), Vec::new());
        for parameter in parameters.values() {
            match given.get(&parameter.name).filter(|value| **value != Data::Null) {
                Some(value) => match parameter.refuse(value) {
                    Some(error) => errors.push(error.at(source, parameter.span, "declared here")),
                    None => drop(values.insert(parameter.name.clone(), value.clone())),
                },
                None => match &parameter.default {
                    Some(default) => drop(values.insert(parameter.name.clone(), default.clone())),
                    None if parameter.required => errors.push(missing(parameter, source)),
                    None => {}
                },
            }
        }
        errors.extend(given.keys().filter(|name| self.get(name).is_none()).map(|name| self.undeclared(name)));
        if errors.is_empty() { Ok(values) } else { Err(errors) }
    }

    fn undeclared(&self, name: &str) -> Box<Diagnostic> {
        Diagnostic::new(Code::ParameterUndeclared, format!("the intent declares no parameter '{name}'"))
            .with_field("parameter", name)
            .with_available(self.names())
            .with_suggestion(name, self.names())
    }
}

fn missing(parameter: &Parameter, source: &Arc<Source>) -> Box<Diagnostic> {
    Diagnostic::new(Code::ParameterMissing, format!("parameter '{}' is required and not given", parameter.name))
        .with_field("parameter", &parameter.name)
        .at(source, parameter.span, "declared here")
}

/// Returns `true` if a string contains an expression. It is reported as forbidden, and its declaration is not checked.
fn has_expression(node: &Node) -> bool {
    node.text.contains("${")
}

fn read_parameter(item: &Node, errors: &mut Errors<'_>) -> Option<Parameter> {
    let Some(name) = item.get("name") else {
        errors.declaration(item.span, "a parameter needs a `name`");
        return None;
    };
    if has_expression(name) {
        return None;
    }
    let Some(text) = name.as_str() else {
        errors.declaration(name.span, format!("the name of a parameter must be text, found {}", name.kind_name()));
        return None;
    };
    let mut parameter = Parameter {
        name: text.to_owned(),
        kind: read_type(item, text, errors),
        required: false,
        default: item.get("default").map(Node::to_data).filter(|value| *value != Data::Null),
        values: Vec::new(),
        span: name.span,
    };
    match item.get("required").map(|node| (node, node.to_data())) {
        None => {}
        Some((_, Data::Bool(required))) => parameter.required = required,
        Some((node, _)) => errors.declaration(node.span, format!("`required` of '{text}' is true or false")),
    }
    read_values(item, &mut parameter, errors);
    check_default(item, &parameter, errors);
    Some(parameter)
}

fn read_type(item: &Node, name: &str, errors: &mut Errors<'_>) -> Option<ParameterType> {
    let names = ParameterType::NAMES.map(|(name, _)| name);
    let Some(node) = item.get("type") else {
        let message = format!("parameter '{name}' needs a `type`");
        errors.list.push(errors.error(Code::ParameterDeclaration, item.span, message).with_available(names));
        return None;
    };
    if has_expression(node) {
        return None;
    }
    let wanted = node.as_str().unwrap_or("");
    let found = ParameterType::NAMES.iter().find(|(name, _)| *name == wanted).map(|(_, kind)| *kind);
    if found.is_none() {
        let message = format!("parameter '{name}' has a type that does not exist");
        let error = errors.error(Code::ParameterDeclaration, node.span, message);
        errors.list.push(error.with_available(names).with_suggestion(wanted, names));
    }
    found
}

fn read_values(item: &Node, parameter: &mut Parameter, errors: &mut Errors<'_>) {
    if parameter.kind != Some(ParameterType::Enum) {
        return;
    }
    let values = item.get("values").and_then(Node::as_list).unwrap_or(&[]);
    parameter.values = values.iter().map(Node::to_data).collect();
    let bad = values.iter().find(|node| !ParameterType::Enum.admits(&node.to_data()));
    if let Some(bad) = bad {
        errors.declaration(
            bad.span,
            format!("the enum '{}' cannot have a value of type {}", parameter.name, bad.kind_name()),
        );
    } else if values.is_empty() {
        let span = item.get("values").unwrap_or(item).span;
        errors.declaration(span, format!("the enum '{}' needs a list of `values`", parameter.name));
    }
}

fn check_default(item: &Node, parameter: &Parameter, errors: &mut Errors<'_>) {
    let Some((node, default)) = item.get("default").zip(parameter.default.as_ref()) else { return };
    if has_expression(node) || (parameter.kind == Some(ParameterType::Enum) && parameter.values.is_empty()) {
        return;
    }
    if let Some(why) = parameter.refuse(default) {
        errors.declaration(node.span, format!("the default does not fit: {}", why.message));
    }
}
