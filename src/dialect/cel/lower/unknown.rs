//! Parts of an expression where some attributes are not known: reading one of those is an error of its own kind, which
//! goes the way of all errors.

use std::collections::{HashMap, HashSet};

use super::{Lower, Names};
use crate::bytecode::{Dialect, Op, Program};
use crate::compiler::{Constant, Emitter};
use crate::diagnostics::{Code, Result};
use crate::dialect::cel::partial::attribute::{Attribute, attribute};
use crate::dialect::cel::partial::pattern::{Alternative, Key, Patterns, Verdict};
use crate::dialect::cel::semantics::Rules;
use crate::dialect::cel::syntax::tree::{ExprId, Name, Run, Tree};
use crate::function::Registry;
use crate::limits::Limits;
use crate::text::Span;

/// What is not known, and what was found out of the nodes so far.
pub(super) struct Unknown<'t> {
    patterns: &'t Patterns,
    /// Nodes of attributes that are known, as a whole.
    settled: HashSet<ExprId>,
    /// The slots that computed keys of attributes are in.
    keys: HashMap<ExprId, u32>,
}

/// A part of an expression: what names around it stand for, the outermost first, and the part.
pub(in crate::dialect::cel) struct Part {
    pub outer: Vec<(Name, ExprId)>,
    pub id: ExprId,
}

/// A program with a chunk for each part, which answers with its value.
///
/// # Errors
/// Limits of the code's size.
pub(in crate::dialect::cel) fn compile_parts(
    tree: &Tree,
    registry: &Registry,
    names: &Names<'_>,
    patterns: &Patterns,
    limits: &Limits,
    parts: &[Part],
) -> Result<Program> {
    let mut emitter = Emitter::new(Dialect::Cel, &Rules, limits.code_words);
    let mut lower = Lower::new(tree, registry, names, &mut emitter);
    lower.unknown = Some(Unknown { patterns, settled: HashSet::new(), keys: HashMap::new() });
    for part in parts {
        let id = lower.emitter.declare_chunk(lower.source.name(), 0);
        lower.emitter.begin_chunk(id);
        lower.emitter.at(&lower.source, Span::default());
        for &(name, value) in &part.outer {
            lower.value(value)?;
            let slot = lower.emitter.store();
            lower.locals.push((name, slot));
        }
        lower.value(part.id)?;
        lower.emitter.op(Op::Answer, &[]);
        for (_, slot) in std::mem::take(&mut lower.locals) {
            lower.emitter.free(slot);
        }
        lower.emitter.end_chunk();
    }
    lower.emitter.check_size()?;
    lower.emitter.finish()
}

impl Lower<'_, '_> {
    /// Pushes the value of an expression, or fails where it is an attribute that is not known.
    pub(super) fn value_or_unknown(&mut self, id: ExprId) -> Result<()> {
        let Some(unknown) = &self.unknown else { return self.known_value(id) };
        if let Some(&slot) = unknown.keys.get(&id) {
            self.emitter.load_slot(slot);
            return Ok(());
        }
        if unknown.settled.contains(&id) {
            return self.known_value(id);
        }
        let Some(found) = attribute(self.tree, self.names, id, |name| self.local(name).is_some()) else {
            return self.known_value(id);
        };
        let alternatives = match unknown.patterns.verdict(&found.trail) {
            Verdict::Unknown(_) | Verdict::Unclear => {
                self.fail(id, Code::UnknownAttribute, "the attribute is not known");
                return Ok(());
            }
            Verdict::Known => Vec::new(),
            Verdict::Depends(alternatives) => alternatives,
        };
        let keys = if alternatives.is_empty() { Vec::new() } else { self.check(id, &found, &alternatives)? };
        if let Some(unknown) = &mut self.unknown {
            unknown.settled.extend(&found.inner);
        }
        self.known_value(id)?;
        for (key, slot) in keys {
            self.emitter.free(slot);
            if let Some(unknown) = &mut self.unknown {
                unknown.keys.remove(&key);
            }
        }
        Ok(())
    }

    /// Computes the keys of an attribute, and fails where they make it one that is not known.
    fn check(&mut self, id: ExprId, of: &Attribute, alternatives: &[Alternative]) -> Result<Vec<(ExprId, u32)>> {
        let mut keys = Vec::new();
        for key in of.computed() {
            self.value(key)?;
            keys.push((key, self.emitter.store()));
        }
        for &(key, slot) in &keys {
            self.emitter.load_slot(slot);
            if let Some(unknown) = &mut self.unknown {
                unknown.keys.insert(key, slot);
            }
        }
        let count = Run::of(0..keys.len()).end;
        self.at(id);
        self.emitter.op(Op::List, &[count]);
        let is_computed = |step: &usize| {
            !matches!(of.trail.get(*step), Some(crate::dialect::cel::partial::pattern::Qualifier::Key(_)))
        };
        let computed: Vec<_> = (0..of.trail.len()).filter(is_computed).collect();
        for alternative in alternatives {
            for step in &computed {
                let key = alternative.keys.iter().find(|(at, _)| at == step).map(|(_, key)| key);
                self.key(key);
            }
            self.emitter.op(Op::List, &[count]);
        }
        self.emitter.op(Op::List, &[Run::of(0..alternatives.len()).end]);
        self.core("known", 2);
        self.emitter.op(Op::Pop, &[]);
        Ok(keys)
    }

    /// A key that makes the difference; null where any does.
    fn key(&mut self, key: Option<&Key>) {
        match key {
            None => self.emitter.constant(Constant::Null),
            Some(Key::Bool(truth)) => self.truth(*truth),
            Some(Key::Text(text)) => self.emitter.constant(Constant::Str(text.clone().into())),
            Some(Key::Number(number)) => match i64::try_from(*number) {
                Ok(number) => self.emitter.constant(Constant::Int(number)),
                Err(_) => {
                    let bits = u64::try_from(*number).unwrap_or(u64::MAX);
                    self.emitter.constant(Constant::Int(bits.cast_signed()));
                    self.core("uint", 1);
                }
            },
        }
    }
}
