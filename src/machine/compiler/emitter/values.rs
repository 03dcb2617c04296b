//! Value numbers and memos.
//!
//! Some values stay the same during a whole render: constants, and the values of paths from inputs, which no program
//! changes. So does the result of a pure function of such values. It gets a memo: per render, the function is called
//! once for the same values.

use smallvec::SmallVec;

use super::chunks::ChunkState;
use super::pending::Constant;
use super::{Emitter, OPERAND};
use crate::bytecode::{Gate, ImportKind, Literal, Op, Provenance, Root, Signature};
use crate::compiler::tables::index;
use crate::function::{Body, Builtin, Default, Params, Type};
use dropforge_value::{Text, Value};

/// The number of a value that stays the same during a whole render: the instruction that pushes it and its operand.
/// Equal numbers mean equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ValueNumber(u32);

impl ValueNumber {
    /// A value that may change.
    const UNKNOWN: ValueNumber = ValueNumber(u32::MAX);

    /// Text that may change.
    const TEXT: ValueNumber = ValueNumber(u32::MAX - 1);

    fn by(op: Op, operand: u32) -> ValueNumber {
        ValueNumber((op as u32) << 24 | operand & OPERAND)
    }

    fn may_change(self) -> bool {
        self == Self::UNKNOWN || self == Self::TEXT
    }

    /// Returns `true` if the value is known to have the type.
    fn is_a(self, ty: Type) -> bool {
        static TEXT: Text<'_> = Text::new("");
        let operand = self.0 & OPERAND;
        let like = |op: Op| !self.may_change() && self.0 >> 24 == op as u32;
        match ty {
            Type::Any => true,
            _ if self == Self::TEXT || like(Op::Str) => ty.admits(&Value::Str(&TEXT)),
            _ if like(Op::Int) => ty.admits(&Value::Int(((operand << 8).cast_signed() >> 8).into())),
            _ if like(Op::Lit) => match Literal::of(operand) {
                Literal::False | Literal::True => ty.admits(&Value::Bool(true)),
                Literal::Undefined | Literal::Null => false,
            },
            _ => false,
        }
    }
}

/// A function of the program.
#[derive(Debug, Clone, Copy)]
pub struct KnownFunction {
    import: u32,
    signature: Signature,
}

/// A function (its import), and the parameter and value of each argument.
pub(super) type Application = (u32, SmallVec<[(u32, ValueNumber); 4]>);

impl Emitter<'_> {
    /// Sets the height of the stack. Values above the old height are unknown.
    pub(super) fn set_values(&mut self, height: u32) {
        let frame = &mut self.frame;
        frame.values.resize(height as usize, ValueNumber::UNKNOWN);
        frame.forgotten = frame.forgotten.min(frame.values.len());
    }

    /// Forgets the values on the stack, because code may arrive here from elsewhere.
    pub(super) fn forget_values(&mut self) {
        let ChunkState { values, forgotten, .. } = &mut self.frame;
        // Only those above: a stack may be high and have many labels.
        values.get_mut(*forgotten..).unwrap_or_default().fill(ValueNumber::UNKNOWN);
        *forgotten = values.len();
    }

    /// Applies the effect of an instruction to the stack.
    pub(super) fn note_values(&mut self, op: Op, operand: u32) {
        let is_fixed = match op.info().provenance {
            Provenance::Constant => true,
            // Only memos use the numbers of paths, and programs that change maps have none.
            Provenance::Path | Provenance::OptionalPath => {
                !self.tables.parts.properties.mutable && self.of_inputs(operand)
            }
            _ => false,
        };
        let number = if is_fixed { ValueNumber::by(op, operand) } else { ValueNumber::UNKNOWN };
        self.count(op, self.pops(op, operand) as usize, number);
    }

    /// Returns `true` if the path at `at` always names an input.
    fn of_inputs(&self, at: u32) -> bool {
        let of_inputs = |root| matches!(root, Root::Global(_));
        self.tables.path_at(at).is_some_and(|path| path.indexes == 0 && path.roots().all(of_inputs))
    }

    fn count(&mut self, op: Op, pops: usize, number: ValueNumber) {
        let ChunkState { values, forgotten, .. } = &mut self.frame;
        values.truncate(values.len().saturating_sub(pops));
        *forgotten = (*forgotten).min(values.len());
        (0..op.info().pushes).for_each(|_| values.push(number));
    }

    /// Returns `true` in unreachable code, after applying the effect of an instruction that pops `pops` values to the
    /// stack. The caller then adds nothing to the tables.
    pub(super) fn is_dead(&mut self, op: Op, pops: usize) -> bool {
        self.flush();
        if self.frame.dead {
            self.count(op, pops, ValueNumber::UNKNOWN);
        }
        self.frame.dead
    }

    /// Calls a function with the top values. `params` has the parameter index of each argument, or for a function with
    /// open parameters its form or its name. The result of a `pure` function depends only on its arguments. Returns the
    /// function for later calls, unless it is unreachable here.
    pub fn call(
        &mut self,
        kind: ImportKind,
        name: &str,
        signature: Signature,
        params: &[u32],
        pure: bool,
    ) -> Option<KnownFunction> {
        if self.is_dead(Op::Call, params.len()) {
            return None;
        }
        let function = KnownFunction { import: self.tables.import(kind, name, signature), signature };
        self.call_known(function, params, 0, pure);
        Some(function)
    }

    /// Calls a function again, like [`Emitter::call`].
    pub fn call_again(&mut self, function: KnownFunction, params: &[u32], pure: bool) {
        if !self.is_dead(Op::Call, params.len()) {
            self.call_known(function, params, 0, pure);
        }
    }

    /// Pushes the defaults of the parameters before `end` that have no argument yet, so that a call does not arrange its
    /// arguments. `places` has the parameters of the arguments on the stack. Pushes nothing if they are out of order or
    /// one of the parameters has no default.
    pub fn defaults(&mut self, builtin: &Builtin, places: &mut SmallVec<[u32; 8]>, end: u32) {
        let Params::Named(params) = builtin.params else { return };
        let missing = params.get(places.len()..params.len().min(end as usize)).unwrap_or(&[]);
        let in_order = (0..).zip(places.iter()).all(|(at, &place)| at == place);
        if !in_order || !self.optimise || missing.iter().any(|param| param.default == Default::Required) {
            return;
        }
        for param in missing {
            match param.default {
                Default::Bool(b) => self.constant(Constant::Bool(b)),
                Default::Int(n) => self.constant(Constant::Int(n)),
                Default::Str(text) => self.constant(Constant::Str(text.as_str().into())),
                Default::Absent | Default::Required => self.undefined(),
            }
            places.push(index(places.len()));
        }
    }

    /// Calls `builtin` with the top values. `params` has the parameter of each argument, as in [`Emitter::call`].
    /// Arguments whose types are known here are not checked again.
    pub fn call_builtin(&mut self, builtin: &Builtin, params: &[u32]) {
        if self.is_dead(Op::Call, params.len()) {
            return;
        }
        let signature = builtin.signature();
        let function = KnownFunction { import: self.tables.import(builtin.kind, &builtin.name, signature), signature };
        self.call_known(function, params, self.known(builtin, params), builtin.pure);
        if let (Body::Text(_), Some(top)) = (&builtin.body, self.frame.values.last_mut())
            && *top == ValueNumber::UNKNOWN
        {
            *top = ValueNumber::TEXT;
        }
    }

    /// Returns the bits of the parameters whose arguments, the top values, are known to have the right type.
    fn known(&self, builtin: &Builtin, places: &[u32]) -> u32 {
        let Params::Named(params) = builtin.params else { return 0 };
        let values = &self.frame.values;
        let given = values.len().checked_sub(places.len()).and_then(|first| values.get(first..)).unwrap_or(&[]);
        // The last of duplicate arguments counts.
        places.iter().zip(given).fold(0, |known, (&place, number)| {
            let bit = 1_u32.checked_shl(place).unwrap_or(0);
            let is_known = params.get(place as usize).is_some_and(|param| number.is_a(param.ty));
            if is_known { known | bit } else { known & !bit }
        })
    }

    /// Calls a function with the top values, of which those for the parameters in the bits of `known` have the right type.
    fn call_known(&mut self, function: KnownFunction, params: &[u32], known: u32, pure: bool) {
        let KnownFunction { import, signature } = function;
        let sites = &mut self.tables.parts.sites;
        let at = index(sites.len());
        sites.extend([import, index(params.len()), Gate::new(params, signature.count(), known).word()]);
        sites.extend(params);
        self.oversized |= params.len() > usize::from(u16::MAX);
        match self.memo(import, params).filter(|_| pure) {
            Some(memo) => {
                self.emit(Op::CallMemo, &[at, memo]);
                if let Some(top) = self.frame.values.last_mut() {
                    *top = ValueNumber::by(Op::CallMemo, memo);
                }
            }
            None => self.emit(Op::Call, &[at]),
        }
    }

    /// Renders the template `name`, of any language, with the top value as its inputs, and replaces that value by the
    /// text.
    pub fn call_template(&mut self, name: &str) {
        self.call(ImportKind::Template, name, Signature::TEMPLATE, &[0], false);
    }

    /// Calls a function with the top `count` values, one for each parameter in order. The body checks them itself,
    /// without the argument gate.
    pub fn apply(&mut self, kind: ImportKind, name: &str, signature: Signature, count: u32) {
        if self.is_dead(Op::Apply, count as usize) {
            return;
        }
        let import = self.tables.import(kind, name, signature);
        self.emit(Op::Apply, &[count, import]);
    }

    /// Returns the memo for a function applied to the top values, if all of them stay the same.
    fn memo(&mut self, import: u32, params: &[u32]) -> Option<u32> {
        let values = &self.frame.values;
        let keeps = self.optimise && !self.tables.parts.properties.mutable;
        let given = values.get(values.len().checked_sub(params.len())?..).filter(|_| keeps)?;
        let arguments: SmallVec<[_; 4]> = params.iter().copied().zip(given.iter().copied()).collect();
        if arguments.is_empty() || arguments.iter().any(|(_, number)| number.may_change()) {
            return None;
        }
        let fresh = index(self.memos.len());
        Some(*self.memos.entry((import, arguments)).or_insert(fresh))
    }
}
