//! The instruction set: one table for the emitter, the verifier, the machine, listings and documentation.
//!
//! A row describes everything about an instruction except its implementation, which is in `vm`: operands, effect on the
//! stack, effect on control flow, the origin of its value, its behaviour in a probe, the state it reads and writes, the
//! errors it may end in, and the languages that may use it.

use std::fmt::Write as _;

pub use super::columns::{Control, Jumps, Pops, Probe, Provenance};
use super::header::Dialects;
use super::operands::Operand;
use super::places::{Fails, Place, Places};

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
    /// The condition under which it continues at its label.
    pub jumps: Jumps,
    /// The origin of the value that it makes.
    pub provenance: Provenance,
    /// The behaviour in a probe.
    pub probe: Probe,
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
        $jumps:ident $provenance:ident $probe:ident $reads:literal $writes:literal $fails:ident $dialects:literal $doc:literal;)*) => {
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
            jumps: Jumps::$jumps,
            provenance: Provenance::$provenance,
            probe: Probe::$probe,
            reads: Places::of($reads),
            writes: Places::of($writes),
            fails: Fails::$fails,
            dialects: Dialects::of($dialects),
            doc: $doc,
        },)*];
    };
}

isa! {
    Str         "str"           (Str)                      0 => 1 Plain         Never   Constant     Runs  ""      ""     Never  "THCG"  "Push a string.";
    Num         "num"           (Num)                      0 => 1 Plain         Never   Constant     Runs  ""      ""     Never  "THCG"  "Push a number constant.";
    Int         "int"           (Int)                      0 => 1 Plain         Never   Constant     Runs  ""      ""     Never  "THCG"  "Push a small integer.";
    Lit         "lit"           (Lit)                      0 => 1 Plain         Never   Constant     Runs  ""      ""     Never  "THCG"  "Push undefined, null, false or true.";
    Pop         "pop"           ()                         1 => 0 Plain         Never   Nothing      Runs  ""      ""     Never  "THCG"  "Discard the top value.";
    LoadPath    "load_path"     (Path)                     n => 1 Plain         Never   Path         Runs  "SILC"  "N"    Error  "THCG"  "Push the value at a path. A missing path calls `Semantics::missing`.";
    PeekPath    "peek_path"     (Path)                     n => 1 Plain         Never   OptionalPath Name  "SILC"  "N"    Error  "THCG"  "Push the value at a path, or undefined if it is missing.";
    EmitPath    "emit_path"     (Path, Mode)               n => 0 Plain         Never   Path         Runs  "SILC"  "ON"   Error  "WTHG"  "Write the value at a path.";
    TextPath    "text_path"     (Path, Mode, Str)          n => 0 Plain         Never   Path         Runs  "SILC"  "ON"   Error  "WTHG"  "Write a string, then the value at a path.";
    StoreSlot   "store_slot"    (Slot)                     1 => 0 Plain         Never   Popped       Runs  ""      "S"    Never  "THCG"  "Pop the top value into a slot.";
    ClearSlots  "clear_slots"   (SlotRun, Count)           0 => 0 Plain         Never   Constant     Runs  ""      "S"    Never  "TH"    "Unset a run of slots.";
    Not         "not"           ()                         1 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THCG"  "Negate a boolean.";
    Add         "add"           ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THC"   "Add.";
    Sub         "sub"           ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THC"   "Subtract.";
    Mul         "mul"           ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THC"   "Multiply.";
    Div         "div"           ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THC"   "Divide.";
    Rem         "rem"           ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THC"   "Take the remainder.";
    Eq          "eq"            ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THCG"  "Test for equality.";
    Ne          "ne"            ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THCG"  "Test for inequality.";
    Lt          "lt"            ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THCG"  "Test for less than.";
    Le          "le"            ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THCG"  "Test for less than or equal.";
    Gt          "gt"            ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THCG"  "Test for greater than.";
    Ge          "ge"            ()                         2 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THCG"  "Test for greater than or equal.";
    In          "in"            ()                         2 => 1 Plain         Never   Computed     Runs  ""      ""     Error  "TC"    "Test whether the top value contains the one below it.";
    Join        "join"          (Count)                    n => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "THC"   "Concatenate values as text.";
    As          "as"            (Role)                     1 => 1 Plain         Never   Converted    Runs  ""      "N"    Error  "THCG"  "Convert the top value to a role, as the language defines it.";
    List        "list"          (Count)                    n => 1 Plain         Never   Items        Runs  ""      ""     Limit  "THCG"  "Build a list.";
    Map         "map"           (Keys)                     n => 1 Plain         Never   Fields       Runs  ""      ""     Limit  "HC"    "Build a map with constant keys.";
    Scope       "scope"         (Scope)                    0 => 1 Plain         Never   Names        Fails "SILC"  ""     Limit  "TG"    "Push a map of all visible names.";
    Jump        "jump"          (Label)                    0 => 0 Jump          Always  Nothing      Runs  ""      ""     Limit  "THCG"  "Jump.";
    JumpIf      "jump_if"       (Label)                    1 => 0 Branch        True    Popped       Runs  ""      "N"    Error  "THCG"  "Pop the top value. Jump if it is true.";
    JumpUnless  "jump_unless"   (Label)                    1 => 0 Branch        False   Popped       Runs  ""      "N"    Error  "THCG"  "Pop the top value. Jump unless it is true.";
    JumpTest    "jump_test"     (Path, Str, Test, Label)   n => 0 Branch        Test    Path         Runs  "SILC"  "N"    Error  "THCG"  "Compare the value at a path with a string. Jump if the test holds.";
    JumpIs      "jump_is"       (Lit, Label)               1 => 1 Branch        Literal Popped       Known ""      ""     Limit  "C"     "Jump if the top value is a literal, leaving it on the stack.";
    JumpPresent "jump_present"  (Label)                    1 => 0 BranchWithTop Present Popped       Known ""      ""     Limit  "THC"   "Jump if the top value is present, leaving it on the stack. Otherwise discard it.";
    Iter        "iter"          (Names, LoopSlots, Label)  1 => 0 OpenLoop      Empty   Item         Runs  ""      "SLN"  Error  "THCG"  "Pop the top value and open a loop over it with its first item in one or two slots. Jump if there are no items.";
    Next        "next"          (LoopSlots, Label)         0 => 0 NextItem      More    Item         Runs  "L"     "SL"   Limit  "THCG"  "Put the next item into the loop's slots and jump back. Close the loop if there are no more items.";
    EndIter     "end_iter"      ()                         0 => 0 CloseLoop     Never   Nothing      Runs  "L"     "L"    Never  "THCG"  "Close the innermost loop.";
    Call        "call"          (Site)                     n => 1 Plain         Never   Call         Runs  "N"     "N"    Error  "THCG"  "Call an imported function.";
    CallMemo    "call_memo"     (Site, Memo)               n => 1 Plain         Never   Call         Runs  "MN"    "MN"   Error  "THCG"  "Call an imported function once in a render and reuse its result.";
    Apply       "apply"         (Count, Import)            n => 1 Plain         Never   Call         Fails "N"     "N"    Error  "HC"    "Call an imported function with one value for each parameter, in their order.";
    CallChunk   "call_chunk"    (Chunk, Scope)             n => 0 Call          Never   Nothing      Runs  ""      ""     Limit  "THCG"  "Run a chunk in a frame of its own. With a scope, it sees the caller's names.";
    Return      "return"        ()                         0 => 0 Return        Never   Nothing      Runs  ""      ""     Never  "WTHCG" "Leave the chunk.";
    Fail        "fail"          (Fail)                     0 => 0 Fail          Never   Nothing      Runs  ""      ""     Error  "THCG"  "Raise a failure.";
    Text        "text"          (Str)                      0 => 0 Plain         Never   Constant     Runs  ""      "O"    Limit  "WTHG"  "Write a string.";
    Emit        "emit"          (Mode)                     1 => 0 Plain         Never   Popped       Runs  ""      "ON"   Error  "THG"   "Pop the top value and write it.";
    Capture     "capture"       ()                         0 => 0 OpenText      Never   Nothing      Runs  ""      ""     Never  "THG"   "Start capturing output.";
    EndCapture  "end_capture"   ()                         0 => 1 CloseText     Never   Text         Runs  "O"     "O"    Limit  "THG"   "Stop capturing output and push it as text.";
    Neg         "neg"           ()                         1 => 1 Plain         Never   Computed     Runs  ""      "N"    Error  "HC"    "Negate a number.";
    Mark        "mark"          ()                         0 => 1 Plain         Never   Errors       Fails "N"     ""     Never  "H"     "Push the number of errors recorded so far.";
    MarkSlot    "mark_slot"     (Slot)                     0 => 0 Plain         Never   Errors       Fails "N"     "S"    Never  "HC"    "Put the number of errors recorded so far into a slot.";
    And         "and"           (SlotPair)                 2 => 1 Plain         Never   Computed     Fails "SN"    "N"    Error  "HC"    "Test whether both values are true. The slots hold the numbers of errors recorded before each.";
    Or          "or"            (SlotPair)                 2 => 1 Plain         Never   Computed     Fails "SN"    "N"    Error  "HC"    "Test whether either value is true. The slots hold the numbers of errors recorded before each.";
    Fault       "fault"         (Fail)                     0 => 1 Plain         Never   Computed     Fails ""      "N"    Error  "H"     "Record a failure and push the language's recovery value.";
    Gather      "gather"        ()                         0 => 0 OpenValues    Never   Nothing      Runs  ""      ""     Never  "HCG"   "Start gathering values.";
    Keep        "keep"          ()                         1 => 0 Gather        Never   Items        Runs  ""      "G"    Limit  "HCG"   "Pop the top value and gather it.";
    EndGather   "end_gather"    ()                         0 => 1 CloseValues   Never   Gathered     Runs  "G"     "G"    Limit  "HCG"   "Stop gathering and push the gathered values as a list.";
    Answer      "answer"        ()                         1 => 0 Plain         Never   Popped       Runs  ""      "R"    Never  "HCG"   "Pop the top value as the result of the run.";
    Answered    "answered"      ()                         0 => 1 Plain         Never   Answer       Runs  "R"     ""     Never  "C"     "Push the latest result.";
    ListSome    "list_some"     (Count)                    n => 1 Plain         Never   SomeItems    Fails ""      ""     Error  "C"     "Build a list of the values in the role of a value, leaving out undefined ones.";
    MapSome     "map_some"      (Keys)                     n => 1 Plain         Never   Fields       Fails ""      ""     Error  "C"     "Build a map with constant keys of the values in the role of a value, leaving out undefined ones.";
    KeepSome    "keep_some"     ()                         1 => 0 Gather        Never   SomeItems    Fails ""      "G"    Error  "C"     "Pop the top value and gather it in the role of a value, unless it is undefined.";
    KeepEntry   "keep_entry"    (Claim)                    2 => 0 Gather        Never   Entry        Fails ""      "G"    Error  "C"     "Pop a key and its value and gather them as an entry, unless the value is undefined.";
    KeepEntries "keep_entries"  (Claim)                    1 => 0 Gather        Never   Entries      Fails ""      "G"    Error  "C"     "Pop a map and gather its entries.";
    EndEntries  "end_entries"   ()                         0 => 1 CloseValues   Never   Gathered     Fails "G"     "G"    Error  "C"     "Stop gathering and push the gathered entries as a map.";
    Meter       "meter"         (Count)                    0 => 0 Plain         Never   Nothing      Fails ""      "$"    Limit  "C"     "Charge a constant cost.";
    Measure     "measure"       (Count, Values)            0 => 0 Plain         Never   Nothing      Fails ""      "$"    Limit  "C"     "Charge the language's cost for the top values by one of its rules, leaving them on the stack.";
    Raise       "raise"         (Slot)                     0 => 0 Plain         Never   Nothing      Fails "SN"    "N"    Error  "C"     "Raise the first error recorded after the number of errors in the slot, if there is one.";
    CallNamed   "call_named"    (Count, Delivery)          n => 0 Call          Never   Nothing      Runs  ""      ""     Error  "G"    "Pop a name and arguments and run the chunk of that name in a frame of its own.";
    CallMade    "call_made"     (Count, Import)            n => 0 MayCall       Never   Popped       Runs  ""      "O"    Error  "G"    "Pop a text and arguments, compile the text as a template and run it, or write the text as it is.";
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

    /// Returns the kind of the first operand.
    pub const fn first(&self) -> Option<Operand> {
        match self.operands {
            [first, ..] => Some(*first),
            [] => None,
        }
    }

    /// Returns `true` if the instruction writes the value at a path.
    pub const fn writes_path(&self) -> bool {
        matches!(self.provenance, Provenance::Path) && self.writes.contains(Place::Output)
    }

    /// Returns `true` if the instruction puts the popped value into its slot.
    pub const fn stores_popped(&self) -> bool {
        matches!(self.provenance, Provenance::Popped) && self.writes.contains(Place::Slots)
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
    let mut table = String::from("| instruction | operands | stack | control | jumps | value | probe ");
    table.push_str(
        "| reads | writes | fails | languages | meaning |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for info in ISA {
        let OpInfo { name, pushes, reads, writes, dialects, doc, .. } = info;
        let operands = info.operands.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let pops = if let Pops::Fixed(pops) = info.pops { pops.to_string() } else { "n".to_owned() };
        let (control, jumps, fails) = (info.control.name(), info.jumps.name(), info.fails.name());
        let (value, probe) = (info.provenance.name(), info.probe.name());
        let _ = write!(table, "| `{name}` | {operands} | {pops} → {pushes} | {control} | {jumps} | {value} | {probe} ");
        let _ = writeln!(table, "| {reads} | {writes} | {fails} | {dialects} | {doc} |");
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
            let memo = info.operands.iter().position(|kind| *kind == Operand::Memo);
            assert!(memo != Some(0), "{}: a memo has a word of its own", info.name);
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
    fn conditions_agree_with_control_and_operands() {
        for OpInfo { name, control, jumps, operands, .. } in ISA {
            let fits = match control {
                Control::Jump => *jumps == Jumps::Always,
                Control::Branch => matches!(jumps, Jumps::True | Jumps::False | Jumps::Test | Jumps::Literal),
                Control::BranchWithTop => *jumps == Jumps::Present,
                Control::OpenLoop => *jumps == Jumps::Empty,
                Control::NextItem => *jumps == Jumps::More,
                _ => *jumps == Jumps::Never,
            };
            assert!(fits, "{name}: {control:?} {jumps:?}");
            assert_eq!(*jumps == Jumps::Test, operands.contains(&Operand::Test), "{name}: the test");
            let literal = *control == Control::Branch && operands.contains(&Operand::Lit);
            assert_eq!(*jumps == Jumps::Literal, literal, "{name}: the literal");
        }
    }

    /// Returns the provenance that follows from the other columns of a row, if one does.
    fn provenance(info: &OpInfo) -> Option<Provenance> {
        let has = |kind| info.operands.contains(&kind);
        let sets =
            [Place::Slots, Place::Output, Place::Gathered, Place::Result].map(|place| info.writes.contains(place));
        let makes = info.pushes > 0 || sets.contains(&true) || info.control.decides();
        let (is_plain, pops_none) = (info.control == Control::Plain, info.pops == Pops::Fixed(0));
        match info.control {
            _ if !makes => Some(Provenance::Nothing),
            _ if has(Operand::Path) && info.probe == Probe::Name => Some(Provenance::OptionalPath),
            _ if has(Operand::Path) => Some(Provenance::Path),
            _ if has(Operand::Scope) => Some(Provenance::Names),
            _ if has(Operand::Keys) => Some(Provenance::Fields),
            _ if has(Operand::Site) || has(Operand::Import) && is_plain => Some(Provenance::Call),
            Control::CloseText => Some(Provenance::Text),
            Control::CloseValues => Some(Provenance::Gathered),
            Control::OpenLoop | Control::NextItem => Some(Provenance::Item),
            Control::Gather if has(Operand::Claim) && info.pops == Pops::Fixed(2) => Some(Provenance::Entry),
            Control::Gather if has(Operand::Claim) => Some(Provenance::Entries),
            _ if info.reads.contains(Place::Result) => Some(Provenance::Answer),
            _ if pops_none && info.reads.contains(Place::Notes) => Some(Provenance::Errors),
            _ if pops_none && !has(Operand::Fail) => Some(Provenance::Constant),
            _ if pops_none => Some(Provenance::Computed),
            // It depends on the values: the suite observes them.
            _ => None,
        }
    }

    #[test]
    fn provenance_agrees_with_the_other_columns() {
        for info in ISA {
            if let Some(provenance) = provenance(info) {
                assert_eq!(info.provenance, provenance, "{}", info.name);
            }
        }
    }

    #[test]
    fn a_probe_follows_no_count_of_errors_and_no_cost() {
        for info in ISA {
            let counts = info.provenance == Provenance::Errors
                || info.operands.contains(&Operand::SlotPair)
                || info.writes.contains(Place::Cost);
            assert!(!counts || info.probe == Probe::Fails, "{}", info.name);
            let tests_top = info.provenance == Provenance::Popped && info.control.decides();
            assert!(info.probe != Probe::Known || tests_top, "{}: no top value to know", info.name);
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
