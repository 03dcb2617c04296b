//! Regular expressions, compiled once per session and charged once per render, and the caches that keep them.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use regex::{Captures, Regex};

use super::context::Cx;
use super::errors::{Fault, Outcome};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::patterns::{search_steps, steps_per_byte};
use dropforge_base::stdlib::re2::{Refused, parsed};
use dropforge_schema::Schemas;

/// Maximum number of cached patterns.
const REGEXES: usize = 64;

/// Maximum bytes of a compiled pattern.
const REGEX_SIZE: usize = 1 << 20;

/// Maximum bytes of a pattern's lazily built automaton, which lives as long as the pattern.
const REGEX_CACHE: usize = 256 << 10;

/// Compiling a pattern costs about as many steps as searching this many bytes.
const REGEX_COMPILATION: usize = 1 << 10;

/// Compiled regular expressions and schemas, kept from render to render.
#[derive(Debug, Default)]
pub struct Caches {
    pub(super) patterns: PatternCache,
    pub(super) re2: Re2Cache,
    pub(super) schemas: SchemaCache,
}

/// Compiled patterns. They are shared, not cloned: a clone starts with an empty automaton cache.
type Patterns = hashbrown::HashMap<String, Arc<Regex>>;

/// The patterns of a session.
#[derive(Debug, Default)]
pub struct PatternCache(pub(super) RefCell<Patterns>);

/// The patterns of a session in RE2 syntax, in the order of their first use, one for each bit of a context. They are
/// never replaced. Allocated with the first pattern.
#[derive(Debug, Default)]
pub struct Re2Cache(pub(super) OnceCell<Box<[OnceCell<Translated>]>>);

/// Patterns that the current render has paid for. The cost of a render must not depend on earlier ones. Allocated with
/// the first pattern.
#[derive(Debug, Default)]
pub(super) struct PaidPatterns(pub(super) OnceCell<Rc<RefCell<Patterns>>>);

/// The schemas of a session, by their text.
#[derive(Debug, Default)]
pub struct SchemaCache(pub(super) RefCell<hashbrown::HashMap<String, Arc<Schemas>>>);

impl Cx<'_> {
    /// Returns the compiled form of `pattern`. The engine is linear and has a size limit.
    pub fn regex(&self, pattern: &str) -> Result<Arc<Regex>> {
        self.check_pattern(pattern)?;
        if let Some(regex) = self.patterns.0.get().and_then(|patterns| patterns.borrow().get(pattern).cloned()) {
            return Ok(regex);
        }
        self.pay_for_compilation(pattern)?;
        let regex = self.compiled(pattern)?;
        self.patterns.0.get_or_init(Rc::default).borrow_mut().insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }

    fn check_pattern(&self, pattern: &str) -> Result<()> {
        let most = self.limits.regex_bytes;
        if pattern.len() > most { Err(Limit::Regex.error(most as u64)) } else { Ok(()) }
    }

    /// Charges for compiling a pattern, whether it is in the session's cache or not.
    fn pay_for_compilation(&self, pattern: &str) -> Result<()> {
        self.charge(pattern.len() * 64)?;
        self.spend(search_steps(pattern, REGEX_COMPILATION))
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
    pub fn pattern(&self, pattern: &str) -> Outcome<Pattern<'_>> {
        self.charge(pattern.len().saturating_mul(2))?;
        self.re2(pattern, |refused| {
            let why = match &refused {
                Refusal::Syntax(why) => why.to_string(),
                Refusal::Engine(message) => message.lines().last().unwrap_or("").to_owned(),
            };
            Fault::wrong(format!("`{pattern}` is not a regular expression: {why}"))
        })
    }

    /// Returns the compiled form of a pattern in RE2 syntax. Charges for compiling it, but not for reading it. `refused`
    /// makes the error of an invalid pattern.
    pub fn re2<E: From<Box<Diagnostic>>>(
        &self,
        pattern: &str,
        refused: impl Fn(Refusal<'_>) -> E,
    ) -> std::result::Result<Pattern<'_>, E> {
        let caches = self.caches;
        let known = caches.re2.0.get_or_init(|| (0..u64::BITS).map(|_| OnceCell::new()).collect());
        if let Some((at, found)) = known.iter().map_while(OnceCell::get).enumerate().find(|(_, of)| of.is(pattern)) {
            if self.paid.get() & 1 << at == 0 {
                self.check_pattern(&found.text)?;
                self.pay_for_compilation(&found.text)?;
                self.paid.set(self.paid.get() | 1 << at);
            }
            return Ok(Pattern(CachedPattern::Kept(found)));
        }
        self.check_pattern(pattern)?;
        let made = self.translated(pattern, refused)?;
        match known.iter().enumerate().find(|(_, free)| free.get().is_none()) {
            Some((at, free)) => {
                self.paid.set(self.paid.get() | 1 << at);
                Ok(Pattern(CachedPattern::Kept(free.get_or_init(|| made))))
            }
            None => Ok(Pattern(CachedPattern::Own(Box::new(made)))),
        }
    }

    fn translated<E: From<Box<Diagnostic>>>(
        &self,
        pattern: &str,
        refused: impl Fn(Refusal<'_>) -> E,
    ) -> std::result::Result<Translated, E> {
        let parsed = parsed(pattern).map_err(|why| refused(Refusal::Syntax(why)))?;
        let regex = self.regex(&parsed.text).map_err(|error| match error.code {
            Code::BadArgument => refused(Refusal::Engine(error.message)),
            _ => error.into(),
        })?;
        let names = parsed.names.iter().map(|name| name.map(str::to_owned)).collect();
        let steps = steps_per_byte(&parsed.text);
        Ok(Translated { source: pattern.to_owned(), text: parsed.text, names, steps, regex })
    }
}

/// The reason why a pattern is invalid.
#[derive(Debug)]
pub enum Refusal<'p> {
    /// It is not in RE2 syntax.
    Syntax(Refused<'p>),
    /// The message of the engine.
    Engine(String),
}

/// A pattern in RE2 syntax, compiled.
#[derive(Debug)]
pub(crate) struct Translated {
    source: String,
    /// The pattern in the syntax of the engine.
    text: String,
    /// The names of the groups. Several groups may have one name.
    names: Vec<Option<String>>,
    /// Steps of a search, for each byte.
    steps: u64,
    regex: Arc<Regex>,
}

impl Translated {
    #[inline]
    fn is(&self, pattern: &str) -> bool {
        self.source == pattern
    }
}

/// A pattern of the session's cache, or one that did not fit.
#[derive(Debug)]
enum CachedPattern<'c> {
    Kept(&'c Translated),
    Own(Box<Translated>),
}

/// A compiled pattern in RE2 syntax. It dereferences to the regular expression.
#[derive(Debug)]
pub struct Pattern<'c>(CachedPattern<'c>);

impl std::ops::Deref for Pattern<'_> {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.translated().regex
    }
}

impl Pattern<'_> {
    fn translated(&self) -> &Translated {
        match &self.0 {
            CachedPattern::Kept(kept) => kept,
            CachedPattern::Own(own) => own,
        }
    }

    /// Returns the names of the groups, in order. Several groups may have one name.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.translated().names.iter().map(Option::as_deref)
    }

    /// Returns the steps of a search in that many bytes.
    pub fn search_steps(&self, bytes: usize) -> u64 {
        self.translated().steps.saturating_mul(bytes as u64)
    }

    /// Charges for a search in `text`.
    pub fn charge_search(&self, cx: &Cx<'_>, text: &str) -> Result<()> {
        cx.spend(search_steps(&self.translated().source, text.len()) / 8)
    }

    /// Replaces all matches. `$1`, `$name` and `${name}` in `template` are groups, and `$$` is `$`.
    pub fn replaced(&self, cx: &Cx<'_>, text: &str, template: &str) -> Result<String> {
        let bytes = self.replaced_parts(cx, text, template.as_bytes(), &|range| part(text.as_bytes(), range))?;
        // The parts are those of texts, cut at matches.
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Replaces all matches in `text`, like [`Pattern::replaced`]. The result has the bytes that `part` returns for ranges of it.
    pub fn replaced_parts<'t>(
        &self,
        cx: &Cx<'_>,
        text: &str,
        template: &[u8],
        part: &dyn Fn(Range<usize>) -> &'t [u8],
    ) -> Result<Vec<u8>> {
        self.charge_search(cx, text)?;
        cx.charge(text.len())?;
        let (mut out, mut done) = (Vec::new(), 0);
        for captures in self.captures_iter(text) {
            let Some(whole) = captures.get(0) else { continue };
            out.extend_from_slice(part(done..whole.start()));
            self.expand(cx, template, &|name| self.group(&captures, name).map_or(&[], part), &mut out)?;
            done = whole.end();
        }
        out.extend_from_slice(part(done..text.len()));
        Ok(out)
    }

    /// Appends `template` with the groups of a match. Of groups with one name, the first in the match counts. A missing
    /// group is empty; any other `$` stands for itself.
    fn expand<'t>(
        &self,
        cx: &Cx<'_>,
        template: &[u8],
        group: &dyn Fn(&str) -> &'t [u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut push = |piece: &[u8]| -> Result<()> {
            cx.charge(piece.len())?;
            out.extend_from_slice(piece);
            Ok(())
        };
        let mut pieces = template.split(|byte| *byte == b'$');
        push(pieces.next().unwrap_or_default())?;
        while let Some(piece) = pieces.next() {
            cx.spend(1 + self.names().len() as u64 / 16)?;
            match group_reference(piece) {
                Some((name, after)) => {
                    push(group(name))?;
                    push(after)?;
                }
                None => {
                    push(b"$")?;
                    // After `$$`, a name is text.
                    push(if piece.is_empty() { pieces.next().unwrap_or_default() } else { piece })?;
                }
            }
        }
        Ok(())
    }

    fn group(&self, captures: &Captures<'_>, name: &str) -> Option<Range<usize>> {
        let group = match name.parse() {
            Ok(at) => captures.get(at),
            Err(_) => (1..).zip(self.names()).find_map(|(at, own)| captures.get(at).filter(|_| own == Some(name))),
        };
        group.map(|group| group.range())
    }
}

fn part(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes.get(range).unwrap_or_default()
}

/// Splits the text after a `$` into the name of a group and the rest.
fn group_reference(piece: &[u8]) -> Option<(&str, &[u8])> {
    let valid = piece.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let (inside, close) = valid.strip_prefix('{').map_or((valid, ""), |inside| (inside, "}"));
    let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
    let (name, after) = inside.split_at(end);
    if name.is_empty() || !after.starts_with(close) {
        return None;
    }
    Some((name, part(piece, 2 * close.len() + name.len()..piece.len())))
}

#[cfg(test)]
mod tests {
    use crate::function::{Caches, Capabilities, Cx};
    use dropforge_base::limits::Limits;
    use dropforge_value::{Arena, Inputs};

    /// Uses patterns in one run, and returns the steps of each use.
    fn steps(caches: &Caches, patterns: &[String]) -> Vec<u64> {
        let (arena, limits) = (Arena::new(), Limits::default());
        let cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, caches);
        let step = |pattern: &String| {
            let before = cx.fuel();
            assert!(cx.pattern(pattern).unwrap().is_match("a1"), "{pattern}");
            before - cx.fuel()
        };
        patterns.iter().map(step).collect()
    }

    #[test]
    fn a_run_pays_once_for_a_pattern_whatever_ran_before() {
        let caches = Caches::default();
        let patterns = ["a", "a", r"\d", "a"].map(String::from);
        let first = steps(&caches, &patterns);
        assert!(first[0] > 0 && first[1] == 0 && first[2] > 0 && first[3] == 0, "{first:?}");
        assert_eq!(steps(&caches, &patterns), first);
    }

    #[test]
    fn patterns_beyond_the_cache_cost_the_same() {
        let caches = Caches::default();
        let patterns: Vec<_> = (0..80).map(|n| format!("a|b{n:02}")).collect();
        let twice = [patterns.clone(), patterns].concat();
        let (first, again) = (steps(&caches, &twice), steps(&caches, &twice));
        assert!(first[..80].iter().all(|steps| *steps == first[0] && *steps > 0), "{first:?}");
        assert!(first[80..].iter().all(|steps| *steps == 0), "{first:?}");
        assert_eq!(again, first);
    }

    #[test]
    fn the_length_of_a_known_pattern_is_limited_as_well() {
        let (arena, caches) = (Arena::new(), Caches::default());
        steps(&caches, &["a1".to_owned()]);
        let limits = Limits { regex_bytes: 1, ..Limits::default() };
        let cx = Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches);
        assert!(cx.pattern("a1").is_err());
    }
}
