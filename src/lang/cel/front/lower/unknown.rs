//! Unknown attributes: reading one raises an error of its own kind, which propagates like any other.

use super::Lower;
use crate::attributes::{Alternative, Attribute, Key, Match, attribute};
use crate::syntax::tree::{ExprId, Run};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_machine::bytecode::Op;
use dropforge_machine::compiler::Constant;

impl Lower<'_, '_> {
    /// Pushes the value of an expression, or fails if it is an unknown attribute.
    pub(super) fn value_or_unknown(&mut self, id: ExprId) -> Result<()> {
        let Some(unknown) = &self.unknown else { return self.known_value(id) };
        if let Some(&slot) = unknown.keys.get(&id) {
            self.emitter.load_slot(slot);
            return Ok(());
        }
        if unknown.known.contains(&id) {
            return self.known_value(id);
        }
        let Some(found) = attribute(self.tree, self.names, id, |name| self.local(name).is_some()) else {
            return self.known_value(id);
        };
        let alternatives = match unknown.patterns.matches(&found.trail) {
            Match::Unknown(_) | Match::Unclear => {
                self.fail(id, Code::UnknownAttribute, "the attribute is not known");
                return Ok(());
            }
            Match::Known => Vec::new(),
            Match::Depends(alternatives) => alternatives,
        };
        let keys = if alternatives.is_empty() { Vec::new() } else { self.check_keys(id, &found, &alternatives)? };
        if let Some(unknown) = &mut self.unknown {
            unknown.known.extend(&found.inner);
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

    /// Computes the keys of an attribute into slots, and fails if they make it an unknown one.
    ///
    /// What comes before a key may fail first, or be an empty optional, for which the key is not computed. So keys beyond
    /// all patterns are left, and where a key that is not the first step has an error, the attribute is not known.
    fn check_keys(&mut self, id: ExprId, of: &Attribute, alternatives: &[Alternative]) -> Result<Vec<(ExprId, u32)>> {
        let steps = alternatives.iter().map(|alternative| alternative.steps).max().unwrap_or_default();
        let (mut keys, mut computed) = (Vec::new(), Vec::new());
        for (step, key) in of.computed().take_while(|(step, _)| *step < steps) {
            if step == of.name_len {
                self.value(key)?;
            } else {
                self.protected(key)?;
            }
            keys.push((key, self.emitter.store()));
            computed.push(step);
        }
        for &(key, slot) in &keys {
            self.emitter.load_slot_or_nothing(slot);
            if let Some(unknown) = &mut self.unknown {
                unknown.keys.insert(key, slot);
            }
        }
        let count = Run::of(0..keys.len()).end;
        self.at(id);
        self.emitter.op(Op::List, &[count]);
        for alternative in alternatives {
            for step in &computed {
                self.key(alternative.keys.iter().find(|(at, _)| at == step).map(|(_, key)| key));
            }
            self.emitter.op(Op::List, &[count]);
        }
        self.emitter.op(Op::List, &[Run::of(0..alternatives.len()).end]);
        self.intrinsic("known", 2);
        self.emitter.op(Op::Pop, &[]);
        Ok(keys)
    }

    /// Pushes a key that makes an attribute unknown; null for any key.
    fn key(&mut self, key: Option<&Key>) {
        match key {
            None => self.emitter.constant(Constant::Null),
            Some(Key::Bool(truth)) => self.push_bool(*truth),
            Some(Key::Text(text)) => self.emitter.constant(Constant::Str(text.clone().into())),
            Some(Key::Number(number)) => match i64::try_from(*number) {
                Ok(number) => self.emitter.constant(Constant::Int(number)),
                Err(_) => self.push_uint(u64::try_from(*number).unwrap_or(u64::MAX)),
            },
        }
    }
}
