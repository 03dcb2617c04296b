//! From data to a schema.

use regex::RegexBuilder;

use super::{Additional, Bound, Node, NodeId, Number, Pattern, Schema, Sizes, Types};
use crate::diagnostics::nearest;
use crate::stdlib::re2;
use crate::value::Data;

/// How long a pattern may be, and how large when it is compiled, in bytes.
const PATTERN: usize = 4 << 10;
const COMPILED: usize = 1 << 20;

/// How many levels of data a schema may have.
const DEPTH: usize = 100;

/// How many faults are told.
const FAULTS: usize = 100;

/// Steps that holding all defaults against their schemas may take.
const DEFAULT_STEPS: u64 = 1_000_000;

/// Every word a schema may have.
pub const KEYWORDS: &[&str] = &[
    "$comment",
    "additionalProperties",
    "const",
    "default",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The JSON pointer of what is wrong.
    pub pointer: String,
    /// What is wrong, without a final stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Schema {
    /// Reads a schema: a map of [`KEYWORDS`], or the name of a type.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    ///
    /// ```
    /// use dropforge::schema::{Schema, Types};
    /// use dropforge::value::Data;
    /// let schema = Schema::read(&Data::Str("integer".into())).unwrap();
    /// assert_eq!(schema.node(Schema::ROOT).unwrap().types, Types::INTEGER);
    /// let faults = Schema::read(&serde_json::from_str(r#"{"tpye": 1, "items": 2}"#).unwrap()).unwrap_err();
    /// assert_eq!(faults[0].help.as_deref(), Some("did you mean `type`?"));
    /// assert_eq!(faults[1].pointer, "/items");
    /// ```
    pub fn read(data: &Data) -> Result<Schema, Vec<Fault>> {
        if is_deeper(data, DEPTH) {
            let message = format!("the schema nests too deep: the limit is {DEPTH} levels");
            return Err(vec![Fault { pointer: String::new(), message, help: None }]);
        }
        Self::compile(data)
    }

    /// The same of data that is not too deep.
    pub(super) fn compile(data: &Data) -> Result<Schema, Vec<Fault>> {
        let mut read = Read { nodes: vec![Node::default()], faults: Vec::new(), open: vec![(Schema::ROOT, data)] };
        while let Some((id, data)) = read.open.pop() {
            let node = read.node(id, data);
            read.put(id, node);
        }
        if read.faults.is_empty() {
            let schema = Schema { nodes: read.nodes };
            read.faults = schema.bad_defaults();
            if read.faults.is_empty() {
                return Ok(schema);
            }
        }
        read.faults.truncate(FAULTS);
        Err(read.faults)
    }

    /// Defaults that do not fit what they stand in for.
    fn bad_defaults(&self) -> Vec<Fault> {
        let (mut faults, mut left) = (Vec::new(), DEFAULT_STEPS);
        for (at, node) in self.nodes.iter().enumerate() {
            let Some(default) = &node.default else { continue };
            let mut spend = |steps: u64| {
                left = left.checked_sub(steps).ok_or(())?;
                Ok(())
            };
            let pointer = below(&node.pointer, "default");
            let mut fault = |pointer, message, help| faults.push(Fault { pointer, message, help });
            match self.validate_data(NodeId(u32::try_from(at).unwrap_or(u32::MAX)), default, FAULTS, &mut spend) {
                Ok(found) => found.into_iter().for_each(|found| {
                    let message = format!("the default does not fit its own schema: {}", found.what());
                    fault(format!("{pointer}{}", found.pointer), message, found.help);
                }),
                Err(()) => {
                    fault(pointer, "holding the defaults against their schemas takes too long".to_owned(), None);
                    return faults;
                }
            }
        }
        faults
    }
}

/// A pointer to what is called `name` below `pointer`.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Whether data has more than `levels` levels.
fn is_deeper(data: &Data, levels: usize) -> bool {
    match (data, levels.checked_sub(1)) {
        (Data::List(_) | Data::Map(_), None) => true,
        (Data::List(items), Some(levels)) => items.iter().any(|item| is_deeper(item, levels)),
        (Data::Map(map), Some(levels)) => map.values().any(|value| is_deeper(value, levels)),
        _ => false,
    }
}

struct Read<'d> {
    nodes: Vec<Node>,
    faults: Vec<Fault>,
    /// The schemas that are still to be read.
    open: Vec<(NodeId, &'d Data)>,
}

impl<'d> Read<'d> {
    fn put(&mut self, id: NodeId, node: Node) {
        if let Some(place) = self.nodes.get_mut(id.0 as usize) {
            *place = node;
        }
    }

    fn fault(&mut self, pointer: &str, message: impl Into<String>) {
        self.faults.push(Fault { pointer: pointer.to_owned(), message: message.into(), help: None });
    }

    fn suggest<'c>(&mut self, name: &str, names: impl IntoIterator<Item = &'c str>) {
        let help = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
        if let Some(fault) = self.faults.last_mut() {
            fault.help = help;
        }
    }

    /// A further schema, which is read later.
    fn child(&mut self, pointer: String, data: &'d Data) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { pointer, ..Node::default() });
        self.open.push((id, data));
        id
    }

    fn node(&mut self, id: NodeId, data: &'d Data) -> Node {
        let pointer = self.nodes.get(id.0 as usize).map(|node| node.pointer.clone()).unwrap_or_default();
        let mut node = Node { pointer: pointer.clone(), ..Node::default() };
        match data {
            Data::Str(name) => node.types = self.one_type(&pointer, name),
            Data::Map(map) => {
                for (keyword, value) in map {
                    self.keyword(&mut node, &below(&pointer, keyword), keyword, value);
                }
                // Which properties are required where they say it themselves.
                let says = |(name, value): (&String, &Data)| {
                    (value.get("required") == Some(&Data::Bool(true))).then(|| name.clone())
                };
                let own = map.get("properties").and_then(Data::as_map).into_iter().flatten().filter_map(says);
                node.required.extend(own);
            }
            _ => self.fault(&pointer, "a schema is a map, or the name of a type"),
        }
        node
    }

    fn keyword(&mut self, node: &mut Node, at: &str, keyword: &str, value: &'d Data) {
        match keyword {
            "type" => node.types = self.types(at, value),
            "enum" => match value {
                Data::List(values) if !values.is_empty() => node.values = Some(values.clone()),
                _ => self.fault(at, "`enum` is a list of at least one value"),
            },
            "const" => node.values = Some(vec![value.clone()]),
            "properties" => self.properties(node, at, value),
            "required" => self.required(node, at, value),
            "additionalProperties" => {
                node.additional = match value {
                    Data::Bool(true) => Additional::Any,
                    Data::Bool(false) => Additional::None,
                    _ => Additional::Schema(self.child(at.to_owned(), value)),
                }
            }
            "items" => node.items = Some(self.child(at.to_owned(), value)),
            "minItems" => node.elements.least = self.size(at, value),
            "maxItems" => node.elements.most = self.size(at, value),
            "minLength" => node.characters.least = self.size(at, value),
            "maxLength" => node.characters.most = self.size(at, value),
            "pattern" => node.pattern = self.pattern(at, value),
            "minimum" | "exclusiveMinimum" => self.bound(&mut node.minimum, at, keyword, value),
            "maximum" | "exclusiveMaximum" => self.bound(&mut node.maximum, at, keyword, value),
            "default" => node.default = Some(value.clone()),
            "$comment" | "deprecated" | "description" | "examples" | "title" => {}
            _ => {
                self.fault(at, format!("`{keyword}` is not a word of schemas that is known here"));
                self.suggest(keyword, KEYWORDS.iter().copied());
            }
        }
    }

    fn one_type(&mut self, at: &str, name: &str) -> Types {
        Types::named(name).unwrap_or_else(|| {
            self.fault(at, format!("there is no type `{name}`"));
            self.suggest(name, Types::NAMES);
            if let Some(fault) = self.faults.last_mut().filter(|fault| fault.help.is_none()) {
                fault.help = Some(format!("the types are {}", Types::NAMES.join(", ")));
            }
            Types::default()
        })
    }

    fn types(&mut self, at: &str, value: &Data) -> Types {
        match value {
            Data::Str(name) => self.one_type(at, name),
            Data::List(names) if !names.is_empty() => {
                let mut types = Types::default();
                for name in names {
                    match name {
                        Data::Str(name) => types = types.or(self.one_type(at, name)),
                        _ => self.fault(at, "`type` is the name of a type, or a list of such names"),
                    }
                }
                types
            }
            _ => {
                self.fault(at, "`type` is the name of a type, or a list of such names");
                Types::default()
            }
        }
    }

    fn properties(&mut self, node: &mut Node, at: &str, value: &'d Data) {
        let Data::Map(map) = value else { return self.fault(at, "`properties` is a map from names to schemas") };
        for (name, value) in map {
            let schema = self.child(below(at, name), value);
            node.properties.insert(name.clone(), schema);
        }
    }

    fn required(&mut self, node: &mut Node, at: &str, value: &Data) {
        match value {
            Data::Bool(must) => node.must = *must,
            Data::List(names) => {
                for name in names {
                    match name {
                        Data::Str(name) => drop(node.required.insert(name.clone())),
                        _ => self.fault(at, "`required` is a list of names"),
                    }
                }
            }
            _ => self.fault(at, "`required` is a list of the names of properties, or `true`"),
        }
    }

    fn size(&mut self, at: &str, value: &Data) -> Option<u64> {
        match value {
            Data::Int(n) if *n >= 0 => u64::try_from(*n).ok(),
            Data::Uint(n) => Some(*n),
            _ => {
                self.fault(at, "this is a whole number that is not negative");
                None
            }
        }
    }

    fn bound(&mut self, bound: &mut Option<Bound>, at: &str, keyword: &str, value: &Data) {
        let exclusive = keyword.starts_with("exclusive");
        match Number::of_data(value) {
            // Of an inclusive and an exclusive bound the one that leaves less counts.
            Some(number) => {
                let new = Bound { number, exclusive };
                let lower = keyword.ends_with("inimum");
                let tighter = |old: &Bound| match number.compare(old.number) {
                    Some(order) if order.is_eq() => exclusive,
                    Some(order) => order.is_gt() == lower,
                    None => false,
                };
                if bound.as_ref().is_none_or(tighter) {
                    *bound = Some(new);
                }
            }
            None => self.fault(at, format!("`{keyword}` is a number")),
        }
    }

    fn pattern(&mut self, at: &str, value: &Data) -> Option<Pattern> {
        let Data::Str(text) = value else {
            self.fault(at, "`pattern` is a regular expression");
            return None;
        };
        if text.len() > PATTERN {
            self.fault(at, format!("the pattern is too long: the limit is {PATTERN} bytes"));
            return None;
        }
        let translated = re2::translated(text).map_err(|refused| refused.to_string());
        let compiled = translated.and_then(|pattern| {
            let mut builder = RegexBuilder::new(&pattern);
            builder.size_limit(COMPILED).dfa_size_limit(COMPILED).nest_limit(50);
            // What is wrong stands in the last line, below a drawing of where.
            let why = |error: regex::Error| error.to_string().lines().last().unwrap_or("").to_owned();
            builder.build().map_err(|error| why(error).replace("error: ", ""))
        });
        match compiled {
            Ok(regex) => Some(Pattern { text: text.clone(), regex }),
            Err(why) => {
                self.fault(at, format!("`{text}` is not a regular expression: {why}"));
                None
            }
        }
    }
}

impl Sizes {
    /// Whether as many are allowed.
    pub(super) fn fault(self, count: u64) -> Option<(bool, u64)> {
        let few = self.least.filter(|least| count < *least).map(|least| (true, least));
        few.or(self.most.filter(|most| count > *most).map(|most| (false, most)))
    }
}
