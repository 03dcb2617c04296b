//! The paths of inputs that programs mention.

use std::collections::HashMap;

use dropforge_machine::bytecode::{Operand, Program, Root, Segment};

/// The keys of a path, the name of an input first.
pub(super) type Keys = Vec<String>;

/// How often the code of a program mentions paths of inputs.
#[derive(Debug, Default)]
pub(super) struct Uses {
    reads: HashMap<Keys, usize>,
    /// Loops over the entries of maps.
    loops: HashMap<Keys, usize>,
    /// Words of code.
    pub words: usize,
}

impl Uses {
    pub fn of(program: &Program) -> Self {
        let (code, mut uses) = (program.code(), Self { words: program.words().len(), ..Self::default() });
        for chunk in program.chunks() {
            let mut before = None;
            for instruction in code.instructions(chunk) {
                if let (Some(2), Some(keys)) = (instruction.operand(Operand::Names), before) {
                    *uses.loops.entry(keys).or_default() += 1;
                }
                before = instruction.operand(Operand::Path).and_then(|path| keys(program, path));
                if let Some(keys) = &before {
                    *uses.reads.entry(keys.clone()).or_default() += 1;
                }
            }
        }
        uses
    }

    /// Returns the number of reads of a path.
    pub fn reads(&self, keys: &[String]) -> usize {
        self.reads.get(keys).copied().unwrap_or(0)
    }

    /// Returns the number of loops over the map at a path.
    pub fn loops(&self, keys: &[String]) -> usize {
        self.loops.get(keys).copied().unwrap_or(0)
    }
}

/// Returns the keys of a path into an input. `None` for other paths, and if an index is among them.
fn keys(program: &Program, path: u32) -> Option<Keys> {
    let code = program.code();
    let path = code.path(path);
    let Some(Root::Global(global)) = path.roots().next() else { return None };
    let name = code.str(*code.globals().get(global as usize)?).to_owned();
    let steps = path.segments().map(|(segment, _)| match segment {
        Segment::Attr(name) => Some(code.str(name).to_owned()),
        Segment::Index(_) => None,
    });
    std::iter::once(Some(name)).chain(steps).collect()
}
