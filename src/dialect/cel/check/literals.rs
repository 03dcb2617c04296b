//! Literal arguments that a function rejects.

use super::checker::Checker;
use super::environment::{Callable, Signature};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::cel::syntax::tree::{Expr, ExprId, Literal};
use crate::function::{Caches, Capabilities, Cx};
use crate::limits::Limits;
use crate::value::{Arena, Inputs};

/// Functions that parse their only argument.
const PARSERS: &[&str] = &["cidr", "duration", "ip", "quantity", "semver", "timestamp", "url"];

/// The function whose last argument is a regular expression.
const PATTERNS: &str = "matches";

impl Checker<'_> {
    /// Reports a literal argument of a call that the function rejects.
    pub fn literal(&mut self, name: &str, callable: &Callable, args: &[ExprId]) {
        let Some((&last, before)) = args.split_last() else { return };
        let (Expr::Literal(Literal::String(text)), Callable::Signatures(signatures)) = (self.tree.expr(last), callable)
        else {
            return;
        };
        let text = self.tree.name(text);
        let rejected = match name {
            PATTERNS => signatures.iter().find_map(|of| rejection(of, &["", text])),
            _ if PARSERS.contains(&name) && before.is_empty() => {
                signatures.iter().filter(|of| !of.member).find_map(|of| rejection(of, &[text]))
            }
            _ => None,
        };
        if let Some(error) = rejected {
            let message = format!("invalid {name} argument: {}", error.message);
            self.error(last, Code::BadArgument, message);
        }
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
