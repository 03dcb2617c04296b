//! Compiles schemas from data, and builds their values.

use super::node::Rest;
use super::references::{Documents, References, dynamic_anchor};
use super::violation::{SchemaError, below};
use super::{Additional, Draft, Node, NodeId, Number, Schema};
use crate::formats::{Format, go_format};
use crate::{node, references};
use dropforge_base::diagnostics::nearest;
use dropforge_base::stdlib::paths;
use dropforge_value::{Arena, Data, Map, Numbers, Value};
use hashbrown::{HashMap, HashSet};

/// Maximum nesting of a schema: of template values, and of other documents.
const DEPTH: usize = 100;
const DOCUMENT_DEPTH: usize = 64;

/// Maximum number of reported errors.
const ERRORS: usize = 100;

/// Maximum number of steps for validating all defaults.
const DEFAULT_STEPS: u64 = 1_000_000;

impl Schema {
    /// Compiles a schema. References may lead only to places in the same document.
    ///
    /// # Errors
    /// All errors in the schema.
    ///
    /// ```
    /// use dropforge::schema::{Draft, Schema, Types};
    /// use dropforge::value::Data;
    /// let schema = Schema::read(&Data::Str("integer".into()), Draft::Template).unwrap();
    /// assert_eq!(schema.node(Schema::ROOT).unwrap().types, Types::INTEGER);
    /// let errors = serde_json::from_str(r#"{"tpye": 1, "items": 2}"#).unwrap();
    /// let errors = Schema::read(&errors, Draft::Template).unwrap_err();
    /// assert_eq!(errors[0].help.as_deref(), Some("did you mean `type`?"));
    /// assert_eq!(errors[1].pointer, "/items");
    /// ```
    pub fn read(data: &Data, draft: Draft) -> Result<Schema, Vec<SchemaError>> {
        if is_deeper(data, levels(draft)) {
            return Err(too_deep(draft));
        }
        Self::read_checked(data, draft)
    }

    /// Compiles a schema whose nesting was checked.
    pub(super) fn read_checked(data: &Data, draft: Draft) -> Result<Schema, Vec<SchemaError>> {
        let arena = Arena::new();
        Self::compile(&value_of(&arena, data), draft, None)
    }

    /// Compiles a schema. See [`Schema::read`].
    ///
    /// # Errors
    /// All errors in the schema.
    pub fn of_value(value: Value<'_>, draft: Draft) -> Result<Schema, Vec<SchemaError>> {
        if usize::from(value.depth()) > levels(draft) {
            return Err(too_deep(draft));
        }
        Self::compile(&value, draft, None)
    }

    /// Compiles a schema that may refer to other documents, as the validator of Go's tools reads it: patterns are those
    /// of RE2, `format` counts in drafts 4 to 7 only, the content of strings does not count, and a reference that leads
    /// nowhere is an error only where the schema applies.
    ///
    /// # Errors
    /// All errors in the schema.
    pub fn of_documents<'d>(
        root: &'d Value<'d>,
        draft: Draft,
        documents: &Documents<'d, '_>,
    ) -> Result<Schema, Vec<SchemaError>> {
        if usize::from(root.depth()) > levels(draft) {
            return Err(too_deep(draft));
        }
        let schema = Self::compile(root, draft, Some(documents))?;
        let errors = references::errors(*root, draft);
        if errors.is_empty() { Ok(schema) } else { Err(errors) }
    }

    pub(super) fn compile<'d>(
        root: &'d Value<'d>,
        draft: Draft,
        documents: Option<&Documents<'d, '_>>,
    ) -> Result<Schema, Vec<SchemaError>> {
        let mut compiler = Compiler {
            draft,
            of_go: documents.is_some(),
            references: References::new(root, draft, documents),
            current: Schema::ROOT,
            unresolved: Vec::new(),
            dynamic: HashMap::new(),
            nodes: Vec::new(),
            ids: HashMap::new(),
            patterns: 0,
            errors: Vec::new(),
            open: Vec::new(),
            place: String::new(),
        };
        compiler.child(String::new(), root);
        while let Some((id, data)) = compiler.open.pop() {
            let Some(node) = compiler.nodes.get_mut(id.0 as usize) else { continue };
            let mut node = std::mem::take(node);
            let pointer = std::mem::take(&mut node.pointer);
            (compiler.current, compiler.draft) = (id, compiler.references.enter(data));
            compiler.node(&mut node, &pointer, data);
            node.resource = compiler.references.current();
            compiler.nodes[id.0 as usize] = Node { pointer, ..node };
            if compiler.open.is_empty() {
                compiler.dynamic_targets();
            }
        }
        let Compiler { nodes, mut errors, unresolved, dynamic, of_go, .. } = compiler;
        let schema = Schema { nodes, draft, of_go, dynamic };
        if !unresolved.is_empty() {
            let reached = schema.reached();
            errors.extend(unresolved.into_iter().filter(|(id, _)| reached.contains(id)).map(|(_, error)| error));
        }
        if errors.is_empty() {
            errors = if draft == Draft::Template {
                schema.bad_defaults()
            } else {
                node::check(&schema).err().into_iter().collect()
            };
        }
        errors.truncate(ERRORS);
        if errors.is_empty() { Ok(schema) } else { Err(errors) }
    }

    /// Returns the schemas that apply to a value or a part of it.
    fn reached(&self) -> HashSet<NodeId> {
        let mut open: Vec<_> = self.dynamic.values().flat_map(HashMap::values).copied().chain([Schema::ROOT]).collect();
        let mut reached: HashSet<_> = open.iter().copied().collect();
        while let Some(node) = open.pop().and_then(|id| self.node(id)) {
            open.extend(node.in_place().chain(node.below()).filter(|id| reached.insert(*id)));
        }
        reached
    }

    /// Defaults that do not fit their own schemas.
    fn bad_defaults(&self) -> Vec<SchemaError> {
        let (mut errors, mut left) = (Vec::new(), DEFAULT_STEPS);
        for (at, node) in self.nodes.iter().enumerate() {
            let Some(default) = &node.default else { continue };
            let mut spend = |steps: u64| {
                left = left.checked_sub(steps).ok_or(())?;
                Ok(())
            };
            let pointer = below(&node.pointer, "default");
            match self.validate_data(NodeId::of(at), default, ERRORS, &mut spend) {
                Ok(found) => errors.extend(found.into_iter().map(|found| SchemaError {
                    message: format!("the default does not fit its own schema: {}", found.what()),
                    pointer: format!("{pointer}{}", found.pointer),
                    help: found.help,
                    unloaded: false,
                })),
                Err(()) => {
                    errors
                        .push(SchemaError::new(pointer, "checking the defaults against their schemas takes too long"));
                    break;
                }
            }
        }
        errors
    }
}

/// Returns `true` if data nests deeper than `levels`.
fn is_deeper(data: &Data, levels: usize) -> bool {
    match (data, levels.checked_sub(1)) {
        (Data::List(_) | Data::Map(_), None) => true,
        (Data::List(items), Some(levels)) => items.iter().any(|item| is_deeper(item, levels)),
        (Data::Map(map), Some(levels)) => map.values().any(|value| is_deeper(value, levels)),
        _ => false,
    }
}

/// Maximum nesting of a schema in a draft.
fn levels(draft: Draft) -> usize {
    if draft == Draft::Template { DEPTH } else { DOCUMENT_DEPTH }
}

#[cold]
fn too_deep(draft: Draft) -> Vec<SchemaError> {
    vec![SchemaError::new("", format!("the schema nests deeper than {} levels", levels(draft)))]
}

pub(super) struct Compiler<'d, 'l> {
    /// The draft of the schema that is being compiled.
    pub(super) draft: Draft,
    /// `true` if the schema is read as Go's tools do.
    pub(super) of_go: bool,
    references: References<'d, 'l>,
    /// The schema that is being compiled.
    current: NodeId,
    /// References that lead nowhere, with the schemas that have them.
    unresolved: Vec<(NodeId, SchemaError)>,
    /// What dynamic references with these names lead to, by the resource.
    dynamic: HashMap<String, HashMap<usize, NodeId>>,
    nodes: Vec<Node>,
    /// The nodes by their data.
    ids: HashMap<*const Value<'d>, NodeId>,
    pub(super) patterns: usize,
    pub(super) errors: Vec<SchemaError>,
    /// Nodes that are not compiled yet.
    open: Vec<(NodeId, &'d Value<'d>)>,
    /// The memory of the pointer of a keyword.
    place: String,
}

impl<'d> Compiler<'d, '_> {
    pub(super) fn error(&mut self, pointer: &str, message: impl Into<String>) {
        self.errors.push(SchemaError::new(pointer, message));
    }

    pub(super) fn suggest<'c>(&mut self, name: &str, names: impl IntoIterator<Item = &'c str>) {
        let help = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
        if let Some(error) = self.errors.last_mut() {
            error.help = help;
        }
    }

    /// Returns the node of the schema at `pointer`, which is compiled later.
    pub(super) fn child(&mut self, pointer: String, data: &'d Value<'d>) -> NodeId {
        let fresh = NodeId::of(self.nodes.len());
        let id = *self.ids.entry(std::ptr::from_ref(data)).or_insert(fresh);
        if id == fresh {
            self.nodes.push(Node { pointer, ..Node::default() });
            self.open.push((id, data));
        }
        id
    }

    fn node(&mut self, node: &mut Node, pointer: &str, data: &'d Value<'d>) {
        match data {
            Value::Str(name) if self.draft == Draft::Template => node.types = self.one_type(pointer, name.as_str()),
            Value::Bool(any) if self.draft != Draft::Template => {
                node.rest = Some(Box::new(Rest { never: !any, ..Rest::default() }))
            }
            Value::Map(map) => self.keywords(node, pointer, map),
            _ if self.draft == Draft::Template => self.error(pointer, "a schema must be a map or the name of a type"),
            _ => self.error(pointer, "a schema must be an object or a boolean"),
        }
    }

    fn keywords(&mut self, node: &mut Node, pointer: &str, map: &'d Map<'d>) {
        // Before draft 2019-09 a reference hides the keywords next to it.
        let hides = (Draft::Draft4..=Draft::Draft7).contains(&self.draft) && map.get("$ref").is_some();
        let mut at = std::mem::take(&mut self.place);
        at.clear();
        at.push_str(pointer);
        for (keyword, value) in map.slots() {
            at.truncate(pointer.len());
            paths::push(&mut at, keyword);
            if !self.draft.defines(keyword) {
                self.unknown(&at, keyword);
            } else if !hides || matches!(keyword, "$ref" | "default" | "definitions") {
                self.common(node, &at, keyword, value, map);
            }
        }
        self.place = at;
        if matches!(map.get("items"), Some(Value::List(_))) {
            node.items = node.rest.as_ref().and_then(|rest| rest.additional_items);
        }
        if self.draft == Draft::Template {
            // Properties can also say themselves that they are required.
            let required = |value: &Value<'_>| matches!(member(value, "required"), Some(Value::Bool(true)));
            let properties = map.get("properties").and_then(|all| all.as_map()).into_iter().flat_map(Map::iter);
            node.required.extend(properties.filter(|(_, value)| required(value)).map(|(name, _)| name.to_owned()));
        }
    }

    fn unknown(&mut self, at: &str, keyword: &str) {
        if self.draft == Draft::Template {
            self.error(at, format!("`{keyword}` is not a keyword of JSON Schema"));
            self.suggest(keyword, self.draft.keywords());
        }
    }

    /// Compiles a keyword that template values have, too.
    fn common(&mut self, node: &mut Node, at: &str, keyword: &str, value: &'d Value<'d>, map: &Map<'d>) {
        match keyword {
            "type" => node.types = self.types(at, value),
            "enum" => match value {
                Value::List(values) if self.draft != Draft::Template || !values.items().is_empty() => {
                    node.values = Some(values.items().iter().map(Value::to_data).collect())
                }
                _ => self.error(at, "`enum` must be a list of at least one value"),
            },
            "const" if self.draft == Draft::Template => node.values = Some(vec![value.to_data()]),
            "properties" => node.properties = self.members(at, value).collect(),
            "required" => self.required(node, at, value),
            "additionalProperties" => {
                node.additional = match value {
                    Value::Bool(true) => Additional::Any,
                    Value::Bool(false) => Additional::None,
                    _ => Additional::Schema(self.child(at.to_owned(), value)),
                }
            }
            "items" => match value {
                Value::List(_) if (Draft::Draft4..=Draft::Draft201909).contains(&self.draft) => {
                    rest(node).prefix = self.list(at, value)
                }
                _ => node.items = Some(self.child(at.to_owned(), value)),
            },
            "minItems" => node.elements.least = self.size(at, value),
            "maxItems" => node.elements.most = self.size(at, value),
            "minLength" => node.characters.least = self.size(at, value),
            "maxLength" => node.characters.most = self.size(at, value),
            "pattern" => node.pattern = self.pattern(at, value),
            "minimum" | "exclusiveMinimum" => self.bound(&mut node.minimum, at, keyword, value, map),
            "maximum" | "exclusiveMaximum" => self.bound(&mut node.maximum, at, keyword, value, map),
            "default" => node.default = Some(value.to_data()),
            "$comment" | "deprecated" | "description" | "examples" | "title" => {}
            _ => self.applicator(rest(node), at, keyword, value),
        }
    }

    /// Compiles a keyword that applies other schemas to the same value, or refers to one.
    fn applicator(&mut self, rest: &mut Rest, at: &str, keyword: &str, value: &'d Value<'d>) {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.refer(rest, at, keyword, value),
            "$id" | "$schema" => {}
            "$defs" if self.of_go && self.draft <= Draft::Draft7 => {}
            "definitions" | "$defs" => drop(self.members(at, value)),
            "allOf" => rest.all_of = self.list(at, value),
            "anyOf" => rest.any_of = self.list(at, value),
            "oneOf" => rest.one_of = self.list(at, value),
            "not" => rest.not = Some(self.child(at.to_owned(), value)),
            "if" => rest.condition = Some(self.child(at.to_owned(), value)),
            "then" => rest.then = Some(self.child(at.to_owned(), value)),
            "else" => rest.otherwise = Some(self.child(at.to_owned(), value)),
            "dependencies" | "dependentSchemas" | "dependentRequired" => self.dependencies(rest, at, keyword, value),
            _ => self.assertion(rest, at, keyword, value),
        }
    }

    /// Compiles any other keyword.
    fn assertion(&mut self, rest: &mut Rest, at: &str, keyword: &str, value: &'d Value<'d>) {
        match keyword {
            "const" => rest.constant = Some(value.to_data()),
            "multipleOf" => match Number::of_value(*value).filter(|number| number.is_positive()) {
                Some(number) => rest.multiple_of = Some(number),
                None => self.error(at, "`multipleOf` must be a number above 0"),
            },
            "format" => {
                let draft = self.draft;
                let named = if self.of_go { go_format } else { Format::named };
                rest.format = self.text(at, value).and_then(|name| named(name, draft));
            }
            "contentEncoding" | "contentMediaType" if self.of_go => {}
            "contentEncoding" => rest.encoding = self.text(at, value).map(str::to_owned),
            "contentMediaType" => rest.media_type = self.text(at, value).map(str::to_owned),
            "uniqueItems" => match value {
                Value::Bool(unique) => rest.unique = *unique,
                _ => self.error(at, "`uniqueItems` must be a boolean"),
            },
            "prefixItems" => rest.prefix = self.list(at, value),
            "additionalItems" => rest.additional_items = Some(self.child(at.to_owned(), value)),
            "contains" => rest.contains = Some(self.child(at.to_owned(), value)),
            "minContains" => rest.matching.least = self.size(at, value),
            "maxContains" => rest.matching.most = self.size(at, value),
            "unevaluatedItems" => rest.unevaluated_items = Some(self.child(at.to_owned(), value)),
            "minProperties" => rest.size.least = self.size(at, value),
            "maxProperties" => rest.size.most = self.size(at, value),
            "patternProperties" => {
                for (name, id) in self.members(at, value).collect::<Vec<_>>() {
                    let pattern = self.compiled(&below(at, &name), &name);
                    rest.patterns.extend(pattern.map(|pattern| (pattern, id)));
                }
            }
            "propertyNames" => rest.names = Some(self.child(at.to_owned(), value)),
            "unevaluatedProperties" => rest.unevaluated_properties = Some(self.child(at.to_owned(), value)),
            _ => {}
        }
    }

    fn dependencies(&mut self, rest: &mut Rest, at: &str, keyword: &str, value: &'d Value<'d>) {
        let Value::Map(map) = value else { return self.error(at, format!("`{keyword}` must be a map")) };
        for (name, value) in map.slots() {
            let at = below(at, name);
            match value {
                Value::List(names) if keyword != "dependentSchemas" => {
                    let names = self.names(&at, names.items());
                    rest.dependent_names.push((name.to_owned(), names));
                }
                _ if keyword == "dependentRequired" => {
                    self.error(&at, "`dependentRequired` must map names to lists of names")
                }
                _ => rest.dependent_schemas.push((name.to_owned(), self.child(at, value))),
            }
        }
    }

    /// Compiles a reference.
    fn refer(&mut self, rest: &mut Rest, at: &str, keyword: &str, value: &Value<'_>) {
        let Some(target) = self.text(at, value) else { return };
        match self.references.target(keyword, target) {
            Ok((pointer, data)) => {
                let anchor = target.split_once('#').map_or("", |(_, anchor)| anchor);
                let named = data.as_map().and_then(|map| dynamic_anchor(map, self.draft));
                rest.dynamic = named.filter(|name| keyword != "$ref" && *name == anchor).map(str::to_owned);
                if let Some(name) = &rest.dynamic {
                    self.dynamic.entry(name.clone()).or_default();
                }
                let target = self.child(pointer, data);
                // Beside `$ref` another reference holds as well.
                match rest.reference {
                    Some(_) => rest.all_of.push(target),
                    None => rest.reference = Some(target),
                }
            }
            Err(error) => {
                let error = SchemaError { pointer: at.to_owned(), ..error };
                match self.of_go {
                    true => self.unresolved.push((self.current, error)),
                    false => self.errors.push(error),
                }
            }
        }
    }

    /// Compiles the schemas that dynamic references may lead to.
    fn dynamic_targets(&mut self) {
        for name in self.dynamic.keys().cloned().collect::<Vec<_>>() {
            for (owner, pointer, data) in self.references.dynamic(&name) {
                let target = self.child(pointer, data);
                self.dynamic.entry(name.clone()).or_default().insert(owner, target);
            }
        }
    }
}

/// Returns the value under a key of a map.
pub(super) fn member<'d>(value: &Value<'d>, key: &str) -> Option<&'d Value<'d>> {
    value.as_map()?.slot(key)
}

/// Returns the keywords outside [`Draft::Template`].
fn rest(node: &mut Node) -> &mut Rest {
    node.rest.get_or_insert_default()
}

/// Returns the value of data, with a stack on the heap: schemas are also compiled where the host's is small.
fn value_of<'v>(arena: &'v Arena, data: &'v Data) -> Value<'v> {
    let mut open: Vec<(&Data, Vec<Value<'v>>)> = vec![(data, Vec::new())];
    let mut done = Value::Null;
    while let Some((data, values)) = open.last_mut() {
        let next = match data {
            Data::List(items) => items.get(values.len()),
            Data::Map(map) => map.get_index(values.len()).map(|(_, value)| value),
            _ => None,
        };
        if let Some(next) = next {
            open.push((next, Vec::new()));
            continue;
        }
        done = finished(arena, data, values);
        open.pop();
        open.last_mut().into_iter().for_each(|(_, values)| values.push(done));
    }
    done
}

/// Returns the value of data whose parts have these values.
fn finished<'v>(arena: &'v Arena, data: &'v Data, values: &[Value<'v>]) -> Value<'v> {
    match data {
        Data::Null => Value::Null,
        Data::Bool(truth) => Value::Bool(*truth),
        Data::Int(n) => Value::Int(*n),
        Data::Uint(n) => Value::uint(*n),
        Data::Float(n) => Value::Float(*n),
        Data::Number(text) => Numbers::AsWritten.long(arena, text).unwrap_or_default(),
        Data::Str(text) => arena.borrowed_text(text),
        Data::List(_) => arena.list(values),
        Data::Map(map) => {
            let entries: Vec<_> = map.keys().map(String::as_str).zip(values.iter().copied()).collect();
            arena.map(&entries)
        }
    }
}
