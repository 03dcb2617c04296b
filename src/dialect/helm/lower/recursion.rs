//! The templates that may call themselves, directly or through others.

use hashbrown::{HashMap, HashSet};

use crate::dialect::helm::set::Set;
use crate::dialect::helm::syntax::tree::{Node, Pipeline, Term};

/// Returns the names of all templates on a cycle of calls by literal names, and of those between two cycles.
pub(super) fn recursive<'a>(set: &Set<'a>) -> HashSet<&'a str> {
    let mut calls: Vec<(&'a str, &'a str)> = Vec::new();
    for (name, defined) in &set.templates {
        let called = callees(defined.template.body);
        calls.extend(
            called.into_iter().filter(|called| set.templates.contains_key(called)).map(|called| (*name, called)),
        );
    }
    let callers = without_roots(&calls);
    let back: Vec<_> = callers.into_iter().map(|(caller, called)| (called, caller)).collect();
    without_roots(&back).into_iter().map(|(name, _)| name).collect()
}

/// Removes the edges from nodes to which no edge leads, until there are none.
fn without_roots<'a>(edges: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let (mut leading, mut from): (HashMap<&str, usize>, HashMap<&str, Vec<&'a str>>) = Default::default();
    for (start, end) in edges {
        *leading.entry(end).or_default() += 1;
        from.entry(start).or_default().push(end);
    }
    let mut roots: Vec<&str> = from.keys().copied().filter(|start| !leading.contains_key(start)).collect();
    while let Some(root) = roots.pop() {
        for end in from.remove(root).unwrap_or_default() {
            let left = leading.entry(end).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                roots.push(end);
            }
        }
    }
    edges.iter().filter(|(start, _)| from.contains_key(start)).copied().collect()
}

/// Returns the literal names of templates that a body calls.
fn callees<'a>(body: &'a [Node<'a>]) -> Vec<&'a str> {
    let (mut names, mut bodies, mut pipelines) = (Vec::new(), vec![body], Vec::<&Pipeline<'a>>::new());
    while let Some(body) = bodies.pop() {
        for node in body {
            match node {
                Node::Text(..) | Node::Break(_) | Node::Continue(_) => {}
                Node::Emit(pipeline) => pipelines.push(pipeline),
                Node::Call(call) => {
                    names.push(call.name);
                    pipelines.extend(&call.data);
                }
                Node::Choice(choice) => {
                    pipelines.extend(choice.branches.iter().map(|(pipeline, _)| pipeline));
                    bodies.extend(choice.branches.iter().map(|(_, body)| *body));
                    bodies.push(choice.otherwise);
                }
                Node::Range(range) => {
                    pipelines.push(&range.pipeline);
                    bodies.extend([range.body, range.otherwise]);
                }
            }
        }
    }
    while let Some(pipeline) = pipelines.pop() {
        for command in pipeline.commands {
            if let [first, named, ..] = command.operands
                && let (Term::Function("include"), Term::Str(name)) = (first.term, named.term)
            {
                names.extend(std::str::from_utf8(name));
            }
            pipelines.extend(command.operands.iter().filter_map(|operand| match operand.term {
                Term::Pipeline(inner) => Some(inner),
                _ => None,
            }));
        }
    }
    names
}
