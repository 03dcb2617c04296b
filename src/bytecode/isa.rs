//! The instruction set: one table, and everything that is read off it (opcodes, operands, stack effects, the
//! languages that may use an instruction, documentation). Data only; what an instruction does is in `vm`.

use std::fmt::Write as _;

use super::header::Dialects;

/// What an operand means; the disassembler prints it accordingly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Index of a string.
    Str,
    /// Index of a number constant.
    Num,
    /// A small integer with sign.
    Int,
    /// A [`Literal`].
    Lit,
    /// A slot of the frame.
    Slot,
    /// Offset of a path in its table.
    Path,
    /// Offset of a call site in its table.
    Site,
    /// Index of an import.
    Import,
    /// Offset of the keys of a map in their table.
    Keys,
    /// A place for an answer that stays the same for the whole render.
    Memo,
    /// Offset of a scope in its table, or 0 for none.
    Scope,
    /// Index of a chunk.
    Chunk,
    /// Offset of a failure in its table.
    Fail,
    /// An [`EscapeMode`].
    Mode,
    /// A [`Role`].
    Role,
    /// A [`Test`].
    Test,
    /// A [`Claim`].
    Claim,
    /// A number of things.
    Count,
    /// A place in the code to jump to.
    Label,
}

/// How many values an instruction takes off the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pops {
    /// Always this many.
    Fixed(u8),
    /// As many as operand 0 says.
    Count,
    /// As many as the path has computed segments.
    PathIndexes,
    /// As many as the call site has arguments.
    Arguments,
    /// As many as there are keys.
    Keys,
    /// As many as the chunk has parameters.
    Parameters,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct OpInfo {
    /// The opcode.
    pub op: Op,
    /// The name in listings.
    pub name: &'static str,
    /// What the operands mean.
    pub operands: &'static [Operand],
    /// Values taken off the stack.
    pub pops: Pops,
    /// Values put on the stack, where the code goes on behind the instruction.
    pub pushes: u8,
    /// The languages that may use it.
    pub dialects: Dialects,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

macro_rules! isa {
    ($($op:ident $name:literal ($($operand:ident),*) $pops:expr => $pushes:literal $dialects:literal $doc:literal;)*) => {
        /// An opcode.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op { $(#[doc = $doc] $op,)* }

        /// The whole instruction set, in the order of the opcodes.
        pub const ISA: &[OpInfo] = &[$(OpInfo {
            op: Op::$op,
            name: $name,
            operands: &[$(Operand::$operand),*],
            pops: $pops,
            pushes: $pushes,
            dialects: Dialects::of($dialects),
            doc: $doc,
        },)*];
    };
}

use Pops::{Arguments, Count, Fixed, Keys, Parameters, PathIndexes};

isa! {
    Str           "str"            (Str)          Fixed(0)    => 1 "THC" "Push a string.";
    Num           "num"            (Num)          Fixed(0)    => 1 "THC" "Push a number constant.";
    Int           "int"            (Int)          Fixed(0)    => 1 "THC" "Push a small integer.";
    Lit           "lit"            (Lit)          Fixed(0)    => 1 "THC" "Push undefined, null, false or true.";
    Pop           "pop"            ()             Fixed(1)    => 0 "THC" "Drop the top.";
    LoadPath      "load_path"      (Path)         PathIndexes => 1 "THC" "Push what a path names; a missing one is the language's to judge.";
    PeekPath      "peek_path"      (Path)         PathIndexes => 1 "THC" "Push what a path names, or undefined.";
    EmitPath      "emit_path"      (Path, Mode)   PathIndexes => 0 "WTH" "Write what a path names.";
    TextPath      "text_path"      (Path, Mode, Str) PathIndexes => 0 "WTH" "Write a string, then what a path names.";
    StoreSlot     "store_slot"     (Slot)         Fixed(1)    => 0 "THC" "Set a slot.";
    ClearSlots    "clear_slots"    (Slot, Count)  Fixed(0)    => 0 "TH" "Unset a run of slots.";
    Not           "not"            ()             Fixed(1)    => 1 "THC" "Negate a truth value.";
    Add           "add"            ()             Fixed(2)    => 1 "THC" "Add.";
    Sub           "sub"            ()             Fixed(2)    => 1 "THC" "Subtract.";
    Mul           "mul"            ()             Fixed(2)    => 1 "THC" "Multiply.";
    Div           "div"            ()             Fixed(2)    => 1 "THC" "Divide.";
    Rem           "rem"            ()             Fixed(2)    => 1 "THC" "Remainder.";
    Eq            "eq"             ()             Fixed(2)    => 1 "THC" "Compare for equality.";
    Ne            "ne"             ()             Fixed(2)    => 1 "THC" "Compare for inequality.";
    Lt            "lt"             ()             Fixed(2)    => 1 "THC" "Compare: less.";
    Le            "le"             ()             Fixed(2)    => 1 "THC" "Compare: less or equal.";
    Gt            "gt"             ()             Fixed(2)    => 1 "THC" "Compare: greater.";
    Ge            "ge"             ()             Fixed(2)    => 1 "THC" "Compare: greater or equal.";
    In            "in"             ()             Fixed(2)    => 1 "TC"  "Whether the one below the top is in the top.";
    Join          "join"           (Count)        Count       => 1 "THC" "Join values as text.";
    As            "as"             (Role)         Fixed(1)    => 1 "THC" "Replace the top by what it is in a role; the language says how, or that it has none.";
    List          "list"           (Count)        Count       => 1 "THC" "Make a list.";
    Map           "map"            (Keys)         Keys        => 1 "HC"  "Make a map of constant keys.";
    Scope         "scope"          (Scope)        Fixed(0)    => 1 "T"  "Push a map of all names visible here.";
    Jump          "jump"           (Label)        Fixed(0)    => 0 "THC" "Go on elsewhere.";
    JumpIf        "jump_if"        (Label)        Fixed(1)    => 0 "THC" "Take the top; go on elsewhere when it is true.";
    JumpUnless    "jump_unless"    (Label)        Fixed(1)    => 0 "THC" "Take the top; go on elsewhere when it is not true.";
    JumpTest      "jump_test"      (Path, Str, Test, Label) PathIndexes => 0 "THC" "Compare what a path names with a string; go on elsewhere when the answer is as wanted.";
    JumpIs        "jump_is"        (Lit, Label)   Fixed(1)    => 1 "C" "Go on elsewhere when the top is this; it stays.";
    JumpPresent   "jump_present"   (Label)        Fixed(1)    => 0 "THC" "Go on elsewhere with the top when it is present, else drop it.";
    Iter          "iter"           (Count, Slot, Label) Fixed(1) => 0 "THC" "Open a loop over the top with one or two slots and set them to the first item; go on elsewhere when there is none.";
    Next          "next"           (Slot, Label)  Fixed(0)    => 0 "THC" "Set the loop's slots to the next item and go back; close the loop when there is none.";
    EndIter       "end_iter"       ()             Fixed(0)    => 0 "THC" "Close the innermost loop.";
    Call          "call"           (Site)         Arguments   => 1 "THC" "Call an imported function.";
    CallMemo      "call_memo"      (Site, Memo)   Arguments   => 1 "THC" "Call an imported function whose answer cannot change during a render, once.";
    Apply         "apply"          (Count, Import) Count      => 1 "HC"  "Call an imported function with a value for each of its parameters, in their order.";
    CallChunk     "call_chunk"     (Chunk, Scope) Parameters  => 0 "THC" "Run a chunk in a frame of its own; with a scope it sees the caller's names.";
    Return        "return"         ()             Fixed(0)    => 0 "WTHC" "Leave the chunk.";
    Fail          "fail"           (Fail)         Fixed(0)    => 0 "THC" "Raise a failure.";
    Text          "text"           (Str)          Fixed(0)    => 0 "WTH" "Write a string.";
    Emit          "emit"           (Mode)         Fixed(1)    => 0 "TH" "Write the top.";
    Capture       "capture"        ()             Fixed(0)    => 0 "TH" "Hold back what is written from here.";
    EndCapture    "end_capture"    ()             Fixed(0)    => 1 "TH" "Push what was held back as text.";
    Neg           "neg"            ()             Fixed(1)    => 1 "HC"  "Negate a number.";
    Mark          "mark"           ()             Fixed(0)    => 1 "H"  "Push how many errors were noted so far.";
    MarkSlot      "mark_slot"      (Slot)         Fixed(0)    => 0 "HC"  "Set a slot to how many errors were noted so far.";
    And           "and"            (Slot)         Fixed(2)    => 1 "HC"  "Whether both are true; the slot and the next one say how many errors were noted before each.";
    Or            "or"             (Slot)         Fixed(2)    => 1 "HC"  "Whether one is true; the slot and the next one say how many errors were noted before each.";
    Fault         "fault"          (Fail)         Fixed(0)    => 1 "H"  "Note a failure, and push what the language goes on with.";
    Gather        "gather"         ()             Fixed(0)    => 0 "HC"  "Begin to gather values.";
    Keep          "keep"           ()             Fixed(1)    => 0 "HC"  "Add the top to what is gathered.";
    EndGather     "end_gather"     ()             Fixed(0)    => 1 "HC"  "Push a list of what was gathered.";
    Answer        "answer"         ()             Fixed(1)    => 0 "HC"  "Take the top as the answer.";
    Answered      "answered"       ()             Fixed(0)    => 1 "C"   "Push the answer that was given last.";
    ListSome      "list_some"      (Count)        Count       => 1 "C"   "Make a list, each value as it is in the role of a value; without those that are undefined then.";
    MapSome       "map_some"       (Keys)         Keys        => 1 "C"   "Make a map of constant keys, each value as it is in the role of a value; without those that are undefined then.";
    KeepSome      "keep_some"      ()             Fixed(1)    => 0 "C"   "Add the top, as it is in the role of a value, to what is gathered, unless it is undefined then.";
    KeepEntry     "keep_entry"     (Claim)        Fixed(2)    => 0 "C"   "The same with an entry: a key, and its value on top.";
    KeepEntries   "keep_entries"   (Claim)        Fixed(1)    => 0 "C"   "The same with every entry of the map on top.";
    EndEntries    "end_entries"    ()             Fixed(0)    => 1 "C"   "Push a map of the entries that were gathered.";
    Meter         "meter"          (Count)        Fixed(0)    => 0 "C"   "Add to what the run costs.";
    Measure       "measure"        (Count, Count) Fixed(0)    => 0 "C"   "Add to what the run costs what the language says of the topmost values, which stay: by this of its rules, so many of them.";
    Raise         "raise"          (Slot)         Fixed(0)    => 0 "C"   "Raise the first error that was noted since there were as many as the slot says, if any was.";
}

/// Opcode bytes to opcodes; bytes that are none are [`Op::Return`], which the verifier never lets through.
const DECODE: [Op; 256] = {
    let mut table = [Op::Return; 256];
    let mut at = 0;
    while at < ISA.len() {
        table[at] = ISA[at].op;
        at += 1;
    }
    table
};

impl Op {
    /// The opcode of a word.
    #[inline(always)]
    pub fn of(word: u32) -> Op {
        DECODE[(word & 0xFF) as usize]
    }

    /// The opcode's row in the table.
    pub fn info(self) -> &'static OpInfo {
        &ISA[self as usize]
    }

    /// How many words the instruction takes.
    pub fn words(self) -> usize {
        self.info().operands.len().max(1)
    }

    /// Whether the code never goes on behind the instruction.
    pub const fn ends(self) -> bool {
        matches!(self, Op::Jump | Op::Return | Op::Fail)
    }
}

/// What [`Op::Lit`] pushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Literal {
    /// Undefined.
    Undefined,
    /// Null.
    Null,
    /// False.
    False,
    /// True.
    True,
}

/// How a value becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EscapeMode {
    /// As it is.
    Plain,
    /// As a piece of a joined text.
    Piece,
    /// Escaped for HTML.
    Html,
    /// As one word of a POSIX shell.
    Shell,
}

impl EscapeMode {
    /// The mode of an operand.
    #[inline(always)]
    pub fn of(operand: u32) -> EscapeMode {
        match operand {
            0 => EscapeMode::Plain,
            1 => EscapeMode::Piece,
            2 => EscapeMode::Html,
            _ => EscapeMode::Shell,
        }
    }

    /// The name in listings.
    pub fn name(self) -> &'static str {
        match self {
            EscapeMode::Plain => "plain",
            EscapeMode::Piece => "piece",
            EscapeMode::Html => "html",
            EscapeMode::Shell => "shell",
        }
    }

    /// Whether text is written as it is in the mode of an operand.
    #[inline(always)]
    pub(crate) fn writes_as_is(operand: u32) -> bool {
        operand <= EscapeMode::Piece as u32
    }
}

/// What a value is used as where its type alone does not say what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The result of a calculation that becomes a value.
    Value,
    /// A value whose text is escaped for HTML from here on.
    Html,
    /// The answer to a question that only a boolean answers.
    Answer,
    /// Text that is tested for being there.
    Text,
}

impl Role {
    /// The role of an operand.
    #[inline(always)]
    pub fn of(operand: u32) -> Role {
        match operand {
            0 => Role::Value,
            1 => Role::Html,
            2 => Role::Answer,
            _ => Role::Text,
        }
    }

    /// The name in listings.
    pub fn name(self) -> &'static str {
        match self {
            Role::Value => "value",
            Role::Html => "html",
            Role::Answer => "answer",
            Role::Text => "text",
        }
    }
}

/// What an entry of a map says to another one of the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Claim {
    /// It stays; a second one that stays is an error.
    Stays,
    /// It gives way to one that stays, and to a later one.
    Yields,
}

impl Claim {
    /// The claim of an operand.
    #[inline(always)]
    pub fn of(operand: u32) -> Claim {
        if operand == Claim::Stays as u32 { Claim::Stays } else { Claim::Yields }
    }

    /// The name in listings.
    pub fn name(self) -> &'static str {
        match self {
            Claim::Stays => "stays",
            Claim::Yields => "yields",
        }
    }
}

/// A comparison for equality and the answer to it that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// Whether the comparison is for inequality: where values of two kinds are compared, that may not be the
    /// opposite of equality.
    pub unequal: bool,
    /// The answer that is wanted.
    pub wanted: bool,
}

impl Test {
    /// Every test, in the order of the operands.
    pub const ALL: [Test; 4] = [
        Test { unequal: false, wanted: false },
        Test { unequal: true, wanted: false },
        Test { unequal: false, wanted: true },
        Test { unequal: true, wanted: true },
    ];

    /// The operand.
    pub fn operand(self) -> u32 {
        u32::from(self.unequal) | u32::from(self.wanted) << 1
    }

    /// The test of an operand.
    #[inline(always)]
    pub fn of(operand: u32) -> Test {
        Test { unequal: operand & 1 != 0, wanted: operand & 2 != 0 }
    }

    /// The name in listings.
    pub fn name(self) -> &'static str {
        match (self.unequal, self.wanted) {
            (false, false) => "unless_eq",
            (true, false) => "unless_ne",
            (false, true) => "if_eq",
            (true, true) => "if_ne",
        }
    }
}

/// What a path can read of a running loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LoopField {
    /// Turns begun, from 1.
    Index,
    /// Turns ended, from 0.
    Index0,
    /// Whether this is the first turn.
    First,
    /// Whether this is the last turn.
    Last,
}

impl LoopField {
    /// Every field.
    pub const ALL: [LoopField; 4] = [LoopField::Index, LoopField::Index0, LoopField::First, LoopField::Last];

    /// The name in listings and in templates.
    pub fn name(self) -> &'static str {
        match self {
            LoopField::Index => "index",
            LoopField::Index0 => "index0",
            LoopField::First => "first",
            LoopField::Last => "last",
        }
    }
}

/// An operator of two values; a language's `Semantics` says what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
}

impl BinaryOp {
    /// The instruction that applies the operator.
    pub fn op(self) -> Op {
        match self {
            BinaryOp::Add => Op::Add,
            BinaryOp::Sub => Op::Sub,
            BinaryOp::Mul => Op::Mul,
            BinaryOp::Div => Op::Div,
            BinaryOp::Rem => Op::Rem,
            BinaryOp::Eq => Op::Eq,
            BinaryOp::Ne => Op::Ne,
            BinaryOp::Lt => Op::Lt,
            BinaryOp::Le => Op::Le,
            BinaryOp::Gt => Op::Gt,
            BinaryOp::Ge => Op::Ge,
            BinaryOp::In => Op::In,
        }
    }
}

/// The instruction set as a Markdown table, for the README.
pub fn isa_table() -> String {
    let mut table = String::from("| instruction | operands | stack | languages | meaning |\n|---|---|---|---|---|\n");
    for info in ISA {
        let operands: Vec<_> = info.operands.iter().map(|operand| format!("{operand:?}").to_lowercase()).collect();
        let pops = match info.pops {
            Pops::Fixed(n) => n.to_string(),
            Pops::Count => "n".to_owned(),
            Pops::PathIndexes => "indexes".to_owned(),
            Pops::Arguments => "arguments".to_owned(),
            Pops::Keys => "keys".to_owned(),
            Pops::Parameters => "parameters".to_owned(),
        };
        let (name, pushes, dialects, doc) = (info.name, info.pushes, info.dialects, info.doc);
        let _ = writeln!(table, "| `{name}` | {} | {pops} → {pushes} | {dialects} | {doc} |", operands.join(", "));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::Dialect;
    use super::*;

    #[test]
    fn every_opcode_decodes_to_itself_and_belongs_to_a_language() {
        for (at, info) in ISA.iter().enumerate() {
            assert_eq!(info.op as usize, at);
            assert_eq!(Op::of(at as u32), info.op);
            assert!(Dialect::ALL.into_iter().any(|dialect| info.dialects.contains(dialect)), "{}", info.name);
        }
    }
}
