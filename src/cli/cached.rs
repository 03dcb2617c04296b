//! The compile cache as the command line and the environment ask for it.

use std::env;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::args::CacheArgs;
use super::console::Console;
use crate::engine::{Cache, EngineBuilder, Origin, Template};

/// Where nobody has asked for a cache, a program is kept only if its sources have so many bytes together. Taking one
/// from the cache costs less than parsing from about 500 bytes on; keeping one costs a file that is written.
const WORTH_KEEPING: usize = 4 << 10;

/// `engine` with the cache that is asked for.
pub(super) fn with_cache(engine: EngineBuilder, args: &CacheArgs) -> EngineBuilder {
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
        None => Some(Cache::new(user_dir()?.join("dropforge")).at_least(WORTH_KEEPING)),
    }
}

/// The user's cache directory, by the XDG base directory specification: a path that is not absolute is ignored.
fn user_dir() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// What tells this build of the program from another of the same version: when the file was written, and how long
/// it is.
fn this_build() -> Vec<u8> {
    let meta = env::current_exe().and_then(std::fs::metadata);
    let written = meta.as_ref().ok().and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    let length = meta.map_or(0, |meta| meta.len());
    [length.to_le_bytes().as_slice(), &written.unwrap_or_default().as_nanos().to_le_bytes()].concat()
}

/// Says where a template comes from, to people who have asked.
pub(super) fn tell(template: &Template, console: &Console) {
    let origin = match template.origin() {
        Origin::Source => "compiled",
        Origin::Cache => "taken from the cache",
        Origin::Artifact => "opened from the artifact",
    };
    console.detail(&format!("{}: {origin}", template.name()));
}
