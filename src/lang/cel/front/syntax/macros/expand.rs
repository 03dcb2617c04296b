//! The table of macros, and the expansion of calls.

use super::factory::{Expansion, Factory, MacroCall};
use super::{bindings, loops, math};
use crate::syntax::build::Build;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Node, Tree};

struct Macro {
    name: &'static str,
    /// The receiver.
    receiver: Receiver,
    /// The minimum and maximum number of arguments.
    args: (usize, usize),
    expand: fn(&mut Factory<'_, '_>, &MacroCall<'_>) -> Expansion,
}

/// The receiver of a macro.
enum Receiver {
    None,
    Value,
    /// The name of a namespace. With any other receiver, the call is an ordinary one.
    Namespace(&'static str),
}

macro_rules! table {
    ($($kind:ident $name:literal $from:literal $(..= $to:tt)? $expand:path;)*) => {
        const MACROS: &[Macro] = &[$(Macro {
            name: $name,
            receiver: table!(@$kind),
            args: ($from, table!(@to $from $($to)?)),
            expand: $expand,
        },)*];
    };
    (@global) => { Receiver::None };
    (@member) => { Receiver::Value };
    (@$namespace:ident) => { Receiver::Namespace(stringify!($namespace)) };
    (@to $from:literal) => { $from };
    (@to $from:literal _) => { usize::MAX };
    (@to $from:literal $to:literal) => { $to };
}

table! {
    global "has"               1      bindings::has;
    member "all"               2..=3  loops::until;
    member "exists"            2..=3  loops::until;
    member "exists_one"        2..=3  loops::exists_one;
    member "existsOne"         2..=3  loops::exists_one;
    member "filter"            2      loops::filter;
    member "map"               2..=3  loops::map;
    member "transformList"     3..=4  loops::transform_list;
    member "transformMap"      3..=4  loops::transform_map;
    member "transformMapEntry" 3..=4  loops::transform_map;
    member "sortBy"            2      loops::sort_by;
    cel    "bind"              3      bindings::bind;
    cel    "block"             2      bindings::block;
    cel    "index"             1      bindings::index;
    cel    "iterVar"           2      bindings::loop_variable;
    cel    "accuVar"           2      bindings::loop_variable;
    member "optMap"            2      bindings::opt_map;
    member "optFlatMap"        2      bindings::opt_map;
    math   "least"             0..=_  math::extreme;
    math   "greatest"          0..=_  math::extreme;
    proto  "getExt"            2      bindings::extension;
    proto  "hasExt"            2      bindings::extension;
}

/// Expands `call`, the call of the node `id`, if it calls a macro. Returns the expansion, or the node itself.
pub(in crate::front::syntax) fn expand(build: &mut Build<'_>, id: ExprId, call: Call) -> ExprId {
    let Function::Named(name) = call.function else { return id };
    let name = build.tree.name(name);
    let count = call.args.len();
    let is_receiver = |wanted: &Receiver| match (wanted, call.receiver) {
        (Receiver::None, None) | (Receiver::Value, Some(_)) => true,
        (Receiver::Namespace(namespace), Some(receiver)) => is_name(build.tree, receiver, namespace),
        _ => false,
    };
    let fits = |of: &&Macro| {
        let (from, to) = of.args;
        of.name == name && (from..=to).contains(&count) && !call.rooted && is_receiver(&of.receiver)
    };
    let Some(found) = MACROS.iter().find(fits) else { return id };
    let args = build.tree.ids(call.args).to_vec();
    let Node { span, at, .. } = build.tree.node(id);
    if args.iter().chain(&call.receiver).any(|&part| build.tree.expr(part) == Expr::Invalid) {
        return build.invalid(span);
    }
    let call = MacroCall { name: found.name, target: call.receiver.unwrap_or(id), args: &args };
    match (found.expand)(&mut Factory::new(build, span, at), &call) {
        Ok(expanded) => {
            build.tree.record_expansion(expanded, id);
            expanded
        }
        Err(error) => {
            build.error(error);
            build.invalid(span)
        }
    }
}

/// Returns `true` for a variable of this name.
fn is_name(tree: &Tree, id: ExprId, wanted: &str) -> bool {
    matches!(tree.expr(id), Expr::Ident { name, rooted: false } if tree.name(name) == wanted)
}

/// Adds a call to a parsed tree, at the position of `like`, or the expansion of the macro that it calls. Returns `None` if
/// the macro rejects the call, or the tree is too deep or too large.
pub fn expanded(tree: &mut Tree, call: Call, like: Node) -> Option<ExprId> {
    let mut build = Build::new(tree, "", Some(expand));
    let made = build.call_or_macro(call, like.span, like.at);
    (build.errors.is_empty() && build.excess.is_none()).then_some(made)
}
