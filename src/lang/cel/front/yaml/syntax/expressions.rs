//! Expressions: each text is parsed once, and its names are resolved at each position. Parameter
//! expansions of shells, such as `${PORT:-8080}`, get help.

use std::sync::Arc;

use hashbrown::HashSet;

use super::build::{Directive, FileBuilder};
use super::{ExpressionId, Free, NodeId, TemplateExpression};
use crate::syntax::parse_within;
use crate::syntax::tree::{Expr, ExprId, Function, Literal, Name, Operator, Selection, Tree};
use crate::yaml::Recent;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Expansion, Operation};
use dropforge_base::text::{Source, Span};
use dropforge_schema::Schema;
use dropforge_value::yaml::Places;

/// A parsed expression.
pub(in crate::front::yaml) struct ParsedExpression {
    pub tree: Arc<Tree>,
    /// The free names, each with its first occurrence.
    pub free: Vec<(Arc<str>, ExprId)>,
    /// Set if only an expression can have its syntax: a comparison, a call, a string.
    pub definite: bool,
    /// Set for a single number with a fraction or an exponent.
    pub double: bool,
}

/// The parts of files that are parsed once.
#[derive(Default)]
pub(in crate::front::yaml) struct ParsedExpressions {
    /// Expressions by text.
    pub(super) expressions: Recent<String, Result<Arc<ParsedExpression>, Diagnostics>>,
    /// Schemas by the value that they are read from.
    pub(super) schemas: Recent<String, Arc<Schema>>,
}

impl ParsedExpressions {
    /// Begins another compilation, which may use the parts of this one.
    pub(crate) fn next_round(&mut self) {
        self.expressions.next_round();
        self.schemas.next_round();
    }
}

impl ParsedExpression {
    pub fn new(tree: Tree) -> Self {
        let mut walk =
            FreeNameWalk { tree: &tree, bound: Vec::new(), seen: HashSet::new(), free: Vec::new(), definite: false };
        walk.visit(tree.root);
        let (free, definite) = (walk.free, walk.definite);
        let double = matches!(tree.expr(tree.root), Expr::Literal(Literal::Double(_)));
        Self { tree: Arc::new(tree), free, definite, double }
    }
}

struct FreeNameWalk<'t> {
    tree: &'t Tree,
    /// The variables of comprehensions in scope.
    bound: Vec<Name>,
    seen: HashSet<Name>,
    free: Vec<(Arc<str>, ExprId)>,
    definite: bool,
}

impl FreeNameWalk<'_> {
    /// Visits every node, in source order where possible.
    fn visit(&mut self, id: ExprId) {
        let expr = self.tree.expr(id);
        self.definite |= is_definite(expr);
        if let Expr::Ident { name, rooted } = expr {
            let hidden = !rooted && self.bound.contains(&name);
            let internal = self.tree.name(name).starts_with('@');
            if !hidden && !internal && self.seen.insert(name) {
                self.free.push((self.tree.name(name).into(), id));
            }
        }
        let Expr::Comprehension(_) = expr else { return self.tree.each_child(expr, |id| self.visit(id)) };
        for (names, ids) in self.tree.scopes(expr) {
            let outside = self.bound.len();
            self.bound.extend(names);
            ids.into_iter().for_each(|id| self.visit(id));
            self.bound.truncate(outside);
        }
    }
}

/// Returns `true` for syntax that only an expression can have: not names, numbers, fields, and the characters of host names,
/// dates and paths.
fn is_definite(expr: Expr) -> bool {
    match expr {
        Expr::Invalid | Expr::Ident { .. } => false,
        Expr::Literal(literal) => !matches!(literal, Literal::Int(_) | Literal::Double(_)),
        Expr::Select { selection, .. } => selection != Selection::Plain,
        Expr::Call(call) => !matches!(
            call.function,
            Function::Operator(Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide)
        ),
        _ => true,
    }
}

/// The maximum number of expressions of a file.
const EXPRESSIONS: usize = 100_000;

/// The maximum number of nodes of all expressions, each text counted once.
const NODES: usize = 4 << 20;

impl FileBuilder<'_> {
    /// Parses an expression, unless its text was parsed before, maybe in another file.
    pub fn parse(&mut self, text: &str) -> Result<Arc<ParsedExpression>, Diagnostics> {
        let nodes = |parsed: &Result<Arc<ParsedExpression>, _>| parsed.as_ref().map_or(0, |parsed| parsed.tree.len());
        if let Some((parsed, is_first)) = self.parsed.expressions.get(text) {
            self.parsed_nodes += if is_first { nodes(parsed) } else { 0 };
            return parsed.clone();
        }
        let source = Source::new(self.file.source.name(), text);
        let parsed = parse_within(&source, &self.options.expressions, self.limits);
        let parsed = parsed.map(|tree| Arc::new(ParsedExpression::new(tree)));
        self.parsed_nodes += nodes(&parsed);
        self.parsed.expressions.insert(text.to_owned(), parsed.clone());
        parsed
    }

    /// Adds the expression `text`. Returns `None` after an error.
    pub fn expression(&mut self, owner: NodeId, text: &str, places: &Places) -> Option<ExpressionId> {
        if self.is_full(owner, places.span(Span::of(0..text.len()))) {
            return None;
        }
        match self.parse(text) {
            Ok(parsed) => self.add_expression(owner, &parsed, text, places),
            Err(errors) => {
                for error in errors.into_vec() {
                    self.syntax_error(owner, *error, places);
                }
                None
            }
        }
    }

    /// Returns `true` after too many expressions, and reports that once.
    fn is_full(&mut self, owner: NodeId, span: Span) -> bool {
        let full = self.file.expressions.len() >= EXPRESSIONS || self.parsed_nodes > NODES;
        if full && !self.too_many {
            self.too_many = true;
            let message =
                format!("the expressions of the file are too many: the limit is {EXPRESSIONS}, or {NODES} nodes");
            self.error(Code::LimitCode, span, owner, message);
        }
        full
    }

    /// Reports a syntax error at its position in the file.
    fn syntax_error(&mut self, owner: NodeId, mut error: Diagnostic, places: &Places) {
        for label in &mut error.labels {
            label.source = self.file.source.clone();
            label.span = places.span(label.span);
        }
        add(&mut error);
        self.report(Box::new(error), owner);
    }

    /// Adds a parsed expression.
    pub(crate) fn add_expression(
        &mut self,
        owner: NodeId,
        parsed: &ParsedExpression,
        text: &str,
        places: &Places,
    ) -> Option<ExpressionId> {
        let span = places.span(Span::of(0..text.len()));
        if self.is_full(owner, span) {
            return None;
        }
        let free: Vec<_> =
            parsed.free.iter().map(|(name, at)| self.free(name, places.span(parsed.tree.span(*at)))).collect();
        free.iter().for_each(|free| self.lint_elsewhere(owner, free));
        let (tree, places) = (parsed.tree.clone(), places.clone());
        self.file.expressions.push(TemplateExpression { tree, places, span, owner, free });
        Some(ExpressionId::of(self.file.expressions.len() - 1))
    }

    /// Resolves a free name.
    fn free(&self, name: &Arc<str>, span: Span) -> Free {
        let binding = self.names.get(name);
        let later = if binding.is_none() { self.names.later(name) } else { None };
        let elsewhere = match (binding, later, self.elsewhere.get(name)) {
            (None, None, Some((span, Directive::Let))) => Some(*span),
            _ => None,
        };
        let binding = binding.unwrap_or_default();
        Free { name: name.clone(), span, variable: binding.variable, declared: binding.declared, later, elsewhere }
    }

    /// Warns about a name that only an earlier document defines or declares.
    fn lint_elsewhere(&mut self, owner: NodeId, free: &Free) {
        let unknown = free.variable.is_none() && free.declared.is_none() && free.later.is_none();
        let Some((span, directive)) = self.elsewhere.get(&free.name).copied().filter(|_| unknown) else { return };
        let name = &free.name;
        let (message, help) = match directive {
            Directive::Let => (
                format!("`{name}` is not defined in this document"),
                format!("repeat its `$let` here, or give an input called `{name}`"),
            ),
            Directive::Schema => {
                (format!("`{name}` has no schema in this document"), "repeat its `$schema` here".to_owned())
            }
        };
        let lint = Diagnostic::warning(Code::UndefinedVariable, message).at(&self.file.source, free.span, "");
        let lint = lint.at(&self.file.source, span, "this is of another document").with_help(help);
        self.report(lint, owner);
    }
}

/// Adds the expression for a parameter expansion to a syntax error at it.
pub(super) fn add(error: &mut Diagnostic) {
    let Some(label) = error.labels.first_mut() else { return };
    let source = label.source.clone();
    let Some(found) = Expansion::before(&source, label.span.start) else { return };
    if found.span.end <= label.span.start {
        label.span = found.span;
    }
    error.help = Some(format!("`{}` is an expansion of a shell; {}", source.slice(found.span), instead(&found)));
}

/// Says what to write instead of an expansion.
fn instead(Expansion { name, operation, .. }: &Expansion<'_>) -> String {
    match *operation {
        Operation::Default(value) => format!("write `${{has({name}) ? {name} : {value:?}}}`"),
        Operation::Alternative(value) => format!("write `${{has({name}) ? {value:?} : \"\"}}`"),
        Operation::Required => format!("write `${{{name}}}`: a value that is missing is an error"),
        Operation::Length => format!("write `${{size({name})}}`"),
        Operation::WithoutSuffix(pattern) => match pattern.strip_suffix('*') {
            Some(mark) if !mark.is_empty() => {
                format!("write `${{{name}.substring(0, {name}.lastIndexOf({mark:?}))}}`")
            }
            _ => format!("write `${{{name}.replace({pattern:?}, \"\")}}`"),
        },
        Operation::WithoutPrefix(pattern) => match pattern.strip_prefix('*') {
            Some(mark) if !mark.is_empty() => {
                format!("write `${{{name}.substring({name}.indexOf({mark:?}) + {})}}`", mark.chars().count())
            }
            _ => format!("write `${{{name}.replace({pattern:?}, \"\")}}`"),
        },
        Operation::Slice(from, None) => format!("write `${{{name}.substring({from})}}`"),
        Operation::Slice(from, Some(count)) => format!("write `${{{name}.substring({from}, {from} + {count})}}`"),
        Operation::Upper => format!("write `${{{name}.upperAscii()}}`"),
        Operation::Lower => format!("write `${{{name}.lowerAscii()}}`"),
    }
}
