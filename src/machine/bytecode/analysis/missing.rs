//! The paths that a program looks up in inputs that lack them.

use super::walk::{Effect, Miss, Walk};
use crate::bytecode::program::Program;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::{DataMap, ReadPaths};

/// Finds the paths that `program` looks up and that `inputs` lack, in code order, without running it. `left` is the number
/// of steps that it may take, and is reduced by those taken. With fewer than needed, some are not found.
///
/// A branch is left out if the inputs rule it out. A path that the program tests for presence, or for which it has a
/// default, is not missing. A program that changes maps may read other entries than the inputs have: in it nothing is
/// missing, unless `looks_at_changed` says that the caller tells names that it may add.
///
/// ```
/// use dropforge::bytecode::analysis::missing;
/// use dropforge::engine::{Dialect, Engine};
/// use dropforge::value::Data;
/// let source = "{% if tls.on %}{{ tls.cert }}{% endif %}{{ image.tga }}{{ zone | default(value=1) }}";
/// let template = Engine::new().compile(Dialect::Tera, "t", source)?;
/// let inputs = serde_json::from_str::<Data>(r#"{"tls": {"on": false}, "image": {"tag": 1}}"#)?.into_map().unwrap();
/// let found = missing(template.program(), &inputs, false, &mut 1_000);
/// assert_eq!(found.iter().map(|miss| miss.path).collect::<Vec<_>>(), ["image.tga"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn missing<'w>(program: &'w Program, inputs: &'w DataMap, looks_at_changed: bool, left: &mut u64) -> Vec<Miss<'w>> {
    if program.start().mutable && !looks_at_changed {
        return Vec::new();
    }
    let mut unused = ReadPaths::default();
    let mut walk = Walk::new(program, &mut unused, Some(inputs), *left);
    walk.run();
    *left = walk.left;
    let (mut misses, tested) = (walk.misses, walk.tested);
    misses.retain(|miss| miss.effect == Effect::Fails || !tested.contains(&miss.path));
    // A loop looks up the same path for each item, and the worst consequence counts.
    misses.small_sort_by_key(|miss| (miss.at, std::cmp::Reverse(miss.effect)));
    misses.dedup_by_key(|miss| miss.at);
    misses
}
