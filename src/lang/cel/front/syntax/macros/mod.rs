//! Macros: calls that the parser expands. The expansion equals the reference's node for node, because types and costs
//! are defined on it.

mod expansions;

pub(crate) use expansions::QUANTIFIERS;

use std::borrow::Cow;
use std::collections::HashMap;

use super::SyntaxError;
use crate::dialects::ELSEWHERE;
use crate::syntax::build::Build;
use crate::syntax::tree::{Call, Comprehension, Element, Expr, ExprId, Function, Literal, Name, Node, Operator, Tree};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

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

impl Macro {
    /// Returns the name with that of the namespace.
    fn full_name(&self) -> Cow<'static, str> {
        match self.receiver {
            Receiver::Namespace(namespace) => Cow::Owned(format!("{namespace}.{}", self.name)),
            Receiver::None | Receiver::Value => Cow::Borrowed(self.name),
        }
    }
}

/// Returns the error of a macro that only other implementations have.
fn elsewhere(name: &str, span: Span) -> SyntaxError {
    let message = format!("undeclared reference to '{name}'");
    SyntaxError::new(Code::UnknownFunction, span, message).with_help(ELSEWHERE)
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
    global "has"               1      expansions::has;
    member "all"               2..=3  expansions::until;
    member "exists"            2..=3  expansions::until;
    member "exists_one"        2..=3  expansions::exists_one;
    member "existsOne"         2..=3  expansions::exists_one;
    member "filter"            2      expansions::filter;
    member "map"               2..=3  expansions::map;
    member "transformList"     3..=4  expansions::transform_list;
    member "transformMap"      3..=4  expansions::transform_map;
    member "transformMapEntry" 3..=4  expansions::transform_map;
    member "sortBy"            2      expansions::sort_by;
    cel    "bind"              3      expansions::bind;
    cel    "block"             2      expansions::block;
    cel    "index"             1      expansions::index;
    cel    "iterVar"           2      expansions::loop_variable;
    cel    "accuVar"           2      expansions::loop_variable;
    member "optMap"            2      expansions::opt_map;
    member "optFlatMap"        2      expansions::opt_map;
    math   "least"             0..=_  expansions::extreme;
    math   "greatest"          0..=_  expansions::extreme;
    proto  "getExt"            2      expansions::extension;
    proto  "hasExt"            2      expansions::extension;
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
    let expansion = match found.full_name() {
        name if build.refused_macros.contains(&&*name) => Err(elsewhere(&name, build.tree.place(id))),
        _ => (found.expand)(&mut Factory::new(build, span, at), &call),
    };
    match expansion {
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

/// The accumulator of every comprehension that a macro makes. Sources cannot name it.
pub(crate) const ACCUMULATOR: &str = "@result";

/// The variable of a comprehension over nothing.
pub const UNUSED: &str = "#unused";

/// The expansion of a call.
type Expansion = Result<ExprId, SyntaxError>;

/// The call of a macro.
struct MacroCall<'c> {
    /// The name of the macro.
    pub name: &'c str,
    /// The receiver. Macros without one never use it.
    pub target: ExprId,
    /// The arguments.
    pub args: &'c [ExprId],
}

impl MacroCall<'_> {
    /// Returns an argument. The table of macros checks their number.
    pub fn arg(&self, at: usize) -> ExprId {
        self.args.get(at).copied().unwrap_or(ExprId(u32::MAX))
    }
}

/// Adds nodes to a tree under construction.
struct Factory<'b, 'a> {
    build: &'b mut Build<'a>,
    span: Span,
    at: u32,
}

/// A comprehension with the usual accumulator.
struct Loop {
    /// The list or map to iterate over.
    pub range: ExprId,
    /// The iteration variables.
    pub variables: (Name, Option<Name>),
    /// The initial value of the accumulator.
    pub init: ExprId,
    /// The condition to continue.
    pub condition: ExprId,
    /// The next value of the accumulator.
    pub step: ExprId,
    /// The value of the comprehension.
    pub result: ExprId,
}

impl<'b, 'a> Factory<'b, 'a> {
    /// Makes a factory of nodes at `span` whose errors point at `at`.
    pub fn new(build: &'b mut Build<'a>, span: Span, at: u32) -> Self {
        Self { build, span, at }
    }

    /// Returns the tree.
    pub fn tree(&self) -> &Tree {
        self.build.tree
    }

    /// Makes an error about a node.
    pub fn error(&self, id: ExprId, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(Code::BadArgument, self.tree().place(id), message)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.build.add(expr, self.span, self.at)
    }

    /// Interns a name.
    pub fn name(&mut self, text: &str) -> Name {
        self.build.tree.intern(text)
    }

    /// Adds a variable.
    pub fn ident(&mut self, name: Name) -> ExprId {
        self.add(Expr::Ident { name, rooted: false })
    }

    /// Adds the accumulator.
    pub(crate) fn accu(&mut self) -> ExprId {
        let name = self.name(ACCUMULATOR);
        self.ident(name)
    }

    /// Adds a literal.
    pub fn literal(&mut self, literal: Literal) -> ExprId {
        self.add(Expr::Literal(literal))
    }

    /// Adds the call of an operator.
    pub fn operator(&mut self, operator: Operator, args: &[ExprId]) -> ExprId {
        self.call(Function::Operator(operator), None, args)
    }

    /// Adds the call of a function.
    pub fn function(&mut self, name: &str, args: &[ExprId]) -> ExprId {
        let name = self.name(name);
        self.call(Function::Named(name), None, args)
    }

    /// Adds the call of a member function.
    pub fn member(&mut self, receiver: ExprId, name: &str, args: &[ExprId]) -> ExprId {
        let name = self.name(name);
        self.call(Function::Named(name), Some(receiver), args)
    }

    fn call(&mut self, function: Function, receiver: Option<ExprId>, args: &[ExprId]) -> ExprId {
        let args = self.build.tree.add_ids(args);
        self.add(Expr::Call(Call { function, rooted: false, receiver, args }))
    }

    /// Adds a list.
    pub fn list(&mut self, values: &[ExprId]) -> ExprId {
        let elements = values.iter().map(|&value| Element { value, optional: false });
        let elements = self.build.tree.add_elements(elements);
        self.add(Expr::List(elements))
    }

    /// Adds an empty map.
    pub(crate) fn empty_map(&mut self) -> ExprId {
        let entries = self.build.tree.add_entries([]);
        self.add(Expr::Map(entries))
    }

    /// Adds a selection.
    pub fn select(&mut self, select: Expr) -> ExprId {
        self.add(select)
    }

    /// Adds a comprehension with the usual accumulator.
    pub fn fold(&mut self, fold: Loop) -> ExprId {
        let accu_var = self.name(ACCUMULATOR);
        let (iter_var, iter_var2) = fold.variables;
        let Loop { range: iter_range, init: accu_init, condition: loop_condition, step: loop_step, result, .. } = fold;
        let of =
            Comprehension { iter_range, iter_var, iter_var2, accu_var, accu_init, loop_condition, loop_step, result };
        self.comprehension(of)
    }

    /// Adds a comprehension.
    pub fn comprehension(&mut self, of: Comprehension) -> ExprId {
        let expr = self.build.tree.add_comprehension(of);
        self.add(expr)
    }

    /// Copies an expression, node by node, children before their parents, without recursion.
    pub fn copy(&mut self, of: ExprId) -> ExprId {
        let mut new: HashMap<ExprId, ExprId> = HashMap::new();
        for old in reachable(self.tree(), of) {
            if self.build.excess.is_some() {
                return of;
            }
            let node = self.tree().node(old);
            let children = self.tree().children(node.expr);
            let children: Vec<_> = children.iter().map(|id| new.get(id).copied().unwrap_or(*id)).collect();
            let expr = self.build.tree.with_children(node.expr, &children);
            let copy = self.build.add(expr, node.span, node.at);
            if let Some(call) = self.tree().macro_call(old) {
                self.build.tree.record_expansion(copy, call);
            }
            new.insert(old, copy);
        }
        new.get(&of).copied().unwrap_or(of)
    }
}

/// Returns the nodes of an expression, children before their parents.
fn reachable(tree: &Tree, root: ExprId) -> Vec<ExprId> {
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(id) = open.pop() {
        found.push(id);
        tree.each_child(tree.expr(id), |child| open.push(child));
    }
    found.sort_unstable();
    found
}
