//! The types of templates and variables, and the fit of the types of expressions to their positions.

use super::{Definition, TemplateChecker, TypedFile};
use crate::check::{Kind, TypeId, Types};
use crate::yaml::syntax::{
    Condition, DeclaredName, ExpressionId, For, LetValue, Map, NodeId, NodeKind, TextPart, VariableId,
};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_value::yaml;

impl<'t> TemplateChecker<'t> {
    /// Checks all positions of a file.
    pub fn positions(&mut self, typed: &mut TypedFile<'t>) {
        let file = typed.file;
        for part in &file.parts {
            if let TextPart::Expression(id) = part {
                self.part_of_text(typed, *id);
            }
        }
        let is_key = |kind: &Kind| matches!(kind, Kind::String | Kind::Int | Kind::Uint | Kind::Number | Kind::Bool);
        for key in &file.computed_keys {
            self.must_be(typed, *key, is_key, "a key is a string, an integer or a boolean, and this is");
        }
        for map in &file.maps {
            self.map(typed, map);
            self.declared(typed, map);
        }
    }

    fn map(&mut self, typed: &TypedFile<'t>, map: &Map) {
        for assert in &map.directives().asserts {
            self.condition(typed, "$assert", assert.condition);
        }
        if let Some(condition) = &map.directives().condition {
            self.condition(typed, "$if", condition.condition);
        }
        if let Some(each) = &map.directives().each {
            self.collection(typed, each);
            if !each.in_list {
                self.merged(typed, "$do", each.body);
            }
        }
        if let Some(include) = &map.directives().include {
            let is_text = |kind: &Kind| *kind == Kind::String;
            self.must_be(typed, include.path, is_text, "the path of a file is a string, and this is");
        }
        if map.items.len() > 1
            && let Some(condition) = &map.directives().condition
        {
            condition.then.iter().for_each(|branch| self.merged(typed, "$then", *branch));
            condition.otherwise.iter().for_each(|branch| self.merged(typed, "$else", *branch));
        }
    }

    /// Reports an expression unless `fits` accepts the kind of its type.
    fn must_be(&mut self, typed: &TypedFile<'_>, node: NodeId, fits: fn(&Kind) -> bool, what: &str) {
        let Some(NodeKind::Expression(id)) = typed.file.node(node).map(|node| &node.kind) else { return };
        let kind = self.kind(typed.of(*id));
        if !fits(&kind) && !matches!(kind, Kind::Dyn | Kind::Error | Kind::Nullable(_)) {
            self.misfit(typed, *id, Code::TypeMismatch, what, None);
        }
    }

    /// Reports an expression whose value is merged into a map, unless it can be a map.
    fn merged(&mut self, typed: &TypedFile<'_>, name: &str, node: NodeId) {
        let what = format!("`{name}` has to be a map here, because its keys are merged, and this is");
        let is_map = |kind: &Kind| matches!(kind, Kind::Map(..) | Kind::Object(_) | Kind::Optional(_));
        self.must_be(typed, node, is_map, &what);
    }

    /// Reports an expression whose type does not fit its position.
    fn misfit(&mut self, typed: &TypedFile<'_>, id: ExpressionId, code: Code, what: &str, help: Option<&str>) {
        let Some(expression) = typed.file.expression(id) else { return };
        let ty = self.checks.env.types().text(typed.of(id));
        let mut error = Diagnostic::new(code, format!("{what} of type '{ty}'"));
        error.help = help.map(str::to_owned);
        self.error(typed, Some(expression.owner), expression.span_of(expression.tree.root), error);
    }

    fn condition(&mut self, typed: &TypedFile<'_>, name: &str, condition: Condition) {
        let Condition::Expression(id) = condition else { return };
        let help = match self.kind(typed.of(id)) {
            Kind::Bool | Kind::Dyn | Kind::Error => return,
            Kind::Nullable(of) if self.kind(of) == Kind::Bool => return,
            Kind::String => Some("nothing is true but `true`: compare it, as in `x != ''`"),
            Kind::Int | Kind::Uint | Kind::Double | Kind::Number => {
                Some("nothing is true but `true`: compare it, as in `x != 0`")
            }
            Kind::List(_) | Kind::Map(..) => Some("nothing is true but `true`: ask for its size, as in `size(x) > 0`"),
            Kind::Optional(_) => Some("ask whether there is a value: `x.hasValue()`, or `x.orValue(false)`"),
            _ => None,
        };
        self.misfit(
            typed,
            id,
            Code::TypeMismatch,
            &format!("`{name}` asks whether something is true, and this is"),
            help,
        );
    }

    fn collection(&mut self, typed: &TypedFile<'_>, each: &For) {
        let kind = self.kind(typed.of(each.over));
        let missing = "where there may be none: `x.orValue([])` of an optional, `x == null ? [] : x` of null";
        let help = match kind {
            Kind::List(_) | Kind::Dyn | Kind::Error | Kind::Nullable(_) => return,
            Kind::Map(..) | Kind::Object(_) if each.key.is_some() => return,
            Kind::Map(..) | Kind::Object(_) => {
                let what = "a map has keys and values, `$for: key, value in map`; this is";
                return self.misfit(typed, each.over, Code::NotIterable, what, None);
            }
            Kind::Int | Kind::Uint | Kind::Number => "to count, write `range(n)`",
            Kind::String => "to go over the parts of a text, split it: `x.split(',')`",
            _ => missing,
        };
        self.misfit(typed, each.over, Code::NotIterable, "`$for` goes over a list or a map, and this is", Some(help));
    }

    fn part_of_text(&mut self, typed: &TypedFile<'_>, id: ExpressionId) {
        let help = match self.kind(typed.of(id)) {
            Kind::List(_) => "make text of it, as in `x.join(',')`, or let it stand alone",
            Kind::Map(..) | Kind::Object(_) => "make text of it, as in `json.marshal(x)`, or let it stand alone",
            Kind::Null | Kind::Type(_) => "let it stand alone",
            Kind::Optional(_) => "say what stands there without a value, as in `x.orValue('')`",
            _ => return,
        };
        self.misfit(typed, id, Code::TypeMismatch, "text cannot contain a value", Some(help));
    }
}

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
                Some(DeclaredName { of: Some(of), .. }) => self.variable(typed, *of),
                Some(DeclaredName { name, .. }) => typed.input(name).unwrap_or(Types::DYN),
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
