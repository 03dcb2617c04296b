//! The table of macros, and the expansion of calls.

use super::factory::{Expansion, Factory, MacroCall};
use super::{bindings, loops, math};
use crate::dialect::cel::syntax::build::Build;
use crate::dialect::cel::syntax::tree::{Call, Expr, ExprId, Function, Node, Tree};

struct Macro {
    name: &'static str,
    /// Set for a macro with a receiver.
    member: bool,
    /// The minimum and maximum number of arguments.
    args: (usize, usize),
    expand: fn(&mut Factory<'_, '_>, &MacroCall<'_>) -> Expansion,
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
    member "least"             0..=_  math::extreme;
    member "greatest"          0..=_  math::extreme;
    member "getExt"            2      bindings::extension;
    member "hasExt"            2      bindings::extension;
}

/// Expands `call`, the call of the node `id`, if it calls a macro. Returns the expansion, or the node itself.
pub(in crate::dialect::cel::syntax) fn expand(build: &mut Build<'_>, id: ExprId, call: Call) -> ExprId {
    let Function::Named(name) = call.function else { return id };
    let name = build.tree.name(name);
    let count = call.args.len();
    let fits = |of: &&Macro| {
        let (from, to) = of.args;
        of.name == name && of.member == call.receiver.is_some() && (from..=to).contains(&count) && !call.rooted
    };
    let Some(found) = MACROS.iter().find(fits) else { return id };
    let args = build.tree.ids(call.args).to_vec();
    let Node { span, at, .. } = build.tree.node(id);
    if args.iter().chain(&call.receiver).any(|&part| build.tree.expr(part) == Expr::Invalid) {
        return build.invalid(span);
    }
    let call = MacroCall { name: found.name, target: call.receiver.unwrap_or(id), args: &args };
    match (found.expand)(&mut Factory::new(build, span, at), &call) {
        Ok(Some(expanded)) => {
            build.tree.record_expansion(expanded, id);
            expanded
        }
        Ok(None) => id,
        Err(error) => {
            build.error(error);
            build.invalid(span)
        }
    }
}

/// Adds a call to a parsed tree, at the position of `like`, or the expansion of the macro that it calls. Returns `None` if
/// the macro rejects the call, or the tree is too deep or too large.
pub(crate) fn expanded(tree: &mut Tree, call: Call, like: Node) -> Option<ExprId> {
    let mut build = Build::new(tree, "", Some(expand));
    let made = build.call_or_macro(call, like.span, like.at);
    (build.errors.is_empty() && build.excess.is_none()).then_some(made)
}
