//! Regular expressions: compiled once per session, charged once per render.

use std::rc::Rc;
use std::sync::Arc;

use regex::{Captures, Regex};

use super::context::Cx;
use super::errors::{Fault, Outcome};
use crate::diagnostics::{Code, Result};
use crate::limits::Limit;
use crate::stdlib::re2::parsed;
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

    /// Returns the compiled form of a pattern in RE2 syntax.
    pub(crate) fn pattern<'p>(&self, pattern: &'p str) -> Outcome<Pattern<'p>> {
        self.charge(pattern.len().saturating_mul(2))?;
        let wrong = |why: String| Fault::wrong(format!("`{pattern}` is not a regular expression: {why}"));
        let parsed = parsed(pattern).map_err(|why| wrong(why.to_string()))?;
        let regex = self.regex(&parsed.text).map_err(|error| match error.code {
            Code::BadArgument => wrong(error.message.lines().last().unwrap_or("").to_owned()),
            _ => Fault::Limit(error),
        })?;
        Ok(Pattern { text: pattern, regex, names: parsed.names })
    }
}

/// A compiled pattern in RE2 syntax, and the names of its groups. Several groups may have one name.
pub(crate) struct Pattern<'p> {
    text: &'p str,
    pub(crate) regex: Arc<Regex>,
    pub(crate) names: Vec<Option<&'p str>>,
}

impl Pattern<'_> {
    /// Charges for a search in `text`.
    pub(crate) fn charge_search(&self, cx: &Cx<'_>, text: &str) -> Result<()> {
        cx.spend(search_steps(self.text, text.len()) / 8)
    }

    /// Replaces all matches. `$1`, `$name` and `${name}` in `template` are groups, and `$$` is `$`.
    pub(crate) fn replaced(&self, cx: &Cx<'_>, text: &str, template: &str) -> Result<String> {
        self.charge_search(cx, text)?;
        cx.charge(text.len())?;
        let (mut out, mut done) = (String::new(), 0);
        for captures in self.regex.captures_iter(text) {
            let Some(whole) = captures.get(0) else { continue };
            out.push_str(text.get(done..whole.start()).unwrap_or(""));
            self.expand(cx, template, &captures, &mut out)?;
            done = whole.end();
        }
        out.push_str(text.get(done..).unwrap_or(""));
        Ok(out)
    }

    /// Appends `template` with the groups of a match. Of groups with one name, the first in the match counts. A missing
    /// group is empty; any other `$` stands for itself.
    fn expand(&self, cx: &Cx<'_>, template: &str, captures: &Captures<'_>, out: &mut String) -> Result<()> {
        let mut push = |piece: &str| -> Result<()> {
            cx.charge(piece.len())?;
            out.push_str(piece);
            Ok(())
        };
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('$') {
            push(before)?;
            cx.spend(1 + self.names.len() as u64 / 16)?;
            rest = after;
            if let Some((name, after)) = group_reference(rest) {
                push(self.group(captures, name))?;
                rest = after;
            } else {
                push("$")?;
                rest = rest.strip_prefix('$').unwrap_or(rest);
            }
        }
        push(rest)
    }

    fn group<'t>(&self, captures: &Captures<'t>, name: &str) -> &'t str {
        let group = match name.parse() {
            Ok(at) => captures.get(at),
            Err(_) => (1..).zip(&self.names).find_map(|(at, own)| captures.get(at).filter(|_| *own == Some(name))),
        };
        group.map_or("", |group| group.as_str())
    }
}

/// Splits a reference to a group into its name and the text after it.
fn group_reference(rest: &str) -> Option<(&str, &str)> {
    let (inside, close) = rest.strip_prefix('{').map_or((rest, ""), |inside| (inside, "}"));
    let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
    let (name, after) = inside.split_at(end);
    if name.is_empty() { None } else { after.strip_prefix(close).map(|after| (name, after)) }
}
