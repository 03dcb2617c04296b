//! The types of what templates make, and of variables.

use super::{Check, Definition, Typed};
use crate::dialect::cel::check::{Kind, TypeId, Types};
use crate::dialect::cel::yaml::tree::{ExpressionId, Item, LetValue, NodeId, NodeKind, VariableId};
use crate::value::yaml;

impl<'t> Check<'t> {
    /// What a type is.
    pub fn kind(&mut self, ty: TypeId) -> Kind {
        self.env.types().kind(ty).clone()
    }

    /// The type of a variable, whose definition has been checked.
    pub fn variable(&mut self, typed: &mut Typed<'t>, id: VariableId) -> TypeId {
        if let Some(known) = typed.variables.get(&id) {
            return *known;
        }
        let ty = match typed.definitions.get(&id).copied() {
            Some(Definition::Let(value)) => self.let_value(typed, value),
            Some(Definition::Key(over)) => self.element(typed, over)[0],
            Some(Definition::Value(over)) => self.element(typed, over)[1],
            // The input, or the default of its schema.
            None => {
                let name = typed.file.variable(id).map(|variable| variable.name.clone());
                name.and_then(|name| typed.input(&name)).unwrap_or(Types::DYN)
            }
        };
        typed.variables.insert(id, ty);
        ty
    }

    fn let_value(&mut self, typed: &Typed<'t>, value: &LetValue) -> TypeId {
        match value {
            LetValue::Expression(id) => typed.of(*id),
            LetValue::Template(node) => self.node_type(typed, *node),
            LetValue::Unless { expression, .. } => {
                let free = typed.file.expression(*expression).map_or(&[][..], |expression| &expression.free);
                let given = free.iter().any(|free| self.is_given(typed, free));
                // In an included file it is known which inputs there are.
                if typed.with.is_some() && !given { Types::STRING } else { typed.of(*expression) }
            }
        }
    }

    /// The types of the keys and of the values of what a loop goes over; the keys of a list are its indexes.
    fn element(&mut self, typed: &Typed<'_>, over: ExpressionId) -> [TypeId; 2] {
        match self.kind(typed.of(over)) {
            Kind::List(element) => [Types::INT, element],
            Kind::Map(key, value) => [key, value],
            Kind::Object(at) => {
                let all = self
                    .env
                    .types()
                    .object(at)
                    .map(|object| object.fields.values().copied().chain(object.rest).collect());
                [Types::STRING, common(all.unwrap_or_default())]
            }
            _ => [Types::DYN; 2],
        }
    }

    /// The type of what a node makes.
    pub fn node_type(&mut self, typed: &Typed<'t>, id: NodeId) -> TypeId {
        let Some(node) = typed.file.node(id) else { return Types::DYN };
        match &node.kind {
            _ if node.tag.is_some() => Types::DYN,
            NodeKind::Scalar(scalar) => of_scalar(&scalar.kind),
            NodeKind::Text(_) => Types::STRING,
            NodeKind::Expression(id) => match self.kind(typed.of(*id)) {
                // It is what it holds, or leaves out its place.
                Kind::Optional(_) => Types::DYN,
                _ => typed.of(*id),
            },
            NodeKind::List(run) => {
                let elements = typed.file.elements(*run).to_vec();
                let element = self.common_type(typed, elements);
                self.env.types().list(element)
            }
            NodeKind::Map(map) => match typed.file.map(*map) {
                Some(map) if map.items.iter().all(|item| matches!(item, Item::Entry(_))) && map.condition.is_none() => {
                    let entries = map.items.iter().filter_map(|item| match item {
                        Item::Entry(entry) => Some(*entry),
                        _ => None,
                    });
                    let (keys, values) = entries.map(|entry| (entry.key, entry.value)).unzip();
                    let (key, value) = (self.common_type(typed, keys), self.common_type(typed, values));
                    self.env.types().map(key, value)
                }
                _ => Types::DYN,
            },
        }
    }

    fn common_type(&mut self, typed: &Typed<'t>, nodes: Vec<NodeId>) -> TypeId {
        let types = nodes.into_iter().map(|node| self.node_type(typed, node)).collect();
        common(types)
    }
}

/// The type of all of these; any where they are several, or there are none.
fn common(types: Vec<TypeId>) -> TypeId {
    match types.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => *first,
        _ => Types::DYN,
    }
}

fn of_scalar(kind: &yaml::Kind) -> TypeId {
    match kind {
        yaml::Kind::Null => Types::NULL,
        yaml::Kind::Bool(_) => Types::BOOL,
        yaml::Kind::Int(_) => Types::INT,
        yaml::Kind::Uint(_) => Types::UINT,
        yaml::Kind::Float(_) => Types::DOUBLE,
        yaml::Kind::Str => Types::STRING,
        yaml::Kind::List(_) | yaml::Kind::Map(_) => Types::DYN,
    }
}
