//! The abstract state at a place of the program.

use std::rc::Rc;

use smallvec::SmallVec;

use super::residual::{Piece, TableLengths};
use super::walk::ChunkFrame;
use dropforge_value::Value;

/// An instruction to emit: its words, and the word of the original for its position.
#[derive(Debug, Clone)]
pub(super) struct Instr {
    pub words: SmallVec<[u32; 4]>,
    pub at: u32,
}

/// A step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ValueStep {
    /// An attribute, by its string id.
    Attr(u32),
    /// An index of a list.
    Index(u32),
}

/// Code that pushes a known value. It never fails and costs no fuel, except for calls.
#[derive(Debug, Clone)]
pub(super) enum Recipe {
    /// A constant.
    Constant(Instr),
    /// A part of a top-level input.
    Input(u32, Rc<[ValueStep]>),
    /// The value of a slot of the residual's frame.
    Slot(u32),
    /// The instructions of an expression, which may call functions.
    Code(Rc<[Instr]>),
}

/// A known value.
#[derive(Debug, Clone)]
pub(super) struct Fixed<'v> {
    pub value: Value<'v>,
    pub recipe: Recipe,
}

/// A part of a top-level input: a string that is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alias {
    pub global: u32,
    pub steps: Rc<[ValueStep]>,
}

/// An item of an unrolled loop: a key or a value.
#[derive(Debug, Clone)]
pub(super) enum Item<'v> {
    Known(Fixed<'v>),
    Open(Alias),
}

/// A value on the stack.
#[derive(Debug, Clone)]
pub(super) enum StackEntry<'v> {
    /// Known, and not pushed. Only known values are above it.
    Known(Fixed<'v>),
    /// On the stack of the residual.
    Pushed,
}

/// The content of a slot in the residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// Never set.
    Blank,
    /// The slot's value.
    Same,
    /// Any value.
    Stale,
}

/// A slot.
#[derive(Debug, Clone)]
pub(super) struct Slot<'v> {
    /// The value, if it is known. Otherwise it is in the residual's slot, or in an input.
    pub known: Option<Fixed<'v>>,
    pub alias: Option<Alias>,
    pub home: Home,
}

impl Slot<'_> {
    /// A slot whose value is only in the residual.
    pub const OPEN: Self = Slot { known: None, alias: None, home: Home::Same };

    /// Returns `true` if the residual's slot holds the value.
    pub fn is_in_place(&self) -> bool {
        match &self.known {
            Some(fixed) => self.home == Home::Same || self.home == Home::Blank && fixed.value.is_undefined(),
            None => self.alias.is_none() || self.home == Home::Same,
        }
    }
}

/// The items of an unrolled loop, with one or two values each.
pub(super) type Items<'v> = Rc<[SmallVec<[Item<'v>; 2]>]>;

/// A loop that runs.
#[derive(Debug, Clone)]
pub(super) enum RunningLoop<'v> {
    /// Unrolled: its items, the number of items begun, and the start of its body.
    Unrolled(Items<'v>, usize, u32),
    /// A loop of the residual.
    Kept(Rc<KeptLoop<'v>>),
}

/// A loop that stays.
#[derive(Debug)]
pub(super) struct KeptLoop<'v> {
    /// The word of the original's `iter`, and the word after the loop.
    pub at: u32,
    pub end: u32,
    /// The nesting of inlined chunks and of handlers around it.
    pub depth: usize,
    pub handled: usize,
    /// The first words of its body, in the original and in the residual.
    pub body: [u32; 2],
    /// The state before it, to copy it as it is if its body grows.
    pub before: Snapshot<'v>,
}

/// Text that is not written yet: that of the output, or of an open capture.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingText {
    pub text: String,
    pub pieces: Vec<Piece>,
    /// The word of the original that opens the capture, unless the residual has opened it.
    pub unopened: Option<u32>,
}

/// Text to write at once.
#[derive(Debug)]
pub(super) struct Joined {
    pub text: String,
    pub pieces: Vec<Piece>,
}

impl Joined {
    /// Returns the source of its pieces.
    pub fn source(&self) -> Option<u32> {
        self.pieces.first().and_then(|piece| piece.place).map(|place| place.source)
    }
}

impl PendingText {
    /// Returns the text in parts that come from one source each.
    pub fn parts(self) -> Vec<Joined> {
        let mut parts: Vec<Joined> = Vec::new();
        for (nth, piece) in self.pieces.iter().enumerate() {
            let end = self.pieces.get(nth + 1).map_or(self.text.len(), |next| next.start);
            let text = self.text.get(piece.start..end).unwrap_or("");
            let source = piece.place.map(|place| place.source);
            match parts.last_mut().filter(|last| last.source() == source) {
                Some(last) => {
                    last.pieces.push(Piece { start: last.text.len(), ..*piece });
                    last.text.push_str(text);
                }
                None => parts.push(Joined { text: text.to_owned(), pieces: vec![Piece { start: 0, ..*piece }] }),
            }
        }
        parts
    }
}

/// The abstract state.
#[derive(Debug, Clone, Default)]
pub(super) struct AbstractState<'v> {
    pub slots: Vec<Slot<'v>>,
    pub stack: Vec<StackEntry<'v>>,
    pub loops: Vec<RunningLoop<'v>>,
    /// The output, then the open captures.
    pub texts: Vec<PendingText>,
    /// The number of open gatherings.
    pub gatherings: u32,
}

impl AbstractState<'_> {
    /// Returns the number of open captures of text and of values.
    pub fn captures(&self) -> u32 {
        u32::try_from(self.texts.len().saturating_sub(1)).unwrap_or(u32::MAX).saturating_add(self.gatherings)
    }
}

/// A place where jumps meet.
#[derive(Debug, Clone)]
pub(super) struct Join<'v> {
    pub state: AbstractState<'v>,
    /// The words and operands of the residual that hold its label.
    pub labels: Vec<(usize, usize)>,
}

/// What is needed to go back to an earlier place.
#[derive(Debug, Clone)]
pub(super) struct Snapshot<'v> {
    pub mark: TableLengths,
    pub state: AbstractState<'v>,
    pub frame: Rc<ChunkFrame<'v>>,
    pub depth: usize,
    pub credit: u32,
}

/// Returns `true` if two values are the same for every instruction.
pub(super) fn same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Str(a), Value::Str(b)) => a.as_str() == b.as_str(),
        (Value::List(a), Value::List(b)) => std::ptr::eq(a, b),
        (Value::Map(a), Value::Map(b)) => std::ptr::eq(a, b),
        (Value::Extended(a), Value::Extended(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}
