//! Programs specialised to inputs that are known before a render.
//!
//! An abstract interpreter runs a verified program with the known inputs, by the rows of the instruction table and the
//! rules of the language ([`Semantics`]). It emits a residual program: text is joined across what was computed,
//! conditions are decided, loops over known lists are unrolled, chunks are inlined. The residual passes the same
//! verifier and is built by the same constructor as any program.
//!
//! With inputs that agree with the known ones, a residual gives the same text, or the same error at the same place:
//!
//! * Only operations that neither fail nor record an error are computed ahead. All others stay where they were, in their
//!   order, and read the same values, because inputs stay bound and slots are set before they are read.
//! * A residual never uses more fuel, memory or depth than its original: a render that exceeds a limit may succeed once
//!   specialised, never the reverse.
//!
//! Errors in documents name the part that the code builds and the names that it sees. The residual keeps these regions; a
//! name whose value is known becomes a note with the value.
//!
//! A value that is known is not stored, pushed or written until code that stays needs it. Where branches meet, slots that
//! one of them changes hold their values, so that later code need not know which was taken.

mod fold;
mod guard;
mod handlers;
mod loops;
mod residual;
mod slots;
mod state;
mod steps;
mod walk;

pub use guard::{Admission, Demand, Guard};

use crate::bytecode::{Control, OpInfo, Place, Program};
use crate::function::{Caches, Capabilities, Cx, Linked};
use crate::vm::Semantics;
use dropforge_base::limits::Limits;
use dropforge_value::{Arena, Inputs, Map, Value};

/// Steps that specialising a program may take.
const FUEL: u64 = 50_000_000;

/// Bytes of values that specialising a program may create.
const MEMORY: u64 = 64 << 20;

/// The time that specialising a program may take.
pub const TIME: std::time::Duration = std::time::Duration::from_secs(2);

/// The size of a residual as a multiple of its original, in words.
const GROWTH: usize = 8;

/// Bytes of text that a residual may add to its original's.
const TEXT: usize = 4 << 20;

/// Returns the program specialised to `known`, or `None` if it cannot be specialised within the budgets. `limits` are
/// those of the renders.
pub fn specialise(
    rules: &dyn Semantics,
    program: &Program,
    linked: &Linked,
    known: &Known<'_>,
    limits: &Limits,
) -> Option<Program> {
    if program.start().mutable || is_beyond(program) {
        return None;
    }
    let budgets = Limits { fuel: FUEL, memory: MEMORY, time: Some(TIME), ..limits.clone() };
    let (arena, caches) = (Arena::new(), Caches::default());
    let none = Inputs::new(Value::Null);
    let cx = Cx::new(&arena, none, &budgets, Capabilities::NONE, &caches).with_lenient(program.start().lenient);
    walk::Specialiser::new(rules, program, linked, known, cx).residual()
}

/// Returns `true` if code of the program is metered, because a residual would cost less, or makes templates, which may call
/// chunks that a residual lacks.
fn is_beyond(program: &Program) -> bool {
    let code = program.code();
    let is_beyond = |info: &OpInfo| info.writes.contains(Place::Cost) || info.control == Control::MayCall;
    program.chunks().any(|chunk| code.instructions(chunk).any(|instruction| is_beyond(instruction.op.info())))
}

/// An input as far as it is known: a tree of paths.
///
/// ```
/// use dropforge::specialise::Known;
/// use dropforge::Value;
/// let cluster = Known::Fields(vec![("env", Known::Value(Value::Bool(true)))]);
/// assert!(matches!(cluster.field("env"), Known::Value(Value::Bool(true))));
/// assert!(matches!(cluster.field("name"), Known::Open));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Known<'v> {
    /// Nothing is known. Unlike an unknown value of a language, this is no value.
    #[default]
    Open,
    /// There is no value.
    Absent,
    /// The whole value is known.
    Value(Value<'v>),
    /// A string whose content is not known.
    Text,
    /// A map of which these entries are known. Nothing is known of others.
    Fields(Vec<(&'v str, Known<'v>)>),
    /// A map with exactly these entries, in this order.
    Entries(Vec<(&'v str, Known<'v>)>),
}

/// Nothing is known.
const OPEN: &Known<'static> = &Known::Open;

impl<'v> Known<'v> {
    /// Returns the top-level inputs of a map, all known but those with numbers that only some languages hold. Nothing is known
    /// of other names.
    pub fn of_map(map: &'v Map<'v>) -> Self {
        let known = map.iter().filter(|(_, value)| !value.is_long());
        Known::Fields(known.map(|(name, value)| (name, Known::Value(value))).collect())
    }

    /// Returns the entry of a map of known fields.
    pub fn field(&self, name: &str) -> &Known<'v> {
        let (Known::Fields(fields) | Known::Entries(fields)) = self else { return OPEN };
        fields.iter().find(|(field, _)| *field == name).map_or(OPEN, |(_, known)| known)
    }
}
