//! The compile cache, set up by options and the environment.

use std::env;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use crate::console::Console;
use crate::options::CacheArgs;
use dropforge::engine::{Cache, EngineBuilder, Origin, Template};

/// Minimum size of a program's sources for the default cache. Loading is faster than parsing from about 500 bytes on,
/// but storing writes a file.
const MIN_SOURCE_BYTES: usize = 4 << 10;

/// Returns `engine` with the selected cache.
pub(crate) fn with_cache(engine: EngineBuilder, args: &CacheArgs) -> EngineBuilder {
    match cache(args) {
        Some(cache) => engine.cache(cache.salt(this_build())),
        None => engine,
    }
}

fn cache(args: &CacheArgs) -> Option<Cache> {
    if args.no_cache {
        return None;
    }
    if let Some(dir) = &args.cache_dir {
        return Some(Cache::new(dir));
    }
    match env::var_os("DROPFORGE_CACHE") {
        Some(dir) if dir.is_empty() => None,
        Some(dir) => Some(Cache::new(dir)),
        None => Some(Cache::new(user_dir()?.join("dropforge")).at_least(MIN_SOURCE_BYTES)),
    }
}

/// Returns the user's cache directory by the XDG base directory specification, which ignores relative paths.
fn user_dir() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// Identifies this build among others of the same version, by the size and time of the executable.
fn this_build() -> Vec<u8> {
    let meta = env::current_exe().and_then(std::fs::metadata);
    let written = meta.as_ref().ok().and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let length = meta.map_or(0, |meta| meta.len());
    [length.to_le_bytes().as_slice(), &written.unwrap_or_default().as_nanos().to_le_bytes()].concat()
}

/// Prints the origin of a template if `--verbose` is given.
pub(crate) fn print_origin(template: &Template, console: &Console) {
    let origin = match template.origin() {
        Origin::Source => "compiled",
        Origin::Cache => "loaded from the cache",
        Origin::Artifact => "loaded from the artifact",
    };
    console.detail(&format!("{}: {origin}", template.name()));
}
