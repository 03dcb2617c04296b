//! Constant texts that a function cannot read: found before anything runs.

use super::checker::Checker;
use super::environment::{Callable, Signature};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::cel::syntax::tree::{Expr, ExprId, Literal};
use crate::function::{Caches, Capabilities, Cx};
use crate::limits::Limits;
use crate::value::{Arena, Inputs};

/// Functions of one text that has to have a form.
const READERS: &[&str] = &["cidr", "duration", "ip", "quantity", "semver", "timestamp", "url"];

/// The function whose last argument is a pattern.
const PATTERNS: &str = "matches";

impl Checker<'_> {
    /// Reports a constant argument of a call of `name` that the function refuses.
    pub fn literal(&mut self, name: &str, callable: &Callable, args: &[ExprId]) {
        let Some((&last, before)) = args.split_last() else { return };
        let (Expr::Literal(Literal::String(text)), Callable::Signatures(signatures)) = (self.tree.expr(last), callable)
        else {
            return;
        };
        let text = self.tree.name(text);
        let refused = match name {
            PATTERNS => signatures.iter().find_map(|of| refused(of, &["", text])),
            _ if READERS.contains(&name) && before.is_empty() => {
                signatures.iter().filter(|of| !of.member).find_map(|of| refused(of, &[text]))
            }
            _ => None,
        };
        if let Some(error) = refused {
            let message = format!("invalid {name} argument: {}", error.message);
            self.error(last, Code::BadArgument, message);
        }
    }
}

/// The error of a signature that takes these texts.
fn refused(of: &Signature, texts: &[&str]) -> Option<Box<Diagnostic>> {
    let takes_texts = of.params.len() == texts.len() && of.params.iter().all(|&ty| ty == super::Types::STRING);
    let body = of.body.filter(|_| takes_texts)?;
    let (arena, limits, caches) = (Arena::new(), Limits::default(), Caches::default());
    let cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches);
    let given = texts.iter().map(|text| cx.text(text)).collect::<Result<Vec<_>>>().ok()?;
    body(&cx, &given).err().filter(|error| !error.code.is_limit())
}
