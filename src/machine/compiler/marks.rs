//! Marks: the names in a source and what they name, for editors.
//!
//! Each language fills a [`MarkList`] from its trees. A mark knows its place, and the input that it leads to if that can be
//! told without running the template.

use crate::bytecode::ImportKind;
use dropforge_base::text::Span;

/// The kind of thing that a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Named {
    /// A variable of the template.
    Variable,
    /// An input.
    Input,
    /// A function, filter or test of the language.
    Import(ImportKind),
    /// A macro.
    Macro,
    /// A name for the macros of a file.
    Namespace,
    /// A block that other templates can replace.
    Block,
    /// A template with a name.
    Template,
    /// A file.
    File,
    /// Something that a configuration declares, by its address: `var.region`.
    Declared,
}

/// A step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// To the value of a key, or to the item at an index.
    Name(String),
    /// To any item.
    Any,
}

/// The expression that gives a variable its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// The variable has the value of the expression here.
    Value(Span),
    /// The variable has one item after another of the value of the expression here.
    Items(Span),
}

/// A name in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The kind of what it names.
    pub kind: Named,
    /// `true` if the name is defined here.
    pub is_definition: bool,
    /// The name. That of a file leads from the root of the templates.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// The place of the whole definition, or of the expression.
    pub whole: Span,
    /// The number of the variable in this source.
    pub variable: Option<u32>,
    /// The expression that a definition takes the value from.
    pub given: Option<Given>,
    /// The file that has the definition, if another source has it.
    pub file: Option<String>,
    /// The input that the name leads to.
    pub input: Option<Vec<Key>>,
    /// The steps after the name with their places.
    pub steps: Vec<(Key, Span)>,
    /// The parameters of a macro as written.
    pub signature: String,
}

impl Mark {
    /// Returns the mark of a name.
    pub fn new(kind: Named, name: impl Into<String>, span: Span) -> Self {
        Self {
            kind,
            is_definition: false,
            name: name.into(),
            span,
            whole: span,
            variable: None,
            given: None,
            file: None,
            input: None,
            steps: Vec::new(),
            signature: String::new(),
        }
    }

    /// Returns the mark of the place that defines a name.
    pub fn definition(kind: Named, name: impl Into<String>, span: Span, whole: Span) -> Self {
        Self { is_definition: true, whole, ..Self::new(kind, name, span) }
    }

    /// Returns the input at the end of the steps that begin before `at`, and the place of the last of these.
    pub fn input_at(&self, at: u32) -> Option<(Vec<Key>, Span)> {
        let mut input = self.input.clone()?;
        let mut span = self.span;
        for (key, place) in self.steps.iter().take_while(|(_, place)| place.start <= at) {
            input.push(key.clone());
            span = *place;
        }
        Some((input, span))
    }
}

/// A variable in scope: its number and the input that it leads to.
type Visible = (String, u32, Option<Vec<Key>>);

/// Marks under construction, and the variables in scope.
#[derive(Debug, Default)]
pub struct MarkList {
    marks: Vec<Mark>,
    visible: Vec<Visible>,
    variables: u32,
    /// The end of all that was added since the last definition that is open began.
    end: u32,
}

/// A definition that is not at its end.
#[derive(Debug)]
pub struct Open {
    at: usize,
    scope: usize,
}

impl MarkList {
    /// Returns the marks in the order of their places.
    pub fn finish(mut self) -> Vec<Mark> {
        self.marks.sort_by_key(|mark| (mark.span.start, mark.span.end));
        self.marks
    }

    /// Adds a mark.
    pub fn add(&mut self, mark: Mark) {
        self.end = self.end.max(mark.whole.end);
        self.marks.push(mark);
    }

    /// Begins a definition that reaches to the end of what is added until [`MarkList::end`], and a scope.
    pub fn begin(&mut self, mark: Mark) -> Open {
        let open = Open { at: self.marks.len(), scope: self.enter() };
        self.end = mark.whole.end;
        self.marks.push(mark);
        open
    }

    /// Ends a definition.
    pub fn end(&mut self, open: Open) {
        self.leave(open.scope);
        let end = self.end;
        if let Some(mark) = self.marks.get_mut(open.at) {
            mark.whole = mark.whole.to(Span::new(end, end));
        }
    }

    /// Returns the end of all that was added since the last definition that is open began.
    pub fn reached(&self) -> u32 {
        self.end
    }

    /// Begins a scope.
    pub fn enter(&self) -> usize {
        self.visible.len()
    }

    /// Ends the scope that [`MarkList::enter`] began.
    pub fn leave(&mut self, scope: usize) {
        self.visible.truncate(scope);
    }

    /// Takes note of a place that the definition around it reaches to.
    pub fn reach(&mut self, span: Span) {
        self.end = self.end.max(span.end);
    }

    /// Defines a variable in the current scope. One that is already there gets another definition.
    pub fn define(&mut self, name: &str, span: Span, given: Option<Given>, input: Option<Vec<Key>>) {
        let number = self.variables;
        self.variables += 1;
        self.visible.push((name.to_owned(), number, input.clone()));
        self.define_as(name, span, number, given, input);
    }

    /// Assigns to a variable, which is defined if it is not in scope.
    pub fn assign(&mut self, name: &str, span: Span, given: Option<Given>, input: Option<Vec<Key>>) {
        let Some(found) = self.visible.iter_mut().rfind(|(known, ..)| known == name) else {
            return self.define(name, span, given, input);
        };
        found.2 = None;
        let number = found.1;
        self.define_as(name, span, number, given, None);
    }

    fn define_as(&mut self, name: &str, span: Span, number: u32, given: Option<Given>, input: Option<Vec<Key>>) {
        let mark = Mark::definition(Named::Variable, name, span, span);
        self.add(Mark { variable: Some(number), given, input, ..mark });
    }

    /// Returns the input that a name with steps leads to: that of the variable, or one of the name itself.
    pub fn input(&self, name: &str, steps: &[(Key, Span)]) -> Option<Vec<Key>> {
        let mut input = match self.visible.iter().rfind(|(known, ..)| known == name) {
            Some((.., input)) => input.clone()?,
            None => vec![Key::Name(name.to_owned())],
        };
        input.extend(steps.iter().map(|(key, _)| key.clone()));
        Some(input)
    }

    /// Adds the use of a variable, or of an input if there is no such variable.
    pub fn path(&mut self, name: &str, span: Span, whole: Span, steps: Vec<(Key, Span)>) {
        let found = self.visible.iter().rfind(|(known, ..)| known == name);
        let (kind, variable) = match found {
            Some((_, number, _)) => (Named::Variable, Some(*number)),
            None => (Named::Input, None),
        };
        let input = self.input(name, &[]);
        self.add(Mark { whole, variable, input, steps, ..Mark::new(kind, name, span) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_hide_inputs_within_their_scope() {
        let mut list = MarkList::default();
        let at = |start| Span::new(start, start + 1);
        list.path("x", at(0), at(0), Vec::new());
        let scope = list.enter();
        list.define("x", at(1), None, Some(vec![Key::Name("xs".to_owned()), Key::Any]));
        list.path("x", at(2), at(2), vec![(Key::Name("y".to_owned()), at(4))]);
        list.leave(scope);
        list.path("x", at(5), at(5), Vec::new());
        let marks = list.finish();
        let kinds: Vec<_> = marks.iter().map(|mark| (mark.kind, mark.variable)).collect();
        let variable = (Named::Variable, Some(0));
        assert_eq!(kinds, [(Named::Input, None), variable, variable, (Named::Input, None)]);
        let (input, span) = marks[2].input_at(4).unwrap();
        let name = |name: &str| Key::Name(name.to_owned());
        assert_eq!((input, span), (vec![name("xs"), Key::Any, name("y")], at(4)));
        assert_eq!(marks[2].input_at(2).unwrap().0.len(), 2);
    }
}
