//! The instruction set: one table for the emitter, the verifier, the machine, listings and documentation.
//!
//! A row describes everything about an instruction except its implementation, which is in `vm`: operands, effect on the
//! stack, effect on control flow, the state it reads and writes, whether it can fail, and the languages that may use it.

use std::fmt::Write as _;

use super::header::Dialects;
use super::operands::{Operand, choice};
use super::places::{Fails, Places};

/// The number of values that an instruction pops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pops {
    /// A fixed number.
    Fixed(u8),
    /// The number given by the first operand: a count, the computed indexes of a path, the arguments of a call site,
    /// the keys of a map, or the parameters of a chunk.
    Operand,
}

choice! {
    /// The effect of an instruction on control flow and on open blocks: loops, captured output, gathered values.
    ///
    /// The label, if there is one, is the last operand.
    Control {
        /// Continues with the next instruction.
        Plain "",
        /// Runs a chunk, then continues with the next instruction.
        Call "call",
        /// Runs a chunk or not, then continues with the next instruction.
        MayCall "may call",
        /// Continues at the label.
        Jump "jump",
        /// Continues at the label or with the next instruction.
        Branch "branch",
        /// Continues at the label with the top value still on the stack, or with the next instruction without it.
        BranchWithTop "branch with the top",
        /// Opens a loop, or continues at the label if there are no items.
        OpenLoop "open a loop",
        /// Continues at the label with the next item of the innermost loop, or closes it.
        NextItem "next item",
        /// Closes the innermost loop.
        CloseLoop "close a loop",
        /// Opens a capture of output.
        OpenText "open a capture",
        /// Closes a capture of output.
        CloseText "close a capture",
        /// Opens a block that gathers values.
        OpenValues "open a gathering",
        /// Closes a block that gathers values.
        CloseValues "close a gathering",
        /// Adds to the innermost gathered values.
        Gather "gather",
        /// Leaves the chunk.
        Return "return",
        /// Raises an error.
        Fail "fail",
    }
}

impl Control {
    /// Returns `true` if the instruction may run a chunk.
    #[inline]
    pub const fn calls(self) -> bool {
        matches!(self, Control::Call | Control::MayCall)
    }

    /// Returns `true` if control never reaches the next instruction.
    #[inline(always)]
    pub const fn ends(self) -> bool {
        matches!(self, Control::Jump | Control::Return | Control::Fail)
    }
}

/// A row of the instruction table.
#[derive(Debug, Clone, Copy)]
pub struct OpInfo {
    /// The opcode.
    pub op: Op,
    /// The name in listings.
    pub name: &'static str,
    /// The kinds of the operands.
    pub operands: &'static [Operand],
    /// Values popped.
    pub pops: Pops,
    /// Values pushed before the next instruction.
    pub pushes: u8,
    /// The effect on control flow and open blocks.
    pub control: Control,
    /// The state that it reads, besides its operands and the stack.
    pub reads: Places,
    /// The state that it changes, besides the stack and open blocks. Those of a called chunk are in its own code.
    pub writes: Places,
    /// The errors that it may end in.
    pub fails: Fails,
    /// The languages that may use it.
    pub dialects: Dialects,
    /// One sentence of documentation, in the imperative.
    pub doc: &'static str,
}

macro_rules! isa {
    (@pops n) => { Pops::Operand };
    (@pops $pops:literal) => { Pops::Fixed($pops) };
    ($($op:ident $name:literal ($($operand:ident),*) $pops:tt => $pushes:literal $control:ident
        $reads:literal $writes:literal $fails:ident $dialects:literal $doc:literal;)*) => {
        /// An opcode.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op { $(#[doc = $doc] $op,)* }

        /// The instruction set, in opcode order.
        pub const ISA: &[OpInfo] = &[$(OpInfo {
            op: Op::$op,
            name: $name,
            operands: &[$(Operand::$operand),*],
            pops: isa!(@pops $pops),
            pushes: $pushes,
            control: Control::$control,
            reads: Places::of($reads),
            writes: Places::of($writes),
            fails: Fails::$fails,
            dialects: Dialects::of($dialects),
            doc: $doc,
        },)*];
    };
}

isa! {
    Str         "str"           (Str)                      0 => 1 Plain                ""      ""     Never  "THCG"  "Push a string.";
    Num         "num"           (Num)                      0 => 1 Plain                ""      ""     Never  "THCG"  "Push a number constant.";
    Int         "int"           (Int)                      0 => 1 Plain                ""      ""     Never  "THCG"  "Push a small integer.";
    Lit         "lit"           (Lit)                      0 => 1 Plain                ""      ""     Never  "THCG"  "Push undefined, null, false or true.";
    Pop         "pop"           ()                         1 => 0 Plain                ""      ""     Never  "THCG"  "Discard the top value.";
    LoadPath    "load_path"     (Path)                     n => 1 Plain                "SILC"  "N"    Error  "THCG"  "Push the value at a path. A missing path calls `Semantics::missing`.";
    PeekPath    "peek_path"     (Path)                     n => 1 Plain                "SILC"  "N"    Error  "THCG"  "Push the value at a path, or undefined if it is missing.";
    EmitPath    "emit_path"     (Path, Mode)               n => 0 Plain                "SILC"  "ON"   Error  "WTHG"  "Write the value at a path.";
    TextPath    "text_path"     (Path, Mode, Str)          n => 0 Plain                "SILC"  "ON"   Error  "WTHG"  "Write a string, then the value at a path.";
    StoreSlot   "store_slot"    (Slot)                     1 => 0 Plain                ""      "S"    Never  "THCG"  "Pop the top value into a slot.";
    ClearSlots  "clear_slots"   (SlotRun, Count)           0 => 0 Plain                ""      "S"    Never  "TH"    "Unset a run of slots.";
    Not         "not"           ()                         1 => 1 Plain                ""      "N"    Error  "THCG"  "Negate a boolean.";
    Add         "add"           ()                         2 => 1 Plain                ""      "N"    Error  "THC"   "Add.";
    Sub         "sub"           ()                         2 => 1 Plain                ""      "N"    Error  "THC"   "Subtract.";
    Mul         "mul"           ()                         2 => 1 Plain                ""      "N"    Error  "THC"   "Multiply.";
    Div         "div"           ()                         2 => 1 Plain                ""      "N"    Error  "THC"   "Divide.";
    Rem         "rem"           ()                         2 => 1 Plain                ""      "N"    Error  "THC"   "Take the remainder.";
    Eq          "eq"            ()                         2 => 1 Plain                ""      "N"    Error  "THCG"  "Test for equality.";
    Ne          "ne"            ()                         2 => 1 Plain                ""      "N"    Error  "THCG"  "Test for inequality.";
    Lt          "lt"            ()                         2 => 1 Plain                ""      "N"    Error  "THCG"  "Test for less than.";
    Le          "le"            ()                         2 => 1 Plain                ""      "N"    Error  "THCG"  "Test for less than or equal.";
    Gt          "gt"            ()                         2 => 1 Plain                ""      "N"    Error  "THCG"  "Test for greater than.";
    Ge          "ge"            ()                         2 => 1 Plain                ""      "N"    Error  "THCG"  "Test for greater than or equal.";
    In          "in"            ()                         2 => 1 Plain                ""      ""     Error  "TC"    "Test whether the top value contains the one below it.";
    Join        "join"          (Count)                    n => 1 Plain                ""      "N"    Error  "THC"   "Concatenate values as text.";
    As          "as"            (Role)                     1 => 1 Plain                ""      "N"    Error  "THCG"  "Convert the top value to a role, as the language defines it.";
    List        "list"          (Count)                    n => 1 Plain                ""      ""     Limit  "THCG"  "Build a list.";
    Map         "map"           (Keys)                     n => 1 Plain                ""      ""     Limit  "HC"    "Build a map with constant keys.";
    Scope       "scope"         (Scope)                    0 => 1 Plain                "SILC"  ""     Limit  "TG"    "Push a map of all visible names.";
    Jump        "jump"          (Label)                    0 => 0 Jump                 ""      ""     Limit  "THCG"  "Jump.";
    JumpIf      "jump_if"       (Label)                    1 => 0 Branch               ""      "N"    Error  "THCG"  "Pop the top value. Jump if it is true.";
    JumpUnless  "jump_unless"   (Label)                    1 => 0 Branch               ""      "N"    Error  "THCG"  "Pop the top value. Jump unless it is true.";
    JumpTest    "jump_test"     (Path, Str, Test, Label)   n => 0 Branch               "SILC"  "N"    Error  "THCG"  "Compare the value at a path with a string. Jump if the test holds.";
    JumpIs      "jump_is"       (Lit, Label)               1 => 1 Branch               ""      ""     Limit  "C"     "Jump if the top value is a literal, leaving it on the stack.";
    JumpPresent "jump_present"  (Label)                    1 => 0 BranchWithTop        ""      ""     Limit  "THC"   "Jump if the top value is present, leaving it on the stack. Otherwise discard it.";
    Iter        "iter"          (Names, LoopSlots, Label)  1 => 0 OpenLoop             ""      "SLN"  Error  "THCG"  "Pop the top value and open a loop over it with its first item in one or two slots. Jump if there are no items.";
    Next        "next"          (LoopSlots, Label)         0 => 0 NextItem             "L"     "SL"   Limit  "THCG"  "Put the next item into the loop's slots and jump back. Close the loop if there are no more items.";
    EndIter     "end_iter"      ()                         0 => 0 CloseLoop            "L"     "L"    Never  "THCG"  "Close the innermost loop.";
    Call        "call"          (Site)                     n => 1 Plain                "N"     "N"    Error  "THCG"  "Call an imported function.";
    CallMemo    "call_memo"     (Site, Memo)               n => 1 Plain                "MN"    "MN"   Error  "THCG"  "Call an imported function once in a render and reuse its result.";
    Apply       "apply"         (Count, Import)            n => 1 Plain                "N"     "N"    Error  "HC"    "Call an imported function with one value for each parameter, in their order.";
    CallChunk   "call_chunk"    (Chunk, Scope)             n => 0 Call                 ""      ""     Limit  "THCG"  "Run a chunk in a frame of its own. With a scope, it sees the caller's names.";
    Return      "return"        ()                         0 => 0 Return               ""      ""     Never  "WTHCG" "Leave the chunk.";
    Fail        "fail"          (Fail)                     0 => 0 Fail                 ""      ""     Error  "THCG"  "Raise a failure.";
    Text        "text"          (Str)                      0 => 0 Plain                ""      "O"    Limit  "WTHG"  "Write a string.";
    Emit        "emit"          (Mode)                     1 => 0 Plain                ""      "ON"   Error  "THG"   "Pop the top value and write it.";
    Capture     "capture"       ()                         0 => 0 OpenText             ""      ""     Never  "THG"   "Start capturing output.";
    EndCapture  "end_capture"   ()                         0 => 1 CloseText            "O"     "O"    Limit  "THG"   "Stop capturing output and push it as text.";
    Neg         "neg"           ()                         1 => 1 Plain                ""      "N"    Error  "HC"    "Negate a number.";
    Mark        "mark"          ()                         0 => 1 Plain                "N"     ""     Never  "H"     "Push the number of errors recorded so far.";
    MarkSlot    "mark_slot"     (Slot)                     0 => 0 Plain                "N"     "S"    Never  "HC"    "Put the number of errors recorded so far into a slot.";
    And         "and"           (SlotPair)                 2 => 1 Plain                "SN"    "N"    Error  "HC"    "Test whether both values are true. The slots hold the numbers of errors recorded before each.";
    Or          "or"            (SlotPair)                 2 => 1 Plain                "SN"    "N"    Error  "HC"    "Test whether either value is true. The slots hold the numbers of errors recorded before each.";
    Fault       "fault"         (Fail)                     0 => 1 Plain                ""      "N"    Error  "H"     "Record a failure and push the language's recovery value.";
    Gather      "gather"        ()                         0 => 0 OpenValues           ""      ""     Never  "HCG"   "Start gathering values.";
    Keep        "keep"          ()                         1 => 0 Gather               ""      "G"    Limit  "HCG"   "Pop the top value and gather it.";
    EndGather   "end_gather"    ()                         0 => 1 CloseValues          "G"     "G"    Limit  "HCG"   "Stop gathering and push the gathered values as a list.";
    Answer      "answer"        ()                         1 => 0 Plain                ""      "R"    Never  "HCG"   "Pop the top value as the result of the run.";
    Answered    "answered"      ()                         0 => 1 Plain                "R"     ""     Never  "C"     "Push the latest result.";
    ListSome    "list_some"     (Count)                    n => 1 Plain                ""      ""     Error  "C"     "Build a list of the values in the role of a value, leaving out undefined ones.";
    MapSome     "map_some"      (Keys)                     n => 1 Plain                ""      ""     Error  "C"     "Build a map with constant keys of the values in the role of a value, leaving out undefined ones.";
    KeepSome    "keep_some"     ()                         1 => 0 Gather               ""      "G"    Error  "C"     "Pop the top value and gather it in the role of a value, unless it is undefined.";
    KeepEntry   "keep_entry"    (Claim)                    2 => 0 Gather               ""      "G"    Error  "C"     "Pop a key and its value and gather them as an entry, unless the value is undefined.";
    KeepEntries "keep_entries"  (Claim)                    1 => 0 Gather               ""      "G"    Error  "C"     "Pop a map and gather its entries.";
    EndEntries  "end_entries"   ()                         0 => 1 CloseValues          "G"     "G"    Error  "C"     "Stop gathering and push the gathered entries as a map.";
    Meter       "meter"         (Count)                    0 => 0 Plain                ""      ""     Limit  "C"     "Charge a constant cost.";
    Measure     "measure"       (Count, Values)            0 => 0 Plain                ""      ""     Limit  "C"     "Charge the language's cost for the top values by one of its rules, leaving them on the stack.";
    Raise       "raise"         (Slot)                     0 => 0 Plain                "SN"    "N"    Error  "C"     "Raise the first error recorded after the number of errors in the slot, if there is one.";
    CallNamed   "call_named"    (Count, Delivery)          n => 0 Call                 ""      ""     Error  "G"    "Pop a name and arguments and run the chunk of that name in a frame of its own.";
    CallMade    "call_made"     (Count, Import)            n => 0 MayCall              ""      "O"    Error  "G"    "Pop a text and arguments, compile the text as a template and run it, or write the text as it is.";
}

/// Opcodes by byte. A byte that is not an opcode decodes to [`Op::Return`]; the verifier rejects it.
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
    /// Returns the opcode of a word.
    #[inline(always)]
    pub fn of(word: u32) -> Op {
        DECODE[(word & 0xFF) as usize]
    }

    /// Returns the opcode's row in the table.
    #[inline(always)]
    pub const fn info(self) -> &'static OpInfo {
        &ISA[self as usize]
    }

    /// Returns the number of words of the instruction.
    #[inline]
    pub const fn words(self) -> usize {
        self.info().words()
    }
}

impl OpInfo {
    /// Returns the number of words of the instruction.
    #[inline]
    pub const fn words(&self) -> usize {
        if self.operands.is_empty() { 1 } else { self.operands.len() }
    }

    /// Returns the index of the label among the operands.
    pub const fn label(&self) -> Option<usize> {
        match self.operands {
            [.., Operand::Label] => Some(self.operands.len() - 1),
            _ => None,
        }
    }

    /// Returns the number of values that the instruction pops. `of_record` counts those of a record that the first
    /// operand refers to.
    #[inline]
    pub fn pops(&self, operand: u32, of_record: impl FnOnce(Operand, u32) -> u32) -> u32 {
        match (self.pops, self.operands) {
            (Pops::Fixed(pops), _) => pops.into(),
            (Pops::Operand, [Operand::Count, ..] | []) => operand,
            (Pops::Operand, [kind, ..]) => of_record(*kind, operand),
        }
    }
}

/// Returns the instruction set as a Markdown table.
pub fn isa_table() -> String {
    let mut table =
        String::from("| instruction | operands | stack | control | reads | writes | fails | languages | meaning |\n");
    table.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for info in ISA {
        let OpInfo { name, pushes, reads, writes, dialects, doc, .. } = info;
        let operands = info.operands.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let pops = if let Pops::Fixed(pops) = info.pops { pops.to_string() } else { "n".to_owned() };
        let (control, fails) = (info.control.name(), info.fails.name());
        let _ =
            write!(table, "| `{name}` | {operands} | {pops} → {pushes} | {control} | {reads} | {writes} | {fails} ");
        let _ = writeln!(table, "| {dialects} | {doc} |");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, Place};
    use super::*;

    #[test]
    fn every_opcode_decodes_to_itself_and_belongs_to_a_language() {
        for (at, info) in ISA.iter().enumerate() {
            assert_eq!(info.op as usize, at);
            assert_eq!(Op::of(at as u32), info.op);
            assert!(Dialect::ALL.into_iter().any(|dialect| info.dialects.contains(dialect)), "{}", info.name);
        }
    }

    #[test]
    fn the_columns_of_every_row_agree() {
        use Control::{Branch, BranchWithTop, Jump, NextItem, OpenLoop};
        for info in ISA {
            let jumps = matches!(info.control, Jump | Branch | BranchWithTop | OpenLoop | NextItem);
            let labels = info.operands.iter().filter(|kind| **kind == Operand::Label).count();
            assert_eq!((labels, info.label().is_some()), (usize::from(jumps), jumps), "{}: the label", info.name);
            let counted = matches!(
                info.operands.first(),
                Some(Operand::Count | Operand::Path | Operand::Site | Operand::Keys | Operand::Chunk)
            );
            assert!(info.pops != Pops::Operand || counted, "{}: the first operand counts no values", info.name);
            let run = info.operands.iter().position(|kind| *kind == Operand::SlotRun);
            let length = run.map(|run| info.operands.get(run + 1));
            assert!(length.is_none_or(|kind| kind == Some(&Operand::Count)), "{}: the length of the run", info.name);
        }
    }

    #[test]
    fn places_agree_with_operands_and_control() {
        for info in ISA {
            let OpInfo { name, reads, writes, .. } = info;
            let has = |kind| info.operands.contains(&kind);
            let touches = |place| reads.contains(place) || writes.contains(place);
            let slots = [Operand::Slot, Operand::SlotPair, Operand::SlotRun, Operand::LoopSlots].into_iter().any(has);
            let names = has(Operand::Path) || (has(Operand::Scope) && !info.control.calls());
            assert_eq!(touches(Place::Slots), slots || names, "{name}: slots");
            for place in [Place::Inputs, Place::Callers] {
                assert_eq!((reads.contains(place), writes.contains(place)), (names, false), "{name}: {place:?}");
            }
            assert_eq!(touches(Place::Memos), has(Operand::Memo), "{name}: memos");
            let loops = matches!(info.control, Control::OpenLoop | Control::NextItem | Control::CloseLoop);
            assert_eq!(writes.contains(Place::Loops), loops, "{name}: loops");
            let gathers = matches!(info.control, Control::Gather | Control::CloseValues);
            assert_eq!(writes.contains(Place::Gathered), gathers, "{name}: gathered values");
            let takes = info.control == Control::CloseText;
            assert_eq!(reads.contains(Place::Output), takes, "{name}: output");
            assert!(!writes.contains(Place::Notes) || info.fails == Fails::Error, "{name}: what notes may also raise");
            assert_eq!(info.control == Control::Fail, info.op == Op::Fail && info.fails == Fails::Error, "{name}");
        }
    }
}
