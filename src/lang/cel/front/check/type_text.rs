//! Parsing of types: `map(string, list(int))`.

use std::sync::Arc;

use super::types::{Kind, PLAIN, TypeId, Types};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::{Source, Span};

/// The maximum nesting depth.
const DEPTH: usize = 32;

impl Types {
    /// Parses a type: a plain one (`dyn`, `null`, `bool`, `int`, `uint`, `double`, `string`, `bytes`, `timestamp`,
    /// `duration`, `type`, `any`), `list(T)`, `map(K, V)`, `optional_type(T)`, `wrapper(T)`, `type(T)`, or the name of
    /// an opaque type with or without parameters.
    ///
    /// # Errors
    /// [`Code::UnexpectedToken`] for text that is not a type, [`Code::LimitDepth`] for nesting beyond 32 levels.
    ///
    /// ```
    /// use dropforge::dialect::cel::check::Types;
    /// let mut types = Types::default();
    /// let id = types.read("map( string,list(net.IP))").unwrap();
    /// assert_eq!(types.text(id), "map(string, list(net.IP))");
    /// assert!(types.read("list(int").is_err());
    /// ```
    pub fn read(&mut self, text: &str) -> Result<TypeId> {
        self.read_signature(text, None)
    }

    /// Parses a type. A single capital letter is a type parameter, if `params` of a signature are given.
    pub(super) fn read_signature(&mut self, text: &str, params: Option<&mut Vec<String>>) -> Result<TypeId> {
        let mut parser = TypeParser { text, at: 0, types: self, params };
        let ty = parser.ty(0)?;
        match parser.rest().trim_start() {
            "" => Ok(ty),
            _ => Err(parser.error("expected the end of the type")),
        }
    }
}

struct TypeParser<'r> {
    text: &'r str,
    at: usize,
    types: &'r mut Types,
    params: Option<&'r mut Vec<String>>,
}

impl<'r> TypeParser<'r> {
    fn rest(&self) -> &'r str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&self, message: &str) -> Box<Diagnostic> {
        let source = Source::new("<type>", self.text);
        Diagnostic::new(Code::UnexpectedToken, message).at(&source, Span::of(self.at..self.at), "")
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips a character if it is next, and returns `true` if so.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn name(&mut self) -> Result<&'r str> {
        self.skip_spaces();
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/');
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let name = rest.get(..len).filter(|name| !name.is_empty()).ok_or_else(|| self.error("expected a type"))?;
        self.at += len;
        Ok(name)
    }

    fn ty(&mut self, depth: usize) -> Result<TypeId> {
        if depth > DEPTH {
            let mut error = self.error("the type nests too deep: the limit is 32 levels");
            error.code = Code::LimitDepth;
            return Err(error);
        }
        let name = self.name()?;
        let mut params = Vec::new();
        if self.take('(') {
            params.push(self.ty(depth + 1)?);
            while self.take(',') {
                params.push(self.ty(depth + 1)?);
            }
            if !self.take(')') {
                return Err(self.error("expected `)` or `,`"));
            }
        }
        self.named(name, &params)
    }

    fn named(&mut self, name: &str, params: &[TypeId]) -> Result<TypeId> {
        let plain = PLAIN.iter().find(|(kind, plain)| *plain == name && !matches!(kind, Kind::Error | Kind::Number));
        let kind = match (name, params) {
            (_, []) if let Some((plain, _)) = plain => plain.clone(),
            ("any" | "google.protobuf.Any" | "google.protobuf.Value", []) => Kind::Dyn,
            ("null_type", []) => Kind::Null,
            ("google.protobuf.Timestamp", []) => Kind::Timestamp,
            ("google.protobuf.Duration", []) => Kind::Duration,
            ("type", []) => Kind::Type(Types::DYN),
            ("list", []) => Kind::List(Types::DYN),
            ("map", []) => Kind::Map(Types::DYN, Types::DYN),
            ("type", &[of]) => Kind::Type(of),
            ("list", &[of]) => Kind::List(of),
            ("map", &[key, value]) => Kind::Map(key, value),
            ("optional_type", &[of]) => Kind::Optional(of),
            ("wrapper", &[of]) => Kind::Nullable(of),
            ("type" | "list" | "map" | "optional_type" | "wrapper", _) => {
                return Err(self.error(&format!("`{name}` has another number of parameters")));
            }
            (name, []) if name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                if let Some(params) = &mut self.params {
                    return Ok(self.types.param(name, params));
                }
                Kind::Opaque(name.into(), Arc::default())
            }
            (name, params) => Kind::Opaque(name.into(), params.into()),
        };
        Ok(self.types.add(kind))
    }
}
