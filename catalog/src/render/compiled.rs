//! A cache of compiled templates and schemas, by the hashes of both texts.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use blake3::Hash;
use lru::LruCache;
use serde_json::{Value as Json, json};

use super::options::Options;
use super::renderer::Stats;
use crate::error::{CatalogError, Result};
use crate::fair::Load;
use crate::parameters::Schema;
use crate::review::{Finding, MAX_MESSAGE, Review, review, shortened};
use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::engine::{Dialect, Engine, Template, TeraDialect, UnknownNames};
use dropforge::limits::Limits;
use dropforge::text::Source;

/// Memory of an entry without its contents.
const ENTRY: usize = 3 << 10;

/// Name of templates in diagnostics.
const NAME: &str = "template";

/// A compiled template and schema.
#[derive(Debug)]
pub struct Compiled {
    template: Template,
    schema: Schema,
    review: Review,
}

impl Compiled {
    /// The template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The memory that both take, in bytes. It is an estimate.
    fn memory(&self) -> usize {
        let inputs: usize = self.review.inputs.iter().map(|input| size_of::<String>() + input.len()).sum();
        let findings: usize = self.review.findings.iter().map(Finding::memory).sum();
        ENTRY + self.template.memory() + self.schema.memory() + inputs + findings
    }

    /// The result of checking the template against its schema.
    pub fn review(&self) -> &Review {
        &self.review
    }
}

/// A compiler with a cache.
#[derive(Debug)]
pub(super) struct Compiler {
    /// For templates that also render with Tera.
    plain: Engine,
    /// For templates that declare the dialect [`PLUS`].
    plus: Engine,
    cache: Mutex<Cache>,
    pub(super) renders: AtomicU64,
    compiled: AtomicU64,
    reused: AtomicU64,
}

#[derive(Debug)]
struct Cache {
    by_checksum: LruCache<(Hash, Hash), (Arc<Compiled>, usize)>,
    /// Memory of the entries.
    bytes: usize,
    /// Maximum memory of the entries.
    most: usize,
}

impl Compiler {
    /// Creates a compiler for templates that can access only their parameters.
    pub(super) fn new(options: &Options) -> Self {
        let Options { fuel, memory, output_bytes, deadline, .. } = *options;
        let limits = Limits { fuel, time: Some(deadline), memory, output_bytes, ..Limits::default() };
        let cached = NonZero::new(options.cached).unwrap_or(NonZero::<usize>::MIN);
        let cache = Cache { by_checksum: LruCache::new(cached), bytes: 0, most: options.cached_bytes };
        let engine =
            |dialect| Engine::builder().limits(limits.clone()).tera(dialect).unknown_names(UnknownNames::Late).build();
        Self {
            plain: engine(TeraDialect::Plain),
            plus: engine(TeraDialect::Plus),
            cache: Mutex::new(cache),
            renders: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
            reused: AtomicU64::new(0),
        }
    }

    /// The current counters, with those of the pool.
    pub(super) fn stats(&self, refused: u64, load: Load) -> Stats {
        let [renders, compiled, reused] =
            [&self.renders, &self.compiled, &self.reused].map(|counter| counter.load(Ordering::Relaxed));
        Stats { renders, refused, load, compiled, reused, cached_bytes: self.lock().bytes }
    }

    pub(super) fn compiled(&self, content: &str, schema: &str) -> Result<Arc<Compiled>> {
        let key = (blake3::hash(content.as_bytes()), blake3::hash(schema.as_bytes()));
        if let Some((compiled, _)) = self.lock().by_checksum.get(&key) {
            self.reused.fetch_add(1, Ordering::Relaxed);
            return Ok(compiled.clone());
        }
        self.compiled.fetch_add(1, Ordering::Relaxed);
        let compiled = Arc::new(self.compile(content, schema)?);
        self.lock().insert(key, &compiled);
        Ok(compiled)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compile(&self, content: &str, schema: &str) -> Result<Compiled> {
        // The name has no extension, so nothing is escaped.
        let source = Source::new(NAME, content);
        let engine = if declares_plus(content) { &self.plus } else { &self.plain };
        let template =
            engine.compile_source(Dialect::Tera, &source, Some(false)).map_err(|errors| syntax_error(&errors))?;
        let schema = Schema::parse(schema)?;
        let review = review(&template, &schema, engine.registry(Dialect::Tera));
        Ok(Compiled { template, schema, review })
    }
}

/// The dialect of templates that use filters beyond Tera.
const PLUS: &str = "tera+";

/// Returns `true` if a template begins with the comment `{# dialect: tera+ #}`. To Brokkr it is a comment, so a version
/// and its checksum say which filters its text uses.
fn declares_plus(content: &str) -> bool {
    let comment = content.trim_start().strip_prefix("{#").and_then(|rest| rest.split_once("#}"));
    let dialect = comment.and_then(|(comment, _)| {
        comment.trim_matches(|c: char| c == '-' || c.is_whitespace()).strip_prefix("dialect:")
    });
    dialect.is_some_and(|dialect| dialect.trim() == PLUS)
}

impl Cache {
    /// Adds an entry. Those that were not used for the longest time make room for it.
    fn insert(&mut self, key: (Hash, Hash), compiled: &Arc<Compiled>) {
        let bytes = compiled.memory();
        if bytes > self.most {
            return;
        }
        self.bytes += bytes;
        if let Some((_, (_, old))) = self.by_checksum.push(key, (compiled.clone(), bytes)) {
            self.bytes -= old;
        }
        while self.bytes > self.most
            && let Some((_, (_, old))) = self.by_checksum.pop_lru()
        {
            self.bytes -= old;
        }
    }
}

fn syntax_error(errors: &Diagnostics) -> CatalogError {
    let first = errors.first().map_or_else(String::new, error_line);
    let all: Vec<Json> = errors.iter().map(error_json).collect();
    CatalogError::invalid("invalid_template_syntax", format!("Invalid Tera syntax: {first}"))
        .with_details(json!({ "diagnostics": all }))
}

/// Formats an error in one line with its position.
pub(super) fn error_line(error: &Diagnostic) -> String {
    let place = error.position().map_or_else(String::new, |at| format!(" (line {}, column {})", at.line, at.column));
    format!("{}{place}", shortened(&error.message, MAX_MESSAGE))
}

/// Writes an error as JSON. Long texts, such as those that a template throws, are shortened.
pub(super) fn error_json(error: &Diagnostic) -> Json {
    let mut json = error.to_json();
    shorten_texts(&mut json);
    json
}

fn shorten_texts(json: &mut Json) {
    match json {
        Json::String(text) if text.len() > MAX_MESSAGE => *text = shortened(text, MAX_MESSAGE),
        Json::Array(items) => items.iter_mut().for_each(shorten_texts),
        Json::Object(map) => map.values_mut().for_each(shorten_texts),
        _ => {}
    }
}
