//! The checking machine: it checks every index and panics on an invalid one. Tests use it to check the machine and the
//! verifier.

use super::access::Access;
use super::hooks::NoHooks;
use super::run::Run;
use super::semantics::Semantics;
use super::session::{Session, run_by};
use crate::bytecode::{ISA, Op};
use dropforge_base::diagnostics::Result;
use dropforge_value::Value;

/// Checks every index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checking;

impl Access for Checking {
    fn at<T: Copy>(slice: &[T], at: usize) -> T {
        slice[at]
    }

    fn place<T>(slice: &mut [T], at: usize) -> &mut T {
        &mut slice[at]
    }

    fn borrow<T>(slice: &[T], at: usize) -> &T {
        &slice[at]
    }

    fn slice<T>(slice: &[T], start: usize, end: usize) -> &[T] {
        &slice[start..end]
    }

    fn text(pool: &str, start: usize, end: usize) -> &str {
        &pool[start..end]
    }

    fn op(word: u32) -> Op {
        ISA[(word & 0xFF) as usize].op
    }

    fn require(fact: impl FnOnce() -> bool) {
        assert!(fact(), "a fact that the verifier guarantees");
    }
}

/// Calls `run` on the checking machine.
pub fn run_checked<S: Semantics + Default>(session: &mut Session, run: Run<'_>, out: &mut String) -> Result<()> {
    run_by::<S, _, Checking>(session, run, Some(out), &mut NoHooks).map(drop)
}

/// Calls [`answer`](super::answer) on the checking machine.
///
/// # Errors
/// The errors of the run.
pub fn answer_checked<'s, S: Semantics + Default>(session: &'s mut Session, run: Run<'s>) -> Result<Value<'s>> {
    run_by::<S, _, Checking>(session, run, None, &mut NoHooks)
}

#[cfg(test)]
mod tests {
    use super::super::access::Trusting;
    use super::*;

    #[test]
    fn both_ways_of_access_agree() {
        let (items, pool) = ([3_u32, 5, 7], "aéb");
        for at in 0..3 {
            assert_eq!(Trusting::at(&items, at), Checking::at(&items, at));
            assert_eq!(Trusting::borrow(&items, at), Checking::borrow(&items, at));
        }
        assert_eq!(Trusting::slice(&items, 1, 3), Checking::slice(&items, 1, 3));
        let mut places = items;
        *Trusting::place(&mut places, 1) = 9;
        *Checking::place(&mut places, 2) = 11;
        assert_eq!(places, [3, 9, 11]);
        assert_eq!(Trusting::text(pool, 1, 3), Checking::text(pool, 1, 3));
        for row in ISA {
            assert_eq!(Trusting::op(row.op as u32 | 0xABCD00), row.op);
            assert_eq!(Checking::op(row.op as u32 | 0xABCD00), row.op);
        }
    }
}
