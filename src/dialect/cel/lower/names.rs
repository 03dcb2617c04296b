//! What names mean.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::syntax::tree::{Call, Expr, ExprId, Name, Selection, Tree};
use super::super::values::TYPE_NAMES;
use super::Lower;
use crate::bytecode::{Failure, ImportKind};
use crate::diagnostics::Code;
use crate::function::Registry;

/// What is known of the names that an expression sees when it is compiled.
#[derive(Clone, Copy, Default)]
pub struct Names<'n> {
    /// The namespace that names are looked for in first: `a.b`.
    pub container: &'n str,
    /// Whether there is a variable of a qualified name. Where it is not known which there are, the first part of a
    /// qualified name is the variable.
    pub declared: Option<&'n dyn Fn(&str) -> bool>,
}

/// The document that an expression stands in: what it says of names that the expression does not bind.
pub(in crate::dialect::cel) trait Document {
    /// What `name` means.
    fn outside(&self, name: &str) -> Outside;
}

/// What a name means that an expression does not bind.
pub(in crate::dialect::cel) enum Outside {
    /// What is in this slot.
    Slot(u32),
    /// What [`Names`] say.
    Input,
    /// There is none; a type or a namespace may be called so.
    Nowhere(Box<Failure>),
}

/// What a qualified name is.
pub(in crate::dialect::cel) enum Meaning {
    /// A variable of this name; so many of the parts are fields.
    Variable(String, usize),
    /// A type.
    Type(&'static str),
    /// Neither.
    Nothing,
}

/// What a qualified name stands for that no loop and no binding around it has.
pub(super) enum Standing {
    /// What is in this slot; so many of the parts are fields.
    Slot(u32, usize),
    /// The input of this name; so many of the parts are fields.
    Input(String, usize),
    /// The input of the first part, or where there is none this type.
    InputOrType(&'static str),
    /// A type.
    Type(&'static str),
    /// Nothing: this is the error.
    Nothing(Box<Failure>),
}

impl Lower<'_, '_> {
    /// What a qualified name stands for: what the document says, then the input, then the type.
    pub(super) fn standing(&self, parts: &[&str], rooted: bool) -> Standing {
        let outside = match (self.document, parts) {
            (Some(document), [first, ..]) => document.outside(first),
            _ => Outside::Input,
        };
        let open = self.names.declared.is_none();
        match (outside, self.names.meaning(parts, rooted)) {
            (Outside::Slot(slot), _) => Standing::Slot(slot, parts.len().saturating_sub(1)),
            (Outside::Nowhere(failure), Meaning::Variable(..) | Meaning::Nothing) => Standing::Nothing(failure),
            (Outside::Input, Meaning::Type(name)) if open => Standing::InputOrType(name),
            (_, Meaning::Type(name)) => Standing::Type(name),
            (Outside::Input, Meaning::Variable(name, fields)) => Standing::Input(name, fields),
            (Outside::Input, Meaning::Nothing) => Standing::Nothing(Box::new(Failure {
                code: Code::UndefinedVariable,
                message: format!("undeclared reference to '{}'", parts.join(".")),
                available: None,
                help: None,
            })),
        }
    }
}

impl Names<'_> {
    /// The names that `name` may stand for, the one that wins first.
    pub(super) fn candidates(&self, name: &str, rooted: bool) -> Vec<String> {
        let mut all = Vec::new();
        let mut container = if rooted { "" } else { self.container };
        while !container.is_empty() {
            all.push(format!("{container}.{name}"));
            container = container.rfind('.').and_then(|dot| container.get(..dot)).unwrap_or("");
        }
        all.push(name.to_owned());
        all
    }

    /// What a qualified name means: the longest part of it that there is.
    pub(in crate::dialect::cel) fn meaning(&self, parts: &[&str], rooted: bool) -> Meaning {
        for fields in 0..parts.len() {
            let name = parts.get(..parts.len() - fields).unwrap_or(&[]).join(".");
            for candidate in self.candidates(&name, rooted) {
                if self.declared.is_some_and(|declared| declared(&candidate)) {
                    return Meaning::Variable(candidate, fields);
                }
                if let (0, Some(name)) = (fields, TYPE_NAMES.iter().find(|name| **name == candidate)) {
                    return Meaning::Type(name);
                }
            }
        }
        match (self.declared, parts) {
            (None, [first, fields @ ..]) => Meaning::Variable((*first).to_owned(), fields.len()),
            _ => Meaning::Nothing,
        }
    }

    /// The full name of the function that a call is by its name and not on a value, where there is one.
    pub(in crate::dialect::cel) fn namespaced(
        &self,
        tree: &Tree,
        registry: &Registry,
        name: &str,
        call: &Call,
        is_local: impl Fn(Name) -> bool,
    ) -> Option<String> {
        let (path, rooted) = match call.receiver {
            None => (name.to_owned(), call.rooted),
            Some(receiver) => {
                let (parts, rooted, root) = qualified(tree, receiver)?;
                if matches!(tree.expr(root), Expr::Ident { name, rooted: false } if is_local(name)) {
                    return None;
                }
                (format!("{}.{name}", parts.join(".")), rooted)
            }
        };
        let known = |name: &String| registry.get(ImportKind::Function, name).is_some();
        self.candidates(&path, rooted).into_iter().find(known)
    }

    /// What is known of the names in a tree, for compiling parts of it later.
    pub(in crate::dialect::cel) fn kept(&self, tree: &Tree) -> Kept {
        let declared = self.declared.map(|declared| {
            let named = tree.every().filter_map(|id| qualified(tree, id));
            let names = named.flat_map(|(parts, rooted, _)| self.candidates(&parts.join("."), rooted));
            Arc::new(names.filter(|name| declared(name)).collect())
        });
        Kept { container: self.container.into(), declared }
    }
}

/// What is known of the names in one tree.
#[derive(Debug, Clone)]
pub(in crate::dialect::cel) struct Kept {
    container: Arc<str>,
    declared: Option<Arc<BTreeSet<String>>>,
}

impl Kept {
    /// Gives it to `then` as what is known of names.
    pub fn with<R>(&self, then: impl FnOnce(&Names<'_>) -> R) -> R {
        let Some(known) = &self.declared else { return then(&Names { container: &self.container, declared: None }) };
        let declared = |name: &str| known.contains(name);
        then(&Names { container: &self.container, declared: Some(&declared) })
    }
}

/// The parts of a qualified name that is a variable's or a type's, and whether it begins with a dot; where an expression
/// is something else, nothing.
pub(super) fn qualified(tree: &Tree, id: ExprId) -> Option<(Vec<&str>, bool, ExprId)> {
    let (mut parts, mut at) = (Vec::new(), id);
    loop {
        match tree.expr(at) {
            Expr::Select { operand, field, selection: Selection::Plain } => {
                parts.push(tree.name(field));
                at = operand;
            }
            Expr::Ident { name, rooted } => {
                parts.push(tree.name(name));
                parts.reverse();
                return Some((parts, rooted, at));
            }
            _ => return None,
        }
    }
}
