//! Literal arguments that a function rejects.

use super::checker::Checker;
use super::environment::{Callable, Signature};
use super::types::Kind;
use crate::builtins::format::{Layout, Part, out_of_range, refused};
use crate::syntax::tree::{Call, Expr, ExprId, Literal};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_machine::function::{Caches, Capabilities, Cx};
use dropforge_value::{Arena, Inputs};

/// Functions that parse their only argument.
const PARSERS: &[&str] = &["cidr", "duration", "ip", "quantity", "semver", "timestamp", "url"];

/// Returns the position of the regular expression among the arguments of a function.
fn pattern_of(function: &str, arguments: usize) -> Option<usize> {
    match function {
        "matches" => arguments.checked_sub(1),
        "find" | "findAll" => Some(0),
        "regex.extract" | "regex.extractAll" | "regex.replace" => Some(1),
        _ => None,
    }
}

impl Checker<'_> {
    /// Reports literal arguments of a call that the function rejects.
    pub fn literal(&mut self, id: ExprId, name: &str, call: Call, callable: &Callable, args: &[ExprId]) {
        if let ("format", Some(layout), &[values]) = (name, call.receiver, args) {
            return self.format(id, layout, values);
        }
        let Callable::Signatures(signatures) = callable else { return };
        let Some((arg, rejected)) = self.rejected(name, signatures, args) else { return };
        self.error(arg, Code::BadArgument, format!("invalid {name} argument: {}", rejected.message));
    }

    /// Returns the literal argument that a function rejects, and the error.
    fn rejected(&self, name: &str, signatures: &[Signature], args: &[ExprId]) -> Option<(ExprId, Box<Diagnostic>)> {
        if let Some(at) = pattern_of(name, args.len()) {
            let arg = *args.get(at)?;
            let text = self.text_of(arg)?;
            let (_, Callable::Signatures(matches)) = self.env.function("matches", true)? else { return None };
            return Some((arg, matches.iter().find_map(|of| rejection(of, &["", text]))?));
        }
        let &[arg] = args else { return None };
        let text = self.text_of(arg).filter(|_| PARSERS.contains(&name))?;
        let rejected = signatures.iter().filter(|of| !of.member).find_map(|of| rejection(of, &[text]))?;
        Some((arg, rejected))
    }

    /// Returns the text of a string literal.
    fn text_of(&self, id: ExprId) -> Option<&str> {
        match self.tree.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(self.tree.name(text)),
            _ => None,
        }
    }

    /// Reports literal values that a literal format string cannot take, and clauses and values without the other.
    fn format(&mut self, id: ExprId, layout: ExprId, values: ExprId) {
        let (tree, Expr::List(run)) = (self.tree, self.tree.expr(values)) else { return };
        let Expr::Literal(Literal::String(layout)) = tree.expr(layout) else { return };
        let (elements, mut used) = (tree.elements(run), 0);
        for part in Layout(tree.name(layout)) {
            let refused = match part {
                Ok(Part::Text(_)) => continue,
                Err(error) => Some((id, error.message)),
                Ok(Part::Clause(clause)) => match elements.get(used) {
                    None => Some((id, out_of_range(used))),
                    Some(element) => self.unformatted(clause.letter, element.value),
                },
            };
            if let Some((id, message)) = refused {
                return self.error(id, Code::BadArgument, message);
            }
            used += 1;
        }
        if elements.len() > used && !elements.iter().any(|element| element.optional) {
            let count = elements.len();
            let message = format!("too many arguments supplied to string.format (expected {used}, got {count})");
            self.error(id, Code::BadArgument, message);
        }
    }

    /// Returns the error of a value that a clause cannot format, with its position: of an element in a list or map literal.
    fn unformatted(&mut self, letter: char, id: ExprId) -> Option<(ExprId, String)> {
        let ty = self.type_of(id);
        let ty = self.unify.resolved(ty);
        let fits = match self.unify.types.kind(ty) {
            Kind::Dyn | Kind::Error | Kind::Var(_) | Kind::Param(_) | Kind::Nullable(_) => true,
            Kind::Int | Kind::Uint => true,
            Kind::Double => matches!(letter, 's' | 'd' | 'f' | 'e'),
            Kind::Bool => matches!(letter, 's' | 'b'),
            Kind::String | Kind::Bytes => matches!(letter, 's' | 'x' | 'X'),
            Kind::Optional(_) | Kind::Opaque(..) => false,
            _ => letter == 's',
        };
        if !fits {
            let given = self.text(ty);
            let given = given.split('(').next().unwrap_or("").to_owned();
            return Some((id, refused(letter, &given).message));
        }
        let parts: Vec<_> = match self.tree.expr(id) {
            expr @ (Expr::List(_) | Expr::Map(_)) if letter == 's' => self.tree.children(expr),
            _ => Vec::new(),
        };
        parts.into_iter().find_map(|part| self.unformatted(letter, part))
    }
}

/// Calls a function with string arguments, and returns its error.
fn rejection(of: &Signature, texts: &[&str]) -> Option<Box<Diagnostic>> {
    let takes_strings = of.params.len() == texts.len() && of.params.iter().all(|&ty| ty == super::Types::STRING);
    let body = of.body.filter(|_| takes_strings)?;
    let (arena, limits, caches) = (Arena::new(), Limits::default(), Caches::default());
    let cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches);
    let given = texts.iter().map(|text| cx.text(text)).collect::<Result<Vec<_>>>().ok()?;
    body(&cx, &given).err().filter(|error| !error.code.is_limit())
}
