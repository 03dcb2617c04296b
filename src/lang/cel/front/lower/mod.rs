//! Lowering: from trees to bytecode. An expression becomes a chunk that answers with its value.
//!
//! Macros are comprehensions in the tree. Lowering recognises those that collect, quantify or bind, and emits what each
//! of them needs.

mod calls;
mod chains;
mod document;
mod fold;
mod foldable;
mod folding;
mod lazy;
mod loops;
mod lowering;
mod metered;
mod program;
mod scope;
mod unknown;
mod values;

pub(super) use document::{Document, Outside};
pub(super) use foldable::FoldingBudget;
pub(super) use lowering::{Lower, LowerOptions, call_intrinsic};
pub(super) use program::{Part, compile_document, compile_expression, compile_parts};
