//! Assignability of types, and the inference of type variables.

use hashbrown::HashMap;

use super::types::{Kind, TypeId, Types, parts};

/// The maximum depth of types to walk.
const DEPTH: u32 = 400;

/// Types, the substitution of type variables, and the steps left for inference. Types can be exponentially larger than the
/// source.
#[derive(Debug)]
pub(super) struct Unify {
    pub types: Types,
    bound: Vec<Option<TypeId>>,
    /// Previous bindings, to restore if types do not match.
    trail: Vec<(usize, Option<TypeId>)>,
    steps: u64,
    depth: u32,
    /// Set after a type that is too large or too deep.
    pub exhausted: bool,
}

impl Unify {
    pub fn new(types: Types, steps: u64) -> Self {
        Self { types, bound: Vec::new(), trail: Vec::new(), steps, depth: 0, exhausted: false }
    }

    /// Returns the steps left.
    pub fn left(&self) -> u64 {
        self.steps
    }

    /// Makes a type variable.
    pub fn fresh(&mut self) -> TypeId {
        let at = u32::try_from(self.bound.len()).unwrap_or(u32::MAX);
        self.bound.push(None);
        self.types.add(Kind::Var(at))
    }

    fn found(&self, var: u32) -> Option<TypeId> {
        self.bound.get(var as usize).copied().flatten()
    }

    fn bind(&mut self, var: u32, to: TypeId) {
        if let Some(slot) = self.bound.get_mut(var as usize) {
            self.trail.push((var as usize, slot.replace(to)));
        }
    }

    /// Runs `walk` one level deeper. Returns `otherwise` if no steps or levels are left.
    fn deeper<T>(&mut self, otherwise: T, walk: impl FnOnce(&mut Self) -> T) -> T {
        if self.steps == 0 || self.depth >= DEPTH {
            self.exhausted = true;
            return otherwise;
        }
        self.steps -= 1;
        self.depth += 1;
        let answer = walk(self);
        self.depth -= 1;
        answer
    }

    /// Returns `true` if `a` is assignable to `b`. Otherwise no type variable is bound.
    pub(crate) fn assignable(&mut self, a: TypeId, b: TypeId) -> bool {
        self.all_assignable(&[a], &[b])
    }

    /// Returns `true` if each of `a` is assignable to its counterpart in `b`.
    pub(crate) fn all_assignable(&mut self, a: &[TypeId], b: &[TypeId]) -> bool {
        self.trail.clear();
        let fits = self.each_fits(a, b);
        if !fits {
            for (var, before) in std::mem::take(&mut self.trail).into_iter().rev() {
                if let Some(slot) = self.bound.get_mut(var) {
                    *slot = before;
                }
            }
        }
        fits
    }

    fn each_fits(&mut self, a: &[TypeId], b: &[TypeId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.fits(a, b))
    }

    fn fits(&mut self, a: TypeId, b: TypeId) -> bool {
        a == b || self.deeper(true, |unify| unify.others_fit(a, b))
    }

    /// Compares types with different ids.
    fn others_fit(&mut self, a: TypeId, b: TypeId) -> bool {
        if let Kind::Var(var) = *self.types.kind(b) {
            let bound = self.found(var).is_some();
            if self.may_be(b, var, a) {
                return true;
            }
            if bound {
                return false;
            }
        }
        if let Kind::Var(var) = *self.types.kind(a) {
            return self.may_be(a, var, b);
        }
        let (kind_a, kind_b) = (self.types.kind(a).clone(), self.types.kind(b).clone());
        match (kind_a, kind_b) {
            (Kind::Dyn | Kind::Error, _) | (_, Kind::Dyn | Kind::Error) => true,
            (Kind::Null, other) | (other, Kind::Null) => may_be_null(&other),
            (Kind::Nullable(a), Kind::Nullable(b)) | (Kind::List(a), Kind::List(b)) => self.fits(a, b),
            (Kind::Nullable(a), _) => self.fits(a, b),
            (_, Kind::Nullable(b)) => self.fits(a, b),
            (Kind::Type(_), Kind::Type(_)) | (Kind::Object(_), Kind::Object(_)) => true,
            (Kind::Number, Kind::Int | Kind::Double) | (Kind::Int | Kind::Double, Kind::Number) => true,
            (Kind::Optional(a), Kind::Optional(b)) => self.fits(a, b),
            (Kind::Map(key_a, value_a), Kind::Map(key_b, value_b)) => {
                self.each_fits(&[key_a, value_a], &[key_b, value_b])
            }
            (Kind::Opaque(name_a, a), Kind::Opaque(name_b, b)) => name_a == name_b && self.each_fits(&a, &b),
            (Kind::Object(at), Kind::Map(key, value)) => {
                let of = self.types.values_of(at);
                self.each_fits(&[Types::STRING, of], &[key, value])
            }
            (Kind::Map(key, value), Kind::Object(at)) => {
                let of = self.types.values_of(at);
                self.each_fits(&[key, value], &[Types::STRING, of])
            }
            _ => false,
        }
    }

    /// Returns `true` if the variable `var` can be `ty`, and binds it.
    fn may_be(&mut self, id: TypeId, var: u32, ty: TypeId) -> bool {
        if let Some(so_far) = self.found(var) {
            if so_far == ty {
                return true;
            }
            if !self.fits(ty, so_far) {
                return false;
            }
            let general = self.more_general(ty, so_far);
            if self.is_free_of(id, general) {
                self.bind(var, general);
            }
            return true;
        }
        let free = self.is_free_of(id, ty);
        if free {
            self.bind(var, ty);
        }
        free
    }

    /// Returns `true` if `var` does not occur in `ty`.
    fn is_free_of(&mut self, var: TypeId, ty: TypeId) -> bool {
        if var == ty {
            return false;
        }
        if self.types.is_settled(ty) {
            return true;
        }
        self.deeper(false, |unify| match unify.types.kind(ty).clone() {
            Kind::Var(other) => unify.found(other).is_none_or(|ty| unify.is_free_of(var, ty)),
            kind => parts(&kind).into_iter().all(|part| unify.is_free_of(var, part)),
        })
    }

    /// Returns the more general of two types that match.
    pub(crate) fn more_general(&mut self, a: TypeId, b: TypeId) -> TypeId {
        if self.is_general(a, b) { a } else { b }
    }

    /// Returns `true` if `a` is `b`, or more general.
    fn is_general(&mut self, a: TypeId, b: TypeId) -> bool {
        let types = &self.types;
        match (types.kind(a).clone(), types.kind(b).clone()) {
            (Kind::Dyn | Kind::Var(_), _) => true,
            (_, Kind::Dyn | Kind::Var(_)) => false,
            (Kind::Type(_), Kind::Type(_)) => true,
            (Kind::Number, Kind::Int | Kind::Double) => true,
            (Kind::Nullable(_), Kind::Null) | (Kind::Map(..), Kind::Object(_)) => true,
            (Kind::Nullable(a), other) if !matches!(other, Kind::Nullable(_)) => self.is_general(a, b),
            (Kind::Opaque(name_a, _), Kind::Opaque(name_b, _)) if name_a != name_b => false,
            (kind_a, kind_b) => {
                let (a_parts, b_parts) = (parts(&kind_a), parts(&kind_b));
                let same = std::mem::discriminant(&kind_a) == std::mem::discriminant(&kind_b);
                let is_general = |unify: &mut Self| a_parts.iter().zip(&b_parts).all(|(&a, &b)| unify.is_general(a, b));
                match a_parts.is_empty() {
                    true => a == b,
                    false => same && a_parts.len() == b_parts.len() && self.deeper(true, is_general),
                }
            }
        }
    }

    /// Replaces the type parameters of a signature.
    pub(crate) fn with_params(&mut self, ty: TypeId, params: &[TypeId]) -> TypeId {
        self.replaced(ty, &mut HashMap::new(), &|_, kind| match kind {
            Kind::Param(at) => Some((params.get(*at as usize).copied().unwrap_or(Types::DYN), false)),
            _ => None,
        })
    }

    /// Replaces bound type variables.
    pub fn resolved(&mut self, ty: TypeId) -> TypeId {
        self.replaced(ty, &mut HashMap::new(), &|unify, kind| match kind {
            Kind::Var(var) => unify.found(*var).map(|ty| (ty, true)),
            _ => None,
        })
    }

    /// Replaces type variables, unbound ones with `dyn`.
    pub fn settle(&mut self, types: &mut [TypeId]) {
        let mut done = HashMap::new();
        for ty in types {
            *ty = self.replaced(*ty, &mut done, &|unify, kind| match kind {
                Kind::Var(var) => Some(unify.found(*var).map_or((Types::DYN, false), |ty| (ty, true))),
                _ => None,
            });
        }
    }

    /// Replaces the leaves of a type. The flag of `by` asks to replace the replacement, too.
    fn replaced(&mut self, ty: TypeId, done: &mut HashMap<TypeId, TypeId>, by: &Replace<'_>) -> TypeId {
        if self.types.is_settled(ty) {
            return ty;
        }
        if let Some(&done) = done.get(&ty) {
            return done;
        }
        let new = self.deeper(Types::DYN, |unify| match by(unify, unify.types.kind(ty)) {
            Some((new, false)) => new,
            Some((new, true)) => unify.replaced(new, done, by),
            None => {
                let old = parts(unify.types.kind(ty));
                let mut new: Vec<_> = old.into_iter().map(|part| unify.replaced(part, done, by)).collect();
                new.reverse();
                unify.types.with_parts(ty, |_, part| new.pop().unwrap_or(part))
            }
        });
        done.insert(ty, new);
        new
    }
}

/// Returns the replacement of a leaf, and `true` to replace it, too.
type Replace<'r> = dyn Fn(&Unify, &Kind) -> Option<(TypeId, bool)> + 'r;

/// Returns `true` for a type whose values can be null.
fn may_be_null(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Nullable(_)
            | Kind::Optional(_)
            | Kind::Opaque(..)
            | Kind::Object(_)
            | Kind::Timestamp
            | Kind::Duration
            | Kind::Null
    )
}
