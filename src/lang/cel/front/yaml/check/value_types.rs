//! The types of templates and variables.

use super::checker::{Definition, TemplateChecker, TypedFile};
use crate::check::{Kind, TypeId, Types};
use crate::yaml::syntax::tree::{Declared, ExpressionId, LetValue, NodeId, NodeKind, VariableId};
use dropforge_value::yaml;

impl<'t> TemplateChecker<'t> {
    /// Returns the kind of a type.
    pub fn kind(&mut self, ty: TypeId) -> Kind {
        self.checks.env.types().kind(ty).clone()
    }

    /// Returns the type of a variable, whose definition was checked.
    pub fn variable(&mut self, typed: &mut TypedFile<'t>, id: VariableId) -> TypeId {
        if let Some(ty) = typed.variables.get(&id) {
            return *ty;
        }
        let ty = match typed.definitions.get(&id).copied() {
            Some(Definition::Let(value)) => self.let_value(typed, value),
            Some(Definition::Key(over)) => self.element(typed, over)[0],
            Some(Definition::Value(over)) => self.element(typed, over)[1],
            None => match typed.file.declared.iter().find(|declared| declared.checked == Some(id)) {
                Some(Declared { of: Some(of), .. }) => self.variable(typed, *of),
                Some(Declared { name, .. }) => typed.input(name).unwrap_or(Types::DYN),
                None => Types::DYN,
            },
        };
        typed.variables.insert(id, ty);
        ty
    }

    fn let_value(&mut self, typed: &TypedFile<'t>, value: &LetValue) -> TypeId {
        match value {
            LetValue::Expression(id) => typed.of(*id),
            LetValue::Template(node) => self.node_type(typed, *node),
            LetValue::Unless { expression, .. } => {
                let free = typed.file.expression(*expression).map_or(&[][..], |expression| &expression.free);
                let defined = free.iter().any(|free| self.is_defined(typed, free));
                // The inputs of an included file are known.
                if typed.with.is_some() && !defined { Types::STRING } else { typed.of(*expression) }
            }
        }
    }

    /// Returns the types of the keys and values of the range of a loop. The keys of a list are its indexes.
    fn element(&mut self, typed: &TypedFile<'_>, over: ExpressionId) -> [TypeId; 2] {
        match self.kind(typed.of(over)) {
            Kind::List(element) => [Types::INT, element],
            Kind::Map(key, value) => [key, value],
            Kind::Object(at) => [Types::STRING, self.checks.env.types().values_of(at)],
            _ => [Types::DYN; 2],
        }
    }

    /// Returns the type of the value of a node.
    pub(crate) fn node_type(&mut self, typed: &TypedFile<'t>, id: NodeId) -> TypeId {
        let Some(node) = typed.file.node(id) else { return Types::DYN };
        match &node.kind {
            _ if node.tag.is_some() => Types::DYN,
            NodeKind::Scalar(scalar) => of_scalar(&scalar.kind),
            NodeKind::Text(_) => Types::STRING,
            NodeKind::Expression(id) => match self.kind(typed.of(*id)) {
                // An optional becomes the value that it holds, or is omitted.
                Kind::Optional(_) => Types::DYN,
                _ => typed.of(*id),
            },
            NodeKind::List(run) => {
                let elements = typed.file.elements(*run).to_vec();
                let element = self.common_type(typed, elements);
                self.checks.env.types().list(element)
            }
            NodeKind::Map(map) => match typed.file.map(*map) {
                Some(map) if map.is_plain() => {
                    let (keys, values) = map.entries().map(|entry| (entry.key, entry.value)).unzip();
                    let (key, value) = (self.common_type(typed, keys), self.common_type(typed, values));
                    self.checks.env.types().map(key, value)
                }
                _ => Types::DYN,
            },
        }
    }

    fn common_type(&mut self, typed: &TypedFile<'t>, nodes: Vec<NodeId>) -> TypeId {
        Types::common(nodes.into_iter().map(|node| self.node_type(typed, node)))
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
