//! Nesting of actions into blocks, with a stack of its own.

use bumpalo::Bump;
use hashbrown::HashMap;

use super::action::Mistake;
use super::tree::{Action, Call, Choice, Node, Pipeline, Placed, Range, Template};
use dropforge_base::stdlib::name_stack::NameStack;
use dropforge_base::text::Span;

/// The kind of an open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    If,
    With,
    Range,
    Define,
    Block,
}

impl BlockKind {
    /// Returns the word that opens the block.
    pub fn word(self) -> &'static str {
        match self {
            BlockKind::If => "if",
            BlockKind::With => "with",
            BlockKind::Range => "range",
            BlockKind::Define => "define",
            BlockKind::Block => "block",
        }
    }
}

/// An open block.
#[derive(Debug)]
struct OpenBlock<'a> {
    kind: BlockKind,
    span: Span,
    /// The pipeline of the current branch.
    pipeline: Option<Placed<'a>>,
    /// The start of the branches before the current one, among all branches.
    branches: usize,
    /// `true` after the last `else`.
    in_else: bool,
    /// The name of a template.
    name: &'a str,
    /// The start of the nodes around the block, among all nodes.
    outside: usize,
    /// The start of the calls around a template, among all calls.
    calls: usize,
    /// The start of the variables around a template, among all variables.
    variables: usize,
    /// The number of variables before the block.
    known: usize,
    /// The number of loops around a template.
    loops: usize,
}

/// The message of a block that is not closed.
pub(super) const END_OF_FILE: &str = "unexpected EOF";

/// Builds the templates of a file.
#[derive(Debug)]
pub struct Blocks<'a> {
    arena: &'a Bump,
    open: Vec<OpenBlock<'a>>,
    /// The nodes of the open blocks, innermost last, and the start of those of the innermost.
    nodes: Vec<Node<'a>>,
    start: usize,
    /// The complete branches of the open blocks, innermost last.
    branches: Vec<(Placed<'a>, &'a [Node<'a>])>,
    /// The names of templates that the open templates call, innermost last, and the start of those of the innermost.
    calls: Vec<&'a str>,
    first_call: usize,
    loops: usize,
    /// The variables of the open templates, innermost last, and the start of those of the innermost, which are in scope.
    pub variables: NameStack<'a, ()>,
    first_variable: usize,
    /// The templates defined so far, and their places by name.
    pub templates: Vec<Template<'a>>,
    defined: HashMap<&'a str, usize>,
    /// Errors of nesting and naming.
    pub mistakes: Vec<Mistake>,
}

impl<'a> Blocks<'a> {
    pub fn new(arena: &'a Bump) -> Self {
        Self {
            arena,
            open: Vec::new(),
            nodes: Vec::new(),
            start: 0,
            branches: Vec::new(),
            calls: Vec::new(),
            first_call: 0,
            loops: 0,
            variables: NameStack::of("$", ()),
            first_variable: 0,
            templates: Vec::new(),
            defined: HashMap::new(),
            mistakes: Vec::new(),
        }
    }

    /// Begins another file, reusing the memory of the last one.
    pub fn restart(&mut self) {
        self.open.clear();
        self.nodes.clear();
        self.branches.clear();
        self.calls.clear();
        self.variables.truncate(1); // `$`
        self.templates.clear();
        self.defined.clear();
        self.mistakes.clear();
        (self.start, self.first_call, self.first_variable, self.loops) = (0, 0, 0, 0);
    }

    /// Returns `true` if a variable is in scope.
    pub fn sees(&self, variable: &str) -> bool {
        self.variables.latest(variable).is_some_and(|(at, ())| at >= self.first_variable)
    }

    /// Returns the number of open blocks.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns the innermost open block and its place.
    pub fn innermost(&self) -> Option<(BlockKind, Span)> {
        self.open.last().map(|open| (open.kind, open.span))
    }

    /// Returns `true` inside of a block, where no template can be defined.
    pub fn is_inside(&self) -> bool {
        !self.open.is_empty()
    }

    pub fn text(&mut self, text: &'a str, span: Span) {
        self.nodes.push(Node::Text(text, span));
    }

    fn mistake(&mut self, span: Span, message: impl Into<String>) {
        self.mistakes.push(Mistake { span, message: message.into() });
    }

    /// Adds an action at an offset that includes templates. `known` is the number of variables in scope before it.
    pub fn action(&mut self, (action, base): (&'a Action<'a>, u32), includes: &[&'a str], span: Span, known: usize) {
        self.calls.extend_from_slice(includes);
        let placed = |pipeline: &'a Pipeline<'a>| Placed { pipeline, base };
        match action {
            Action::Emit(pipeline) => self.nodes.push(Node::Emit(placed(pipeline))),
            Action::If(pipeline) => self.begin(BlockKind::If, span, Some(placed(pipeline)), known),
            Action::With(pipeline) => self.begin(BlockKind::With, span, Some(placed(pipeline)), known),
            Action::Range(pipeline) => {
                self.begin(BlockKind::Range, span, Some(placed(pipeline)), known);
                self.loops += 1;
            }
            Action::Else => self.otherwise(span),
            Action::ElseIf(pipeline) => self.branch(BlockKind::If, placed(pipeline), span),
            Action::ElseWith(pipeline) => self.branch(BlockKind::With, placed(pipeline), span),
            Action::End => self.end(span),
            Action::Break if self.loops == 0 => self.mistake(span, "{{break}} outside {{range}}"),
            Action::Continue if self.loops == 0 => self.mistake(span, "{{continue}} outside {{range}}"),
            Action::Break => self.nodes.push(Node::Break(span)),
            Action::Continue => self.nodes.push(Node::Continue(span)),
            Action::Define(name) => {
                let name = self.name(name, span);
                self.template(BlockKind::Define, name, None, span);
            }
            Action::Template(name, data) => {
                let name = self.name(name, span);
                self.call(Call { name, data: data.as_ref().map(placed), span });
            }
            Action::Block(name, pipeline) => {
                let name = self.name(name, span);
                self.template(BlockKind::Block, name, Some(placed(pipeline)), span);
            }
        }
    }

    /// Opens the block of an action that has an error, so that its `end` has a block to close.
    pub fn broken(&mut self, opens: Option<BlockKind>, span: Span, known: usize) {
        match opens {
            Some(BlockKind::If) => self.begin(BlockKind::If, span, None, known),
            Some(BlockKind::With) => self.begin(BlockKind::With, span, None, known),
            Some(BlockKind::Range) => {
                self.begin(BlockKind::Range, span, None, known);
                self.loops += 1;
            }
            Some(BlockKind::Define | BlockKind::Block) => self.template(BlockKind::Define, "", None, span),
            None => {}
        }
    }

    /// Returns the name of a template. One that is not UTF-8 is an error.
    fn name(&mut self, name: &'a [u8], span: Span) -> &'a str {
        std::str::from_utf8(name).unwrap_or_else(|_| {
            self.mistake(span, "the name of a template has to be UTF-8");
            ""
        })
    }

    fn begin(&mut self, kind: BlockKind, span: Span, pipeline: Option<Placed<'a>>, known: usize) {
        self.open.push(OpenBlock {
            kind,
            span,
            pipeline,
            branches: self.branches.len(),
            in_else: false,
            name: "",
            outside: std::mem::replace(&mut self.start, self.nodes.len()),
            calls: 0,
            variables: 0,
            known,
            loops: 0,
        });
    }

    /// Opens a template in the file. It has no variables but `$`.
    fn template(&mut self, kind: BlockKind, name: &'a str, pipeline: Option<Placed<'a>>, span: Span) {
        self.begin(kind, span, pipeline, 0);
        if let Some(open) = self.open.last_mut() {
            open.name = name;
            open.variables = std::mem::replace(&mut self.first_variable, self.variables.len());
            self.variables.push("$", ());
            open.loops = std::mem::take(&mut self.loops);
            open.calls = std::mem::replace(&mut self.first_call, self.calls.len());
        }
    }

    fn call(&mut self, call: Call<'a>) {
        self.calls.push(call.name);
        self.nodes.push(Node::Call(self.arena.alloc(call)));
    }

    /// Returns the calls of the innermost template.
    fn take_calls(&mut self) -> &'a [&'a str] {
        let calls = self.arena.alloc_slice_copy(self.calls.get(self.first_call..).unwrap_or(&[]));
        self.calls.truncate(self.first_call);
        calls
    }

    /// Returns the nodes since the innermost block opened, or since its last `else`.
    fn take_nodes(&mut self) -> &'a [Node<'a>] {
        let nodes = self.arena.alloc_slice_copy(self.nodes.get(self.start..).unwrap_or(&[]));
        self.nodes.truncate(self.start);
        nodes
    }

    /// Checks that `else` may stand here.
    fn else_fits(&mut self, span: Span) -> bool {
        let message = match self.open.last().map(|open| (open.kind, open.in_else)) {
            None => "unexpected {{else}}",
            Some((BlockKind::Define, _)) => "unexpected {{else}} in define clause",
            Some((BlockKind::Block, _)) => "unexpected {{else}} in block clause",
            Some((_, true)) => "expected end; found {{else}}",
            Some((_, false)) => return true,
        };
        self.mistake(span, message);
        false
    }

    fn otherwise(&mut self, span: Span) {
        if !self.else_fits(span) {
            return;
        }
        let body = self.take_nodes();
        let Some(open) = self.open.last_mut() else { return };
        open.in_else = true;
        self.branches.extend(open.pipeline.map(|pipeline| (pipeline, body)));
        if open.kind == BlockKind::Range {
            self.loops = self.loops.saturating_sub(1);
        }
    }

    /// Adds a branch with a pipeline of its own.
    fn branch(&mut self, kind: BlockKind, pipeline: Placed<'a>, span: Span) {
        if !self.else_fits(span) {
            return;
        }
        if self.open.last().is_some_and(|open| open.kind != kind) {
            self.mistake(span, format!("unexpected <{}> in input", kind.word()));
            return;
        }
        let body = self.take_nodes();
        let Some(open) = self.open.last_mut() else { return };
        let before = open.pipeline.replace(pipeline);
        self.branches.extend(before.map(|before| (before, body)));
    }

    fn end(&mut self, span: Span) {
        let body = self.take_nodes();
        let Some(open) = self.open.pop() else {
            // The nodes of the file are of no use any more.
            return self.mistake(span, "unexpected {{end}}");
        };
        self.start = open.outside;
        if matches!(open.kind, BlockKind::Define | BlockKind::Block) {
            let calls = self.take_calls();
            self.variables.truncate(self.first_variable);
            (self.first_variable, self.loops, self.first_call) = (open.variables, open.loops, open.calls);
            self.define(Template { name: open.name, body, span: open.span, calls });
            if let (BlockKind::Block, Some(data)) = (open.kind, open.pipeline) {
                self.call(Call { name: open.name, data: Some(data), span: open.span });
            }
            return;
        }
        self.variables.truncate(open.known);
        if open.kind == BlockKind::Range && !open.in_else {
            self.loops = self.loops.saturating_sub(1);
        }
        let otherwise = if open.in_else {
            body
        } else {
            self.branches.extend(open.pipeline.map(|pipeline| (pipeline, body)));
            &[]
        };
        let branches = self.branches.get(open.branches..).unwrap_or(&[]);
        let node = branches.first().map(|&(pipeline, first)| match open.kind {
            BlockKind::Range => Node::Range(self.arena.alloc(Range { pipeline, body: first, otherwise })),
            kind => Node::Choice(self.arena.alloc(Choice {
                moves: kind == BlockKind::With,
                branches: self.arena.alloc_slice_copy(branches),
                otherwise,
            })),
        });
        self.nodes.extend(node);
        self.branches.truncate(open.branches);
    }

    /// Adds a template. A second one of the same name in a file is an error, unless one of them is blank.
    fn define(&mut self, template: Template<'a>) {
        let at = *self.defined.entry(template.name).or_insert(self.templates.len());
        let Some(earlier) = self.templates.get_mut(at) else {
            return self.templates.push(template);
        };
        if earlier.is_blank() {
            *earlier = template;
        } else if !template.is_blank() {
            let name = super::action::quoted(template.name);
            self.mistake(template.span, format!("template: multiple definition of template {name}"));
        }
    }

    /// Ends the file `name` at the offset `end`.
    pub fn finish(&mut self, name: &'a str, end: u32) {
        if self.is_inside() {
            self.mistake(Span::new(end, end), END_OF_FILE);
        }
        let (body, calls) = (self.take_nodes(), self.take_calls());
        self.define(Template { name, body, span: Span::default(), calls });
    }
}
