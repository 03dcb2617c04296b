//! Regular expressions: compiled once per session, charged once per render.

use std::rc::Rc;
use std::sync::Arc;

use regex::Regex;

use super::context::Cx;
use crate::diagnostics::{Code, Result};
use crate::limits::Limit;
use crate::stdlib::regex_cost::search_steps;

/// Maximum number of cached patterns.
const REGEXES: usize = 64;

/// Maximum bytes of a compiled pattern.
const REGEX_SIZE: usize = 1 << 20;

/// Maximum bytes of a pattern's lazily built automaton, which lives as long as the pattern.
const REGEX_CACHE: usize = 256 << 10;

/// Compiling a pattern costs about as many steps as searching this many bytes.
const REGEX_COMPILATION: usize = 1 << 10;

impl Cx<'_> {
    /// Returns the compiled form of `pattern`. The engine is linear and has a size limit.
    pub fn regex(&self, pattern: &str) -> Result<Arc<Regex>> {
        if pattern.len() > self.limits.regex_bytes {
            return Err(Limit::Regex.error(self.limits.regex_bytes as u64));
        }
        if let Some(regex) = self.patterns.0.get().and_then(|patterns| patterns.borrow().get(pattern).cloned()) {
            return Ok(regex);
        }
        self.charge(pattern.len() * 64)?;
        self.spend(search_steps(pattern, REGEX_COMPILATION))?;
        let regex = self.compiled(pattern)?;
        self.patterns.0.get_or_init(Rc::default).borrow_mut().insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }

    /// Returns the compiled form of `pattern`, from the session's cache if possible.
    fn compiled(&self, pattern: &str) -> Result<Arc<Regex>> {
        if let Some(regex) = self.caches.patterns.0.borrow().get(pattern) {
            return Ok(regex.clone());
        }
        let mut builder = regex::RegexBuilder::new(pattern);
        let built = builder.size_limit(REGEX_SIZE).dfa_size_limit(REGEX_CACHE).nest_limit(50).build();
        let regex = built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => Limit::Regex.error(REGEX_SIZE as u64),
            _ => self.fault(Code::BadArgument, format!("`{pattern}` is not a regular expression: {error}")),
        })?;
        let regex = Arc::new(regex);
        let mut compiled = self.caches.patterns.0.borrow_mut();
        if compiled.len() < REGEXES {
            compiled.insert(pattern.to_owned(), regex.clone());
        }
        Ok(regex)
    }
}
