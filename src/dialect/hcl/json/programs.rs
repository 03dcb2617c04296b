//! What the values of a document are compiled to.
//!
//! Which values are attributes is known only when a schema is asked for, so code is made late and once for each value.
//! The values of properties that have the same height (how many objects stand in each other in them) share a program,
//! for the small heights that nearly all attributes have; any other value has a program of its own. A value never
//! holds another of its height: all shared programs together are as long as the document a few times over, however
//! deep it is, and the others no longer than what is evaluated.

use std::sync::OnceLock;

use super::document::{Document, Json, JsonId, Node};
use crate::diagnostics::Result;
use crate::dialect::hcl::body::Compiled;

/// The heights of values that share a program.
const SHARED: usize = 3;

/// A program that is made when it is first asked for.
type Late = OnceLock<Box<Result<Compiled>>>;

/// The programs of a document.
#[derive(Debug, Default)]
pub(super) struct Programs {
    shared: [Late; SHARED],
    /// For each value a place for a program of its own.
    own: OnceLock<Box<[Late]>>,
}

impl Programs {
    /// The program in which a value of the document has a chunk; `compile` makes one of some values.
    ///
    /// # Errors
    /// Those of `compile`.
    pub fn of(
        &self,
        document: &Document,
        heights: &[u8],
        id: JsonId,
        compile: impl Fn(Vec<JsonId>) -> Result<Compiled>,
    ) -> Result<Option<&Compiled>> {
        let height = height_of(heights, id);
        if let Some(shared) = self.shared.get(usize::from(height)) {
            let compiled = made(shared, || compile(of_height(document, heights, height)))?;
            if compiled.chunk(id.0).is_some() {
                return Ok(Some(compiled));
            }
        }
        let own = self.own.get_or_init(|| heights.iter().map(|_| OnceLock::new()).collect());
        own.get(id.0 as usize).map(|own| made(own, || compile(vec![id]))).transpose()
    }
}

fn made(place: &Late, make: impl FnOnce() -> Result<Compiled>) -> Result<&Compiled> {
    place.get_or_init(|| Box::new(make())).as_ref().as_ref().map_err(Clone::clone)
}

fn height_of(heights: &[u8], id: JsonId) -> u8 {
    heights.get(id.0 as usize).copied().unwrap_or(0)
}

/// The values of properties that have this height.
fn of_height(document: &Document, heights: &[u8], height: u8) -> Vec<JsonId> {
    let values = document.all_properties().iter().map(|property| property.value);
    values.filter(|&value| height_of(heights, value) == height).collect()
}

/// For each value of a document, how many objects stand in each other in it; 255 where there are more.
pub(super) fn heights(document: &Document) -> Box<[u8]> {
    let mut heights = Vec::new();
    for (_, node) in document.nodes() {
        let height = height(document, &heights, node);
        heights.push(height);
    }
    heights.into()
}

/// The height of a value that holds only what has one.
fn height(document: &Document, heights: &[u8], node: Node) -> u8 {
    let highest = |ids: &mut dyn Iterator<Item = JsonId>| ids.map(|id| height_of(heights, id)).max().unwrap_or(0);
    match node.json {
        Json::Array(items) => highest(&mut document.items(items).iter().copied()),
        Json::Object(run) => {
            highest(&mut document.properties(run).iter().map(|property| property.value)).saturating_add(1)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use super::super::{JsonFile, parse_expression};
    use crate::dialect::hcl::body::{Context, File};
    use crate::dialect::hcl::registry;
    use crate::limits::Limits;
    use crate::text::Source;
    use crate::vm::Space;

    /// How many programs all values of properties have, and of how many words they are.
    fn made(text: &str) -> (usize, usize) {
        let limits = Limits { source_bytes: 64 << 20, code_words: 64 << 20, ..Limits::default() };
        let parsed = parse_expression(&Source::new("t.json", text), &limits);
        assert!(parsed.diagnostics.is_empty(), "{text:.60}");
        let file = JsonFile::new(parsed.document, &Arc::new(registry()), &limits);
        let mut programs = HashMap::new();
        for property in file.document().all_properties() {
            let compiled = file.program(property.value, false).unwrap().unwrap();
            assert!(compiled.chunk(property.value.0).is_some());
            programs.insert(compiled.program().id(), compiled.program().words().len());
        }
        (programs.len(), programs.values().sum())
    }

    #[test]
    fn most_values_share_a_few_programs() {
        let many = |value: &str| {
            let properties: Vec<_> = (0..1000).map(|at| format!("\"k{at}\": {value}")).collect();
            made(&format!("{{{}}}", properties.join(",")))
        };
        let cases = [
            ("1", 1),
            ("[[\"${x}\", null]]", 1),
            ("{\"a\": {\"b\": 1}}", 3),
            ("[{\"a\": {\"b\": {\"c\": 1}}}]", 3 + 1000),
        ];
        for (value, wanted) in cases {
            assert_eq!(many(value).0, wanted, "{value}");
        }
    }

    #[test]
    fn code_grows_with_the_document_and_not_with_its_depth() {
        // Each block holds a long list and the next block; only the lists are attributes.
        let list = format!("[{}1]", "1,".repeat(1000));
        let comb = |depth: usize| {
            let text = format!("{{\"list\": {list}, \"block\": ").repeat(depth) + "{}" + &"}".repeat(depth);
            let limits = Limits::default();
            let parsed = parse_expression(&Source::new("t.json", text), &limits);
            let file = JsonFile::new(parsed.document, &Arc::new(registry()), &limits);
            let lists = file.document().all_properties().iter().filter(|of| file.document().str(of.name) == "list");
            let words = lists.map(|list| file.program(list.value, false).unwrap().unwrap().program());
            let words: HashMap<u64, usize> = words.map(|program| (program.id(), program.words().len())).collect();
            words.values().sum::<usize>()
        };
        assert!(comb(100) < comb(10) * 11, "{} {}", comb(100), comb(10));
    }

    #[test]
    fn room_for_frames_is_made_a_few_times_and_not_for_each_value() {
        // Each list is longer than the one before, and what one evaluation keeps is kept for all.
        let list = |at: usize| (0..at).map(|item| format!("{at}{item}.5")).collect::<Vec<_>>().join(",");
        let lists: Vec<_> = (1..200).map(|at| format!("\"k{at}\": [{}]", list(at))).collect();
        let text = format!("{{{}}}", lists.join(","));
        let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
        let file = File::json(&Source::new("t.json", text.as_str()), &Arc::new(registry()), &limits);
        let context = Context::new(&space, &limits);
        for attribute in file.body().just_attributes(&mut faults).values() {
            attribute.expr.evaluate(&context, &mut faults);
        }
        assert!(faults.is_empty());
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
                let parsed = parse_expression(&Source::new("t.json", text), &limits);
                let file = JsonFile::new(parsed.document, &Arc::new(registry()), &limits);
                assert!(file.program(file.document().root(), false).unwrap().is_some());
            };
            let small = std::thread::Builder::new().stack_size(256 << 10);
            small.spawn(work).unwrap().join().unwrap();
        }
    }
}
