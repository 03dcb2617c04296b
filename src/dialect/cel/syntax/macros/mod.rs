//! Macros: calls that are expanded to other expressions while they are read. What they become is what the reference
//! makes of them, node for node, because types and costs are defined on it.

mod bindings;
mod factory;
mod loops;
mod numbers;

use super::build::Build;
use super::fault::Fault;
use super::tree::{Call, Expr, ExprId, Function};
use crate::text::Span;
use factory::Factory;

/// The accumulator of every loop that a macro makes; no source can name it.
pub const ACCUMULATOR: &str = "@result";

/// What the accumulator was called once; no variable of a loop may have this name either.
const OLD_ACCUMULATOR: &str = "__result__";

/// The variable of a loop over nothing.
pub const UNUSED: &str = "#unused";

/// What a macro makes of its call: nothing where it is an ordinary call after all.
type Expanded = Result<Option<ExprId>, Fault>;

/// A call as a macro sees it.
struct Given<'g> {
    /// The name of the macro.
    name: &'g str,
    /// What it is called on. A macro without a receiver never looks at it.
    target: ExprId,
    /// The arguments.
    args: &'g [ExprId],
}

impl Given<'_> {
    /// An argument; the table says how many there are.
    fn arg(&self, at: usize) -> ExprId {
        self.args.get(at).copied().unwrap_or(ExprId(u32::MAX))
    }
}

struct Macro {
    name: &'static str,
    /// Whether it is called on something.
    member: bool,
    /// How many arguments it takes: from, to.
    args: (usize, usize),
    expand: fn(&mut Factory<'_, '_>, &Given<'_>) -> Expanded,
}

macro_rules! table {
    ($($kind:ident $name:literal $from:literal $(..= $to:tt)? $expand:path;)*) => {
        const MACROS: &[Macro] = &[$(Macro {
            name: $name,
            member: table!(@$kind),
            args: ($from, table!(@to $from $($to)?)),
            expand: $expand,
        },)*];
    };
    (@global) => { false };
    (@member) => { true };
    (@to $from:literal) => { $from };
    (@to $from:literal _) => { usize::MAX };
    (@to $from:literal $to:literal) => { $to };
}

table! {
    global "has"               1      bindings::has;
    member "all"               2..=3  loops::all;
    member "exists"            2..=3  loops::exists;
    member "exists_one"        2..=3  loops::exists_one;
    member "existsOne"         2..=3  loops::exists_one;
    member "filter"            2      loops::filter;
    member "map"               2..=3  loops::map;
    member "transformList"     3..=4  loops::transform_list;
    member "transformMap"      3..=4  loops::transform_map;
    member "transformMapEntry" 3..=4  loops::transform_map_entry;
    member "sortBy"            2      loops::sort_by;
    member "bind"              3      bindings::bind;
    member "block"             2      bindings::block;
    member "index"             1      bindings::index;
    member "iterVar"           2      bindings::loop_variable;
    member "accuVar"           2      bindings::loop_variable;
    member "optMap"            2      bindings::opt_map;
    member "optFlatMap"        2      bindings::opt_flat_map;
    member "least"             0..=_  numbers::extreme;
    member "greatest"          0..=_  numbers::extreme;
    member "getExt"            2      bindings::extension;
    member "hasExt"            2      bindings::extension;
}

/// What becomes of `id`, which is `call`: the expansion where a macro is called, otherwise itself.
pub(super) fn expand(build: &mut Build<'_>, id: ExprId, call: Call, span: Span, at: u32) -> ExprId {
    let Function::Named(name) = call.function else { return id };
    let name = build.tree.name(name);
    let count = call.args.len();
    let fits = |of: &&Macro| {
        let (from, to) = of.args;
        of.name == name && of.member == call.receiver.is_some() && (from..=to).contains(&count) && !call.rooted
    };
    let Some(found) = MACROS.iter().find(fits) else { return id };
    let args = build.tree.ids(call.args).to_vec();
    let known = args.iter().chain(&call.receiver).any(|&part| build.tree.expr(part) == Expr::Invalid);
    if known {
        return build.invalid(span);
    }
    let given = Given { name: found.name, target: call.receiver.unwrap_or(id), args: &args };
    match (found.expand)(&mut Factory::new(build, span, at), &given) {
        Ok(Some(expanded)) => {
            build.tree.expanded(expanded, id);
            expanded
        }
        Ok(None) => id,
        Err(fault) => {
            build.fault(fault);
            build.invalid(span)
        }
    }
}
