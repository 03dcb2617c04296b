//! The programs of a document.
//!
//! A schema decides which values are attributes, so values are compiled late, and each at most once. Values of
//! properties with the same height (the number of objects nested in them) share a program, for the small heights of
//! nearly all attributes. Any other value has its own program. A value never contains another of its height, so all
//! shared programs together are a few times as long as the document, however deep it is, and the others are no longer
//! than the evaluated values.

use std::sync::OnceLock;

use crate::diagnostics::Result;
use crate::dialect::hcl::body::compiled::CompiledSet;
use crate::dialect::hcl::executable::Executable;
use crate::dialect::hcl::json::{Document, Json, JsonId};

/// The number of heights whose values share a program.
const SHARED: usize = 3;

/// A program that is compiled on first use.
type LazyProgram = OnceLock<Box<Result<CompiledSet<JsonId>>>>;

/// The programs of a document.
#[derive(Debug, Default)]
pub(super) struct Programs {
    shared: [LazyProgram; SHARED],
    /// The own program of each value.
    own: OnceLock<Box<[LazyProgram]>>,
}

impl Programs {
    /// Returns the program and the chunk of a value. `compile` compiles values.
    ///
    /// # Errors
    /// Those of `compile`.
    pub fn chunk(
        &self,
        document: &Document,
        heights: &[u8],
        id: JsonId,
        compile: impl Fn(&[JsonId]) -> Result<Executable>,
    ) -> Result<Option<(&Executable, u32)>> {
        let height = height_of(heights, id);
        if let Some(shared) = self.shared.get(usize::from(height)) {
            let values = document.all_properties().iter().map(|property| property.value);
            let ids = || values.filter(|&value| height_of(heights, value) == height).collect();
            if let Some(chunk) = compiled(shared, ids, &compile)?.chunk(id) {
                return Ok(Some(chunk));
            }
        }
        let own = self.own.get_or_init(|| heights.iter().map(|_| OnceLock::new()).collect());
        let Some(own) = own.get(id.0 as usize) else { return Ok(None) };
        Ok(compiled(own, || vec![id], &compile)?.chunk(id))
    }
}

fn compiled(
    program: &LazyProgram,
    ids: impl FnOnce() -> Vec<JsonId>,
    compile: impl FnOnce(&[JsonId]) -> Result<Executable>,
) -> Result<&CompiledSet<JsonId>> {
    program.get_or_init(|| Box::new(CompiledSet::new(ids(), compile))).as_ref().as_ref().map_err(Clone::clone)
}

fn height_of(heights: &[u8], id: JsonId) -> u8 {
    heights.get(id.0 as usize).copied().unwrap_or(0)
}

/// Computes the height of each value: the number of objects nested in it, at most 255.
pub(super) fn heights(document: &Document) -> Box<[u8]> {
    let mut heights = Vec::new();
    for (_, node) in document.nodes() {
        let height = |id| height_of(&heights, id);
        let height = match node.json {
            Json::Array(items) => document.items(items).iter().map(|item| height(*item)).max().unwrap_or(0),
            Json::Object(run) => {
                let values = document.properties(run).iter().map(|property| height(property.value));
                values.max().unwrap_or(0).saturating_add(1)
            }
            _ => 0,
        };
        heights.push(height);
    }
    heights.into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::dialect::hcl::body::json::JsonFile;
    use crate::dialect::hcl::body::{Context, File};
    use crate::dialect::hcl::compile::Compiler;
    use crate::dialect::hcl::json::{JsonId, parse_expression};
    use crate::dialect::hcl::registry;
    use crate::limits::Limits;
    use crate::text::Source;
    use crate::vm::Space;

    fn file(text: String, limits: &Limits) -> JsonFile {
        let parsed = parse_expression(&Source::new("t.json", text), limits);
        assert!(parsed.diagnostics.is_empty());
        JsonFile::new(parsed.document, Compiler::new(&registry(), limits))
    }

    /// The lengths in words of the programs of values, by program id.
    fn programs(file: &JsonFile, ids: impl Iterator<Item = JsonId>) -> HashMap<u64, usize> {
        ids.map(|id| {
            let (executable, _) = file.chunk(id, false).unwrap().unwrap();
            (executable.program().id(), executable.program().words().len())
        })
        .collect()
    }

    #[test]
    fn most_values_share_a_few_programs() {
        let many = |value: &str| {
            let properties: Vec<_> = (0..1000).map(|at| format!("\"k{at}\": {value}")).collect();
            let limits = Limits { source_bytes: 64 << 20, code_words: 64 << 20, ..Limits::default() };
            let file = file(format!("{{{}}}", properties.join(",")), &limits);
            programs(&file, file.document().all_properties().iter().map(|property| property.value)).len()
        };
        let cases = [
            ("1", 1),
            ("[[\"${x}\", null]]", 1),
            ("{\"a\": {\"b\": 1}}", 3),
            ("[{\"a\": {\"b\": {\"c\": 1}}}]", 3 + 1000),
        ];
        for (value, wanted) in cases {
            assert_eq!(many(value), wanted, "{value}");
        }
    }

    #[test]
    fn code_grows_with_the_document_and_not_with_its_depth() {
        // Each block holds a long list and the next block; only the lists are attributes.
        let list = format!("[{}1]", "1,".repeat(1000));
        let comb = |depth: usize| {
            let text = format!("{{\"list\": {list}, \"block\": ").repeat(depth) + "{}" + &"}".repeat(depth);
            let file = file(text, &Limits::default());
            let lists = file.document().all_properties().iter().filter(|of| file.document().str(of.name) == "list");
            programs(&file, lists.map(|list| list.value)).values().sum::<usize>()
        };
        assert!(comb(100) < comb(10) * 11, "{} {}", comb(100), comb(10));
    }

    #[test]
    fn room_for_frames_is_made_a_few_times_and_not_for_each_value() {
        // Each list is longer than the one before, and what one evaluation keeps is kept for all.
        let list = |at: usize| (0..at).map(|item| format!("{at}{item}.5")).collect::<Vec<_>>().join(",");
        let lists: Vec<_> = (1..200).map(|at| format!("\"k{at}\": [{}]", list(at))).collect();
        let text = format!("{{{}}}", lists.join(","));
        let (limits, space, mut diagnostics) = (Limits::default(), Space::new(), Vec::new());
        let file = File::json(&Source::new("t.json", text.as_str()), &registry(), &limits);
        let context = Context::new(&space, &limits);
        for attribute in file.body().just_attributes(&mut diagnostics).values() {
            attribute.expr.evaluate(&context, &mut diagnostics);
        }
        assert!(diagnostics.is_empty());
        let made = space.arena().bump().allocated_bytes();
        assert!(made < 50 * text.len(), "{made} bytes for a text of {}", text.len());
    }

    #[test]
    fn depth_costs_no_calls() {
        let limits = Limits { nesting: 1 << 20, ..Limits::default() };
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
            let limits = limits.clone();
            let work = move || {
                let file = file(text, &limits);
                assert!(file.chunk(file.document().root(), false).unwrap().is_some());
            };
            let small = std::thread::Builder::new().stack_size(256 << 10);
            small.spawn(work).unwrap().join().unwrap();
        }
    }
}
