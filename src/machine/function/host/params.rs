//! The declared parameters of a host function, and how the arguments of a call fit them.

use std::borrow::Cow;
use std::fmt;

use smallvec::SmallVec;

use crate::bytecode::ImportKind;
use crate::function::gate::excerpt;
use crate::function::spec::{Builtin, Type};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP};
use dropforge_value::Value;

/// The arguments of a call: one for each parameter, undefined if it was left out, and then all further ones.
pub type Arranged<'v> = SmallVec<[Value<'v>; 8]>;

/// A parameter of a host function.
#[derive(Debug, Clone, PartialEq)]
pub struct HostParam {
    /// The name, for calls with named arguments and for messages.
    pub name: Cow<'static, str>,
    /// The type.
    pub ty: Type,
    /// `true` if a call may leave it out.
    pub optional: bool,
}

/// The parameters of a host function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostParams {
    params: Vec<HostParam>,
    /// The type of all further arguments. `None` if there may be none.
    rest: Option<Type>,
    /// `true` if further arguments may have any name.
    open: bool,
    /// `true` if the parameters have names that a call can use.
    named: bool,
    /// The number of parameters before those with names: the subject of a filter or test.
    subjects: usize,
}

/// The reason why the arguments of a call do not fit the parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Misfit {
    /// There are this many arguments, which is too many.
    Count(usize),
    /// The argument for this parameter is missing.
    Missing(usize),
    /// No parameter has this name.
    Unknown(String),
    /// The parameters have no names, so several named arguments have no order.
    Unnamed,
    /// The argument for this parameter has another type. The text says which.
    Type(usize, String),
}

impl HostParams {
    /// Adds a parameter.
    pub(super) fn add(&mut self, ty: Type) {
        let name = format!("argument{}", self.params.len() + 1).into();
        self.params.push(HostParam { name, ty, optional: false });
    }

    /// Makes the parameters after the first `from` optional.
    pub(super) fn make_optional(&mut self, from: usize) {
        self.params.iter_mut().skip(from).for_each(|param| param.optional = true);
    }

    /// Admits further arguments of a type.
    pub(super) fn admit_rest(&mut self, ty: Type) {
        self.rest = Some(ty);
    }

    /// Admits any arguments.
    pub(super) fn admit_all(&mut self) {
        (self.rest, self.open) = (Some(Type::Any), true);
    }

    /// Sets the names of the parameters, of which an optional one ends in `?`. A function that admits any arguments has
    /// then these parameters only.
    pub(super) fn name(&mut self, kind: ImportKind, names: &[&str]) {
        self.subjects = usize::from(matches!(kind, ImportKind::Filter | ImportKind::Test));
        if self.open && !names.is_empty() {
            (self.rest, self.open) = (None, false);
            (self.params.len()..self.subjects + names.len()).for_each(|_| self.add(Type::Any));
        }
        if let (1, Some(subject)) = (self.subjects, self.params.first_mut()) {
            subject.name = "value".into();
        }
        self.named = !names.is_empty();
        for (param, name) in self.params.iter_mut().skip(self.subjects).zip(names) {
            let plain = name.trim_end_matches('?');
            param.name = plain.to_owned().into();
            param.optional |= plain.len() < name.len();
        }
    }

    /// Returns the parameters. Those of a filter or test begin with its subject.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &HostParam> + Clone {
        self.params.iter()
    }

    /// Returns the parameters that a call can name.
    pub fn named(&self) -> impl Iterator<Item = &HostParam> + Clone {
        self.params.iter().skip(if self.named { self.subjects } else { usize::MAX })
    }

    /// Returns the type of all further arguments. `None` if there may be none.
    pub fn rest(&self) -> Option<Type> {
        self.rest
    }

    /// Returns `true` if further arguments may have any name.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the number of parameters up to the last one that a call cannot leave out.
    pub fn required(&self) -> usize {
        self.params.iter().rposition(|param| !param.optional).map_or(0, |last| last + 1)
    }

    /// Returns the type of argument `at`.
    pub fn type_of(&self, at: usize) -> Option<Type> {
        self.params.get(at).map(|param| param.ty).or(self.rest)
    }

    /// Returns the index of the parameter called `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        let at = self.named().position(|param| param.name == name)?;
        Some(at + self.subjects)
    }

    /// Returns why no call can have this many positional arguments and no named ones.
    pub fn misfit_of(&self, count: usize) -> Option<Misfit> {
        match self.required().checked_sub(count + 1) {
            Some(_) => Some(Misfit::Missing(count)),
            None => (count > self.params.len() && self.rest.is_none()).then_some(Misfit::Count(count)),
        }
    }

    /// Returns the parameter of each of these named arguments, after `positional` others. `None` stands for an argument
    /// without one, which an open function takes.
    ///
    /// # Errors
    /// A name is unknown, or the parameters have no names and there is more than one argument.
    pub fn places<'n>(
        &self,
        positional: usize,
        names: impl ExactSizeIterator<Item = &'n str>,
    ) -> Result<SmallVec<[Option<usize>; 8]>, Misfit> {
        let only = names.len() == 1 && !self.named && positional < self.params.len();
        let several = names.len() > 1 && !self.named && !self.open;
        let place = |name: &str| match self.position(name) {
            Some(at) => Ok(Some(at)),
            None if only => Ok(Some(positional)),
            None if self.open => Ok(None),
            None if several && !self.params.is_empty() => Err(Misfit::Unnamed),
            None => Err(Misfit::Unknown(name.to_owned())),
        };
        names.map(place).collect()
    }

    /// Arranges the arguments of a call by the parameters.
    ///
    /// # Errors
    /// The arguments do not fit.
    pub(super) fn arrange<'v>(
        &self,
        positional: &[Value<'v>],
        named: &[(&str, Value<'v>)],
    ) -> Result<Arranged<'v>, Misfit> {
        if positional.len() > self.params.len() && self.rest.is_none() {
            return Err(Misfit::Count(positional.len() + named.len()));
        }
        let mut arranged = Arranged::from_slice(positional);
        arranged.resize(positional.len().max(self.params.len()), Value::Undefined);
        let mut given: SmallVec<[bool; 8]> = SmallVec::from_elem(false, self.params.len());
        given.iter_mut().take(positional.len()).for_each(|given| *given = true);
        if !named.is_empty() {
            let places = self.places(positional.len(), named.iter().map(|(name, _)| *name))?;
            for (place, (_, value)) in places.iter().zip(named) {
                let Some(at) = *place else { continue };
                if let (Some(slot), Some(given)) = (arranged.get_mut(at), given.get_mut(at)) {
                    (*slot, *given) = (*value, true);
                }
            }
        }
        let missing = self.params.iter().zip(&given).position(|(param, given)| !param.optional && !given);
        missing.map_or(Ok(arranged), |at| Err(Misfit::Missing(at)))
    }
}

impl Misfit {
    /// Creates the misfit of the argument for parameter `at`, which should have another type.
    #[cold]
    pub fn of_type(at: usize, ty: Type, value: Value<'_>, why: &str) -> Self {
        let text = if ty.admits(&value) || ty == Type::Any {
            why.to_owned()
        } else {
            format!("should be {}, but it is {} ({})", ty.name(), excerpt(value), value.kind())
        };
        Misfit::Type(at, text)
    }

    /// Returns the error in words that suit any language.
    #[cold]
    pub fn error(&self, function: &Builtin) -> Box<Diagnostic> {
        let (kind, name) = (function.kind.name(), &*function.name);
        let none = HostParams::default();
        let params = function.host_params().unwrap_or(&none);
        let param = |at: usize| params.params.get(at);
        let named =
            |at: usize| param(at).map_or_else(|| format!("argument {}", at + 1), |param| param.name.to_string());
        match self {
            Misfit::Count(count) => {
                let less = |count: usize| count.saturating_sub(params.subjects);
                let (count, most) = (less(*count), less(params.params.len()));
                let plural = if most == 1 { "" } else { "s" };
                let are = if count == 1 { "is" } else { "are" };
                let message = format!("{kind} `{name}` takes {most} argument{plural}, but {count} {are} given");
                Diagnostic::new(Code::BadArgument, message)
            }
            Misfit::Missing(at) => {
                let ty = param(*at).map_or(Type::Any, |param| param.ty).name();
                let message = format!("{kind} `{name}` needs the argument `{}`, {ty}", named(*at));
                let error = Diagnostic::new(Code::MissingArgument, message).with_field(LOOKED_UP, named(*at));
                if params.named { error.with_help(format!("add `{}=…`", named(*at))) } else { error }
            }
            Misfit::Unknown(unknown) => {
                let names = params.named().map(|param| &*param.name);
                let message = format!("{kind} `{name}` has no argument `{unknown}`");
                Diagnostic::new(Code::BadArgument, message)
                    .with_field(LOOKED_UP, unknown)
                    .with_suggestion(unknown, names.clone())
                    .with_available(names)
            }
            Misfit::Unnamed => {
                let message =
                    format!("the arguments of {kind} `{name}` have no names, so several of them have no order");
                let names =
                    (params.subjects..params.params.len()).map(|at| format!("NAME{}", at - params.subjects + 1));
                let names = names.collect::<Vec<_>>().join(", ");
                Diagnostic::new(Code::BadArgument, message)
                    .with_help(format!("name them in the program that adds the {kind}: `\"{name}({names})\"`"))
            }
            Misfit::Type(at, why) => {
                let space = if why.starts_with("should") { " " } else { ": " };
                Diagnostic::new(Code::BadArgument, format!("{kind} `{name}`: `{}`{space}{why}", named(*at)))
            }
        }
    }
}

impl fmt::Display for HostParams {
    /// Writes the parameters as documentation lists them: `n: integer, s?: string, ...number`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for param in self.params.iter().skip(self.subjects) {
            let mark = if param.optional { "?" } else { "" };
            write!(f, "{separator}{}{mark}: {}", param.name, param.ty.word())?;
            separator = ", ";
        }
        match self.rest {
            Some(_) if self.open => write!(f, "{separator}…"),
            Some(ty) => write!(f, "{separator}...{}", ty.word()),
            None => Ok(()),
        }
    }
}

/// Splits a declaration (`probe(n, s?)`) into the name of the function and those of its parameters.
pub(super) fn names(declared: &str) -> (&str, Vec<&str>) {
    match declared.strip_suffix(')').and_then(|declared| declared.split_once('(')) {
        Some((name, names)) => (name.trim(), names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()),
        None => (declared, Vec::new()),
    }
}
