//! The templates that may call themselves, directly or through others.

use hashbrown::{HashMap, HashSet};

use crate::dialect::helm::set::Set;
use crate::dialect::helm::syntax::tree::{Node, Pipeline, Term};

/// Returns the names of all templates on a cycle of calls by literal names, and of those between two cycles.
pub(super) fn recursive<'a>(set: &Set<'a>) -> HashSet<&'a str> {
    let (mut calls, mut search) = (Vec::<(&'a str, &'a str)>::new(), Search::default());
    for (name, defined) in &set.templates {
        search.body(defined.template.body);
        let called = search.names.drain(..).filter(|called| set.templates.contains_key(called));
        calls.extend(called.map(|called| (*name, called)));
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

/// A search for the literal names of templates that bodies call.
#[derive(Default)]
struct Search<'a> {
    names: Vec<&'a str>,
    bodies: Vec<&'a [Node<'a>]>,
    pipelines: Vec<&'a Pipeline<'a>>,
}

impl<'a> Search<'a> {
    /// Adds the names in a body.
    fn body(&mut self, body: &'a [Node<'a>]) {
        self.bodies.push(body);
        while let Some(body) = self.bodies.pop() {
            for node in body {
                match node {
                    Node::Text(..) | Node::Break(_) | Node::Continue(_) => {}
                    Node::Emit(pipeline) => self.pipeline(pipeline),
                    Node::Call(call) => {
                        self.names.push(call.name);
                        call.data.iter().for_each(|data| self.pipeline(data));
                    }
                    Node::Choice(choice) => {
                        for (pipeline, body) in choice.branches {
                            self.pipeline(pipeline);
                            self.bodies.push(body);
                        }
                        self.bodies.push(choice.otherwise);
                    }
                    Node::Range(range) => {
                        self.pipeline(&range.pipeline);
                        self.bodies.extend([range.body, range.otherwise]);
                    }
                }
            }
        }
    }

    /// Adds the names in a pipeline.
    fn pipeline(&mut self, pipeline: &'a Pipeline<'a>) {
        self.pipelines.push(pipeline);
        while let Some(pipeline) = self.pipelines.pop() {
            for command in pipeline.commands {
                if let [first, named, ..] = command.operands
                    && let (Term::Function("include"), Term::Str(name)) = (first.term, named.term)
                {
                    self.names.extend(std::str::from_utf8(name));
                }
                self.pipelines.extend(command.operands.iter().filter_map(|operand| match operand.term {
                    Term::Pipeline(inner) => Some(inner),
                    _ => None,
                }));
            }
        }
    }
}
