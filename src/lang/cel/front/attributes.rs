//! Attributes: variables with the fields and elements below them; and patterns of unknown attributes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use crate::settings::{Names, Resolution};
use crate::syntax::tree::{Call, Expr, ExprId, Function, Literal, Name, Operator, Selection, Tree};
use crate::syntax::{Options, Symbol, Tokens, is_identifier, parse, quoted};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;

/// The maximum number of parts of a pattern.
const PARTS: usize = 250;

/// A key within an attribute. A number is the same key in every number type, as in maps and lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Bool(bool),
    Number(i128),
    Text(String),
}

impl Key {
    /// Makes the key of a field.
    pub fn text(name: &str) -> Self {
        Self::Text(name.to_owned())
    }

    /// Returns the key that a literal is.
    pub fn of_literal(tree: &Tree, expr: Expr) -> Option<Self> {
        match expr {
            Expr::Literal(Literal::String(text)) => Some(Key::text(tree.name(text))),
            Expr::Literal(Literal::Int(number)) => Some(Key::Number(number.into())),
            Expr::Literal(Literal::Uint(number)) => Some(Key::Number(number.into())),
            // Every integer below 2^53 is exact as a float.
            Expr::Literal(Literal::Double(n)) if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 => {
                Some(Key::Number(n as i128))
            }
            Expr::Literal(Literal::Bool(truth)) => Some(Key::Bool(truth)),
            _ => None,
        }
    }
}

/// A step of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Qualifier<E> {
    Key(Key),
    /// A key that is computed at runtime.
    Computed(E),
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum PatternPart {
    /// Any key.
    Any,
    Key(Key),
}

/// A set of attributes: a variable, with fields and elements below it. It matches everything at and below it, and
/// everything that contains it.
///
/// In text form, fields follow dots, keys are in brackets, and `*` is any field or element.
///
/// ```
/// use dropforge::cel::Pattern;
/// let pattern = Pattern::new("request").field("auth").index(0).wildcard();
/// assert_eq!(pattern.to_string(), "request.auth[0].*");
/// assert_eq!("request.auth[0].*".parse::<Pattern>()?, pattern);
/// assert_eq!("labels['app.kubernetes.io/name']".parse::<Pattern>()?, Pattern::new("labels").field("app.kubernetes.io/name"));
/// assert!("request..auth".parse::<Pattern>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    /// The parts of the variable's name, which are keys, and the parts below it.
    parts: Vec<PatternPart>,
}

impl Pattern {
    /// Makes the pattern of a variable, by its qualified name: `ns.request`.
    pub fn new(variable: &str) -> Self {
        Self { parts: variable.split('.').map(|part| PatternPart::Key(Key::text(part))).collect() }
    }

    fn with(mut self, part: PatternPart) -> Self {
        self.parts.push(part);
        self
    }

    /// Adds a field, or a string key.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        self.with(PatternPart::Key(Key::text(name)))
    }

    /// Adds an element, or an integer key.
    #[must_use]
    pub fn index(self, index: i64) -> Self {
        self.with(PatternPart::Key(Key::Number(index.into())))
    }

    /// Adds any field or element.
    #[must_use]
    pub fn wildcard(self) -> Self {
        self.with(PatternPart::Any)
    }

    /// Returns the first part of the variable's name.
    pub fn root(&self) -> &str {
        match self.parts.first() {
            Some(PatternPart::Key(Key::Text(name))) => name,
            _ => "",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                PatternPart::Key(Key::Text(name)) if at == 0 => f.write_str(name)?,
                PatternPart::Key(Key::Text(name)) if is_identifier(name) => write!(f, ".{name}")?,
                PatternPart::Key(Key::Text(name)) => write!(f, "[{}]", quoted(name))?,
                PatternPart::Key(Key::Number(number)) if i64::try_from(*number).is_err() => write!(f, "[{number}u]")?,
                PatternPart::Key(Key::Number(number)) => write!(f, "[{number}]")?,
                PatternPart::Key(Key::Bool(truth)) => write!(f, "[{truth}]")?,
                PatternPart::Any => f.write_str(".*")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Pattern {
    type Err = Box<Diagnostic>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |why: &str| {
            let shown: String = text.chars().take(60).collect();
            let message = format!("`{shown}` is not a pattern of attributes: {why}");
            let help = "a pattern is a variable with what is below it: `request.auth`, `request.items[0].*`";
            Diagnostic::new(Code::UnexpectedToken, message).with_help(help)
        };
        let (name, mut rest) = split_name(text);
        if !is_identifier(name) {
            return Err(invalid("it begins with the name of a variable"));
        }
        let mut pattern = Pattern::new(name);
        while !rest.is_empty() {
            let (part, after) = part(rest).ok_or_else(|| invalid("a `.name`, `[key]` or `.*` is missing"))?;
            pattern.parts.push(part);
            rest = after;
            if pattern.parts.len() > PARTS {
                return Err(invalid("it has too many parts"));
            }
        }
        Ok(pattern)
    }
}

/// Splits a name off the beginning of a text.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len());
    text.split_at(end)
}

/// Parses the next part, and returns the rest of the text.
fn part(text: &str) -> Option<(PatternPart, &str)> {
    let field = |name: &str| PatternPart::Key(Key::text(name));
    if let Some(rest) = text.strip_prefix(".*") {
        return Some((PatternPart::Any, rest));
    }
    if let Some(rest) = text.strip_prefix(".`") {
        let (name, rest) = rest.split_once('`')?;
        return Some((field(name), rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        let (name, rest) = split_name(rest);
        return is_identifier(name).then(|| (field(name), rest));
    }
    let inner = text.strip_prefix('[')?;
    let (key, rest) = inner.split_at(closing(inner)?);
    let key = if key.trim() == "*" { PatternPart::Any } else { PatternPart::Key(literal(key)?) };
    Some((key, rest.strip_prefix(']')?))
}

/// Finds the bracket that closes the one before the text.
fn closing(text: &str) -> Option<usize> {
    let mut tokens = Tokens::new(text, 0);
    tokens.find(|token| token.symbol == Symbol::CloseBracket).map(|token| token.span.range().start)
}

/// Parses a literal key.
fn literal(text: &str) -> Option<Key> {
    let tree = parse(&Source::new("<key>", text), &Options::default()).ok()?;
    Key::of_literal(&tree, tree.expr(tree.root))
}

/// A chain of selections and indexes that starts with an input variable.
pub struct Attribute {
    /// The parts of the variable's name, then the keys.
    pub trail: Vec<Qualifier<ExprId>>,
    /// The number of parts of the variable's name.
    pub name_len: usize,
    /// The nodes of the chain without the outermost, from there inwards.
    pub inner: Vec<ExprId>,
}

impl Attribute {
    /// Returns the computed keys, in order, with their indexes in the trail.
    pub fn computed(&self) -> impl Iterator<Item = (usize, ExprId)> {
        self.trail.iter().enumerate().filter_map(|(step, qualifier)| match qualifier {
            Qualifier::Computed(key) => Some((step, *key)),
            Qualifier::Key(_) => None,
        })
    }
}

/// Returns the operand of a link of a chain, and the key that the link takes from it.
fn link(tree: &Tree, id: ExprId) -> Option<(ExprId, Qualifier<ExprId>)> {
    match tree.expr(id) {
        Expr::Select { operand, field, .. } => Some((operand, Qualifier::Key(Key::text(tree.name(field))))),
        Expr::Call(Call { function: Function::Operator(Operator::Index | Operator::OptionalIndex), args, .. }) => {
            let &[operand, index] = tree.ids(args) else { return None };
            let qualifier = Key::of_literal(tree, tree.expr(index)).map_or(Qualifier::Computed(index), Qualifier::Key);
            Some((operand, qualifier))
        }
        _ => None,
    }
}

/// Returns the attribute that an expression is.
pub fn attribute(tree: &Tree, names: &Names<'_>, id: ExprId, is_local: impl Fn(Name) -> bool) -> Option<Attribute> {
    let is_test = |id| matches!(tree.expr(id), Expr::Select { selection: Selection::Test, .. });
    let (mut links, mut inner, mut at) = (Vec::new(), Vec::new(), id);
    let (root, rooted) = loop {
        if let Expr::Ident { name, rooted } = tree.expr(at) {
            break (name, rooted);
        }
        let (operand, qualifier) = link(tree, at).filter(|_| at == id || !is_test(at))?;
        let plain = matches!(tree.expr(at), Expr::Select { selection: Selection::Plain, .. });
        links.push((qualifier, plain));
        at = operand;
        inner.push(at);
    };
    if !rooted && is_local(root) {
        return None;
    }
    links.reverse();
    let mut parts = vec![tree.name(root)];
    for (qualifier, plain) in &links {
        match qualifier {
            Qualifier::Key(Key::Text(field)) if *plain => parts.push(field),
            _ => break,
        }
    }
    let (name, fields) = match names.resolve(&parts, rooted) {
        Resolution::Variable(name, fields) => (name, fields),
        // If variables are not declared, one can have the name of a type.
        Resolution::Type(_) if names.declared.is_none() => (Cow::Borrowed(*parts.first()?), parts.len() - 1),
        Resolution::Type(_) | Resolution::Undeclared => return None,
    };
    let of_name = parts.len() - 1 - fields;
    let mut trail: Vec<_> = name.split('.').map(|part| Qualifier::Key(Key::text(part))).collect();
    let name_len = trail.len();
    trail.extend(links.into_iter().skip(of_name).map(|(qualifier, _)| qualifier));
    Some(Attribute { trail, name_len, inner })
}

/// The maximum number of combinations of computed keys that make one attribute unknown. With more, it counts as unknown
/// whatever its keys are.
const ALTERNATIVES: usize = 64;

/// The result of matching an attribute against patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// No pattern matches.
    Known,
    /// A pattern matches it, its first steps, this number, or something in it.
    Unknown(usize),
    /// The result depends on the computed keys.
    Depends(Vec<Alternative>),
    /// The result depends on too many combinations of computed keys: it counts as unknown.
    Unclear,
}

/// Keys that together, at these steps, make an attribute unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alternative {
    pub keys: Vec<(usize, Key)>,
    /// The number of steps that the pattern has.
    pub steps: usize,
}

/// A trie of patterns, by their parts. The first node is the root.
#[derive(Debug)]
pub struct Patterns {
    nodes: Vec<TrieNode>,
}

#[derive(Debug, Default)]
struct TrieNode {
    keys: BTreeMap<Key, usize>,
    any: Option<usize>,
    /// Set if a pattern ends here.
    end: bool,
}

impl Patterns {
    /// Builds the trie. Parts beyond the maximum depth of an expression are cut off, so the pattern matches more, not less.
    pub fn new(patterns: &[Pattern]) -> Self {
        let mut all = Self { nodes: vec![TrieNode::default()] };
        for pattern in patterns {
            let mut at = 0;
            for part in pattern.parts.iter().take(PARTS) {
                at = all.step(at, part);
            }
            if let Some(node) = all.nodes.get_mut(at) {
                node.end = true;
            }
        }
        all
    }

    fn step(&mut self, at: usize, part: &PatternPart) -> usize {
        let new = self.nodes.len();
        let Some(node) = self.nodes.get_mut(at) else { return 0 };
        let next = match part {
            PatternPart::Any => *node.any.get_or_insert(new),
            PatternPart::Key(key) => *node.keys.entry(key.clone()).or_insert(new),
        };
        if next == new {
            self.nodes.push(TrieNode::default());
        }
        next
    }

    /// Matches an attribute.
    pub fn matches<E>(&self, attribute: &[Qualifier<E>]) -> Match {
        // The nodes that patterns may have reached, each with the keys that it takes.
        let mut states: Vec<(usize, Vec<(usize, Key)>)> = vec![(0, Vec::new())];
        let mut depends = BTreeSet::new();
        for steps in 0..=attribute.len() {
            let whole = steps == attribute.len();
            for (at, keys) in &states {
                if whole || self.nodes.get(*at).is_some_and(|node| node.end) {
                    if keys.is_empty() {
                        return Match::Unknown(steps);
                    }
                    depends.insert(Alternative { keys: keys.clone(), steps });
                }
            }
            let Some(qualifier) = attribute.get(steps) else { break };
            states = states.into_iter().flat_map(|state| self.next(state, steps, qualifier)).collect();
            if states.len() + depends.len() > ALTERNATIVES && states.iter().any(|(_, keys)| !keys.is_empty()) {
                return Match::Unclear;
            }
        }
        if depends.is_empty() { Match::Known } else { Match::Depends(depends.into_iter().collect()) }
    }

    fn next<E>(
        &self,
        (at, keys): (usize, Vec<(usize, Key)>),
        step: usize,
        qualifier: &Qualifier<E>,
    ) -> Vec<(usize, Vec<(usize, Key)>)> {
        // Patterns that end were handled by the caller.
        let Some(node) = self.nodes.get(at).filter(|node| !node.end) else { return Vec::new() };
        let mut next: Vec<_> = node.any.iter().map(|any| (*any, keys.clone())).collect();
        match qualifier {
            Qualifier::Key(key) => next.extend(node.keys.get(key).map(|at| (*at, keys))),
            Qualifier::Computed(_) => {
                let with = |key: &Key| [keys.as_slice(), &[(step, key.clone())]].concat();
                next.extend(node.keys.iter().take(ALTERNATIVES + 1).map(|(key, at)| (*at, with(key))));
            }
        }
        next
    }
}

/// Returns the unknown part of an attribute as a pattern.
pub fn trail<E>(attribute: &[Qualifier<E>], steps: usize, keys: &[(usize, Key)]) -> Pattern {
    let part = |(at, qualifier): (usize, &Qualifier<E>)| match qualifier {
        Qualifier::Key(key) => PatternPart::Key(key.clone()),
        Qualifier::Computed(_) => {
            keys.iter().find(|(step, _)| *step == at).map_or(PatternPart::Any, |(_, key)| PatternPart::Key(key.clone()))
        }
    };
    Pattern { parts: attribute.iter().enumerate().take(steps).map(part).collect() }
}
