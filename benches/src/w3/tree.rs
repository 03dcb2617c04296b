//! The usual approach with the crate `cel`: the YAML is read once into a tree with compiled expressions, and each
//! evaluation walks the tree.

use std::sync::Arc;

use cel::{Context, Env, Program, Value, extensions};
use serde_json::Value as Json;

/// Compiles the expressions of a tree.
pub struct Compiler {
    env: Arc<Env>,
}

/// A node of the tree.
pub enum Node {
    /// A value without expressions.
    Constant(Json),
    /// A single `${…}`, which keeps its type.
    Whole(Program),
    /// Text with `${…}` in it.
    Text(Vec<Piece>),
    List(Vec<Node>),
    Map(Map),
    /// `$if`, `$then`, `$else`.
    Choice(Program, Box<Node>, Option<Box<Node>>),
    /// `$for` and `$do` as a list item, replaced by its items.
    Each(Each),
}

pub enum Piece {
    Words(String),
    Value(Program),
}

pub enum Key {
    Text(String),
    /// A key with `${…}` in it.
    Computed(Node),
}

pub struct Map {
    /// `$let`.
    bindings: Vec<(String, Program)>,
    entries: Vec<(Key, Node)>,
    /// `$for` and `$do` next to other entries, replaced by the entries of its maps.
    each: Option<Each>,
}

pub struct Each {
    names: Vec<String>,
    of: Program,
    body: Box<Node>,
}

impl Default for Compiler {
    fn default() -> Self {
        let mut env = Env::stdlib();
        env.add_extension(extensions::strings).expect("the functions on strings");
        Self { env: Arc::new(env) }
    }
}

impl Compiler {
    /// Returns a context with these functions.
    pub fn context(&self) -> Context<'static, 'static> {
        Context::with_env(self.env.clone())
    }

    /// Parses YAML text into a tree.
    pub fn read(&self, yaml: &str) -> Node {
        self.node(serde_yaml_ng::from_str(yaml).expect("YAML"))
    }

    fn program(&self, text: &str) -> Program {
        self.env.compile(text).unwrap_or_else(|errors| panic!("{text}: {errors}"))
    }

    fn node(&self, yaml: Json) -> Node {
        match yaml {
            Json::String(text) => self.text(&text),
            Json::Array(items) => Node::List(items.into_iter().map(|item| self.node(item)).collect()),
            Json::Object(mut entries) => {
                let mut directive = |name: &str| entries.remove(name);
                if let Some(condition) = directive("$if") {
                    let then = Box::new(self.node(directive("$then").expect("a branch")));
                    let otherwise = directive("$else").map(|otherwise| Box::new(self.node(otherwise)));
                    return Node::Choice(self.expression(&condition), then, otherwise);
                }
                let each = directive("$for").map(|header| self.each(&header, directive("$do").expect("a body")));
                let bindings = directive("$let").map_or_else(Vec::new, |bindings| self.bindings(bindings));
                match each {
                    Some(each) if entries.is_empty() => Node::Each(each),
                    each => {
                        let entry = |(key, value)| (self.key(key), self.node(value));
                        let entries = entries.into_iter().map(entry).collect();
                        Node::Map(Map { bindings, entries, each })
                    }
                }
            }
            other => Node::Constant(other),
        }
    }

    fn bindings(&self, bindings: Json) -> Vec<(String, Program)> {
        let Json::Object(bindings) = bindings else { panic!("the bindings are a map") };
        bindings.into_iter().map(|(name, text)| (name, self.expression(&text))).collect()
    }

    fn expression(&self, yaml: &Json) -> Program {
        self.program(yaml.as_str().expect("an expression"))
    }

    fn each(&self, header: &Json, body: Json) -> Each {
        let (names, of) = header.as_str().and_then(|header| header.split_once(" in ")).expect("names and what of");
        let names = names.split(',').map(|name| name.trim().to_owned()).collect();
        Each { names, of: self.program(of), body: Box::new(self.node(body)) }
    }

    fn key(&self, key: String) -> Key {
        match self.text(&key) {
            Node::Constant(_) => Key::Text(key),
            computed => Key::Computed(computed),
        }
    }

    fn text(&self, text: &str) -> Node {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((words, behind)) = rest.split_once("${") {
            let (expression, behind) = behind.split_once('}').expect("an end of the expression");
            if !words.is_empty() {
                pieces.push(Piece::Words(words.to_owned()));
            }
            pieces.push(Piece::Value(self.program(expression)));
            rest = behind;
        }
        if pieces.is_empty() {
            return Node::Constant(text.into());
        }
        if !rest.is_empty() {
            pieces.push(Piece::Words(rest.to_owned()));
        }
        match pieces.pop() {
            Some(Piece::Value(program)) if pieces.is_empty() => Node::Whole(program),
            last => {
                pieces.extend(last);
                Node::Text(pieces)
            }
        }
    }
}

impl Node {
    /// Evaluates the node. A choice without a branch returns `None`.
    pub fn evaluate(&self, context: &Context<'_, 'static>) -> Option<Json> {
        Some(match self {
            Node::Constant(value) => value.clone(),
            Node::Whole(program) => json(&execute(program, context)),
            Node::Text(pieces) => Json::String(text(pieces, context)),
            Node::List(items) => {
                let mut out = Vec::with_capacity(items.len());
                for item in items {
                    match item {
                        Node::Each(each) => each.run(context, |made| out.extend(made)),
                        item => out.extend(item.evaluate(context)),
                    }
                }
                Json::Array(out)
            }
            Node::Map(map) => map.evaluate(context),
            Node::Choice(condition, then, otherwise) => {
                let holds = execute(condition, context) == Value::Bool(true);
                let branch = if holds { Some(then) } else { otherwise.as_ref() };
                return branch?.evaluate(context);
            }
            Node::Each(each) => {
                let mut out = serde_json::Map::new();
                each.merge(context, &mut out);
                Json::Object(out)
            }
        })
    }
}

impl Key {
    fn evaluate(&self, context: &Context<'_, 'static>) -> String {
        match self {
            Key::Text(text) => text.clone(),
            Key::Computed(node) => match node.evaluate(context) {
                Some(Json::String(text)) => text,
                other => panic!("{other:?} is no key"),
            },
        }
    }
}

impl Map {
    fn evaluate(&self, context: &Context<'_, 'static>) -> Json {
        if self.bindings.is_empty() {
            return self.entries(context);
        }
        let mut scope = context.new_inner_scope();
        for (name, program) in &self.bindings {
            let value = execute(program, &scope);
            scope.add_variable_from_value(name.as_str(), value);
        }
        self.entries(&scope)
    }

    fn entries(&self, context: &Context<'_, 'static>) -> Json {
        let mut out = serde_json::Map::with_capacity(self.entries.len());
        for (key, node) in &self.entries {
            if let Some(value) = node.evaluate(context) {
                out.insert(key.evaluate(context), value);
            }
        }
        if let Some(each) = &self.each {
            each.merge(context, &mut out);
        }
        Json::Object(out)
    }
}

impl Each {
    fn run(&self, context: &Context<'_, 'static>, mut see: impl FnMut(Option<Json>)) {
        match execute(&self.of, context) {
            Value::List(items) => {
                for item in items.iter() {
                    let mut scope = context.new_inner_scope();
                    scope.add_variable_from_value(self.names[0].as_str(), item.clone());
                    see(self.body.evaluate(&scope));
                }
            }
            Value::Map(map) => {
                // Sort by key, because the crate's maps are unordered.
                let mut entries: Vec<_> = map.map.iter().map(|(key, value)| (key.to_string(), value)).collect();
                entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
                for (key, value) in entries {
                    let mut scope = context.new_inner_scope();
                    scope.add_variable_from_value(self.names[0].as_str(), key);
                    scope.add_variable_from_value(self.names[1].as_str(), value.clone());
                    see(self.body.evaluate(&scope));
                }
            }
            other => panic!("no loop goes over {other:?}"),
        }
    }

    /// Adds the entries of all maps to `out`.
    fn merge(&self, context: &Context<'_, 'static>, out: &mut serde_json::Map<String, Json>) {
        self.run(context, |made| {
            let Some(Json::Object(entries)) = made else { panic!("the body is a map") };
            out.extend(entries);
        });
    }
}

fn execute(program: &Program, context: &Context<'_, 'static>) -> Value {
    program.execute(context).unwrap_or_else(|error| panic!("{error}"))
}

fn json(value: &Value) -> Json {
    value.json().expect("a value of JSON")
}

fn text(pieces: &[Piece], context: &Context<'_, 'static>) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Words(words) => out.push_str(words),
            Piece::Value(program) => match execute(program, context) {
                Value::String(text) => out.push_str(&text),
                Value::Int(number) => out.push_str(itoa::Buffer::new().format(number)),
                other => panic!("{other:?} is no text"),
            },
        }
    }
    out
}
