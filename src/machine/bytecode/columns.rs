//! The columns of the instruction table that are a choice: what an instruction does to the stack, to control flow and to
//! values.

use super::operands::choice;

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

    /// Returns `true` if the instruction continues at its label or with the next one.
    #[inline]
    pub const fn decides(self) -> bool {
        matches!(self, Control::Branch | Control::BranchWithTop | Control::OpenLoop | Control::NextItem)
    }

    /// Returns `true` if control never reaches the next instruction.
    #[inline(always)]
    pub const fn ends(self) -> bool {
        matches!(self, Control::Jump | Control::Return | Control::Fail)
    }
}

choice! {
    /// The condition under which an instruction continues at its label.
    Jumps {
        /// It has no label.
        Never "",
        /// None.
        Always "always",
        /// The popped value is true.
        True "if true",
        /// The popped value is false.
        False "if false",
        /// The value at its path passes its test.
        Test "if the test holds",
        /// The top value is its literal.
        Literal "if the literal",
        /// The top value is present.
        Present "if present",
        /// The loop has no items.
        Empty "if empty",
        /// The loop has more items.
        More "if more",
    }
}

choice! {
    /// The origin of the value that an instruction pushes, puts into slots, writes, gathers or tests.
    Provenance {
        /// It makes no value. Those that it pops are discarded.
        Nothing "",
        /// The program. The same in every run.
        Constant "constant",
        /// The value at its path.
        Path "path",
        /// The value at its path, or undefined.
        OptionalPath "optional path",
        /// The popped value, unchanged.
        Popped "popped value",
        /// The popped value, or a conversion of it.
        Converted "conversion",
        /// A present value computed from the popped ones.
        Computed "computation",
        /// The result of a function.
        Call "call",
        /// A list of the popped values.
        Items "items",
        /// A list of those popped values that are not undefined.
        SomeItems "present items",
        /// A map of the popped values, with constant keys.
        Fields "fields",
        /// An entry of the popped key and value.
        Entry "entry",
        /// The entries of the popped map.
        Entries "entries",
        /// A map of the names that a scope shows.
        Names "names",
        /// The captured text.
        Text "captured text",
        /// The gathered values.
        Gathered "gathered values",
        /// An item of the loop.
        Item "loop item",
        /// The latest result of the run.
        Answer "result",
        /// The number of errors recorded so far.
        Errors "errors",
    }
}

choice! {
    /// The behaviour in a probe, a run in which some values are not known.
    Probe {
        /// It runs. The rules of the language check the values that it uses.
        Runs "",
        /// It runs if the top value is known.
        Known "if known",
        /// It runs if its path has no steps: a missing step would pass for a missing value.
        Name "if a name",
        /// It fails.
        Fails "fails",
    }
}
