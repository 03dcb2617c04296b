//! Qualified names: `a.b.c`.

use smallvec::SmallVec;

use super::tree::{Expr, ExprId, Name, Selection, Tree};

/// A name and the plain selections behind it. It may be a variable with fields, a type, or a namespace of functions.
pub struct QualifiedName<'t> {
    /// Its parts, without a leading dot.
    pub parts: SmallVec<[&'t str; 4]>,
    /// Set for a leading dot.
    pub rooted: bool,
    /// The first part.
    pub root: Name,
}

impl QualifiedName<'_> {
    /// Returns the name without a leading dot: `a.b.c`.
    pub fn text(&self) -> String {
        self.parts.join(".")
    }

    /// Returns the number of parts behind the first.
    pub fn fields(&self) -> usize {
        self.parts.len() - 1
    }

    /// Returns the first part if a local variable can have its name.
    pub fn local(&self) -> Option<Name> {
        (!self.rooted).then_some(self.root)
    }
}

impl Tree {
    /// Returns the qualified name that an expression is.
    pub fn qualified(&self, id: ExprId) -> Option<QualifiedName<'_>> {
        let (mut parts, mut at) = (SmallVec::new(), id);
        loop {
            match self.expr(at) {
                Expr::Select { operand, field, selection: Selection::Plain } => {
                    parts.push(self.name(field));
                    at = operand;
                }
                Expr::Ident { name, rooted } => {
                    parts.push(self.name(name));
                    parts.reverse();
                    return Some(QualifiedName { parts, rooted, root: name });
                }
                _ => return None,
            }
        }
    }
}
