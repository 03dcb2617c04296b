//! Reads `values.schema.json` and the documents that it refers to.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::builtin_objects::FileSet;
use dropforge_schema::{Documents, Draft, Schema, meta_schema};
use dropforge_value::marshal::json_read;
use dropforge_value::{Arena, InputBuilder, Numbers, Shapes, Value};

/// Maximum nesting of a schema whose fault is looked for.
const DEPTH: usize = 128;
/// The URL of a schema without an `$id`.
const URL: &str = "file:///values.schema.json";

/// Why a schema cannot be used.
#[derive(Debug)]
pub(super) struct Broken {
    /// Helm's message.
    pub text: String,
    /// `true` if the schema refers to a document that is not there.
    pub unloaded: bool,
    /// The URLs of documents that are not there.
    pub missing: Vec<String>,
}

/// Documents of other servers, by their URLs.
pub(super) type Fetched = Arc<BTreeMap<String, String>>;

impl Broken {
    fn of(text: String) -> Self {
        Self { text, unloaded: false, missing: Vec::new() }
    }
}

/// Compiles the schema of a chart with these files. A reference to a URL beside the schema's own leads to the file of the chart
/// at that place, another one to a document that was fetched before.
///
/// # Errors
/// Why the schema cannot be used.
pub(super) fn compile(text: &str, files: &FileSet, fetched: &Fetched) -> Result<Schema, Broken> {
    let missing = RefCell::new(Vec::new());
    let compiled = compile_with(text, files, fetched, &missing);
    compiled.map_err(|broken| Broken { missing: missing.take(), ..broken })
}

fn compile_with(
    text: &str,
    files: &FileSet,
    fetched: &Fetched,
    missing: &RefCell<Vec<String>>,
) -> Result<Schema, Broken> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::once(&names);
    let root = read(&arena, &shapes, text).map_err(Broken::of)?;
    let field = |name: &str| root.as_map().and_then(|map| map.get(name)).and_then(|value| value.as_str());
    let folder = ["$id", "id"].into_iter().find_map(field).and_then(|id| id.rsplit_once('/')).map(|(folder, _)| folder);
    let known = |url: &str| beside(files, folder, url).or_else(|| fetched.get(url).map(String::as_str));
    let load = |url: &str| match (meta_schema(url), known(url)) {
        (Some(data), _) => {
            let value = InputBuilder::new(&arena, &shapes).with_numbers(Numbers::Whole).data(data);
            value.map_err(|error| error.to_string()).and_then(|value| held(&arena, value))
        }
        (None, Some(text)) => read(&arena, &shapes, text),
        (None, None) => {
            missing.borrow_mut().push(url.to_owned());
            Err("the chart has no such file, and it was not fetched".to_owned())
        }
    };
    let uri = field("$schema").filter(|uri| *uri != URL);
    let draft = match uri.map(|uri| draft(uri).ok_or(uri)) {
        None => Draft::Draft202012,
        Some(Ok(draft)) => draft,
        Some(Err(uri)) => {
            let unloaded = |why| Broken { unloaded: true, ..Broken::of(format!("failing loading {uri:?}: {why}")) };
            let meta = load(uri.trim_end_matches('#')).map_err(unloaded)?;
            let uri = meta.as_map().and_then(|map| map.get("$schema")).and_then(|uri| uri.as_str());
            uri.and_then(self::draft).unwrap_or(Draft::Draft202012)
        }
    };
    Schema::of_documents(root, draft, &Documents { url: URL, load: &load }).map_err(|errors| {
        let lines = errors.iter().map(|error| match error.unloaded {
            true => error.message.clone(),
            false => format!("- schema at '{}': {}", error.pointer, error.message),
        });
        let unloaded = errors.iter().any(|error| error.unloaded);
        Broken { unloaded, ..Broken::of(lines.collect::<Vec<_>>().join("\n")) }
    })
}

/// Returns the file of the chart at a URL, if the schema is fetched from `folder`.
fn beside<'f>(files: &'f FileSet, folder: Option<&str>, url: &str) -> Option<&'f str> {
    let path = url.strip_prefix(folder.filter(|folder| folder.contains("://"))?)?.strip_prefix('/')?;
    std::str::from_utf8(files.get(path)?).ok()
}

fn read<'v>(arena: &'v Arena, shapes: &'v Shapes<'_>, text: &'v str) -> Result<&'v Value<'v>, String> {
    let value = InputBuilder::new(arena, shapes).with_numbers(Numbers::Whole).json(text);
    let value = value.map_err(|error| unreadable(text).unwrap_or(error.message))?;
    held(arena, value)
}

/// Returns a value that lives as long as the arena.
fn held<'v>(arena: &'v Arena, value: Value<'v>) -> Result<&'v Value<'v>, String> {
    arena.list(&[value]).as_list().and_then(|items| items.first()).ok_or_else(|| "EOF".to_owned())
}

/// Returns the message of Go's decoder about a text that is not JSON.
fn unreadable(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("EOF".to_owned());
    }
    let why = json_read::read(&Arena::new(), text.as_bytes(), Numbers::Floats, DEPTH).err()?;
    Some(if why == "unexpected end of JSON input" { "unexpected EOF".to_owned() } else { why })
}

/// Returns the draft with a URI, whatever its protocol.
fn draft(uri: &str) -> Option<Draft> {
    let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
    if rest.trim_end_matches('#') == "json-schema.org/schema" {
        return Some(Draft::Draft202012);
    }
    Draft::of_uri(&format!("http://{rest}")).or_else(|| Draft::of_uri(&format!("https://{rest}")))
}
