//! The end of a render: the text of missing values is removed.

use memchr::memmem::Finder;

use super::print::NO_VALUE;
use crate::bytecode::Program;

/// Removes every `<no value>` from the text that a program wrote to `out` behind `start`, unless the program keeps it.
pub fn finish(program: &Program, out: &mut String, start: usize) {
    if program.start().lenient {
        return;
    }
    let finder = Finder::new(NO_VALUE);
    let Some(first) = finder.find(out.as_bytes().get(start..).unwrap_or(&[])) else { return };
    let written = out.split_off(start + first);
    let mut rest = written.as_str();
    while let Some(at) = finder.find(rest.as_bytes()) {
        out.push_str(rest.get(..at).unwrap_or(""));
        rest = rest.get(at + NO_VALUE.len()..).unwrap_or("");
    }
    out.push_str(rest);
}
