//! Places in object stores, and packs, as targets of a run.

use std::path::Path;

use super::{
    Locking, PackOptions, Place, check_packs, finish_packs, finish_shards_in_store, preview_of_store, stamp_packs,
    stamp_stream_to_store, stamp_to_store, stream_to_store,
};
use crate::job::{Job, Stamp};
use crate::report::Report;
use crate::run::{RunMode, compare, kept_old, of_one_file, unfit};
use crate::stamp::stream;
use crate::streamed::StreamJob;
use dropforge_base::diagnostics::Result;
use dropforge_remote::Store;

/// Maximum length of an object that is compared with a stream.
const MAX: u64 = 1 << 30;

/// A place in an object store, or packs of many outputs in any place.
#[derive(Debug)]
pub enum RemoteTarget<'t> {
    /// A prefix with an object for each output.
    Objects(Store, Locking),
    /// One object for the whole fleet: its store, key and URL.
    Object(Store, String, String),
    /// A directory with packs.
    Packs(&'t Path, PackOptions),
    /// A prefix with packs.
    StorePacks(Store, PackOptions),
}

impl RemoteTarget<'_> {
    /// Stamps, previews or finishes a run.
    pub(crate) fn run<S: Stamp>(
        self,
        renderer: &S,
        batches: &StreamJob<'_>,
        job: &Job<'_>,
        mode: RunMode<'_>,
    ) -> Result<Report> {
        match (self, mode) {
            (Self::Objects(store, locking), RunMode::Write) => stamp_to_store(renderer, job, &store, locking),
            (Self::Objects(store, _), RunMode::Preview(each)) => preview_of_store(renderer, job, &store, each),
            (Self::Objects(store, locking), RunMode::Batches(mut fleet)) => {
                stamp_stream_to_store(renderer, batches, &mut fleet, &store, locking)
            }
            (Self::Objects(store, locking), RunMode::Finish { plan, count }) => {
                finish_shards_in_store(job, plan, count, &store, locking)
            }
            (Self::Object(store, key, url), RunMode::Write) => match stream_to_store(renderer, job, &store, &key)? {
                (report, Some(change)) => Ok(of_one_file(report, change)),
                (report, None) => Ok(kept_old(&url, report)),
            },
            (Self::Object(store, key, url), RunMode::Preview(each)) => {
                let old = store.get(&key, MAX)?.map(|object| object.bytes.to_vec());
                compare(&url, old, each, |out| stream(renderer, job, out))
            }
            (Self::Object(..), _) => Err(unfit()),
            (Self::Packs(path, options), mode) => packs(renderer, job, (&Place::Directory(path), &options), mode),
            (Self::StorePacks(store, options), mode) => packs(renderer, job, (&Place::Store(&store), &options), mode),
        }
    }
}

fn packs<S: Stamp>(
    renderer: &S,
    job: &Job<'_>,
    (place, options): (&Place<'_>, &PackOptions),
    mode: RunMode<'_>,
) -> Result<Report> {
    match mode {
        RunMode::Write => stamp_packs(renderer, job, place, options),
        RunMode::Preview(each) => check_packs(renderer, job, place, options, each),
        RunMode::Finish { plan, count } => finish_packs(job, plan, count, place, options),
        RunMode::Batches(_) => Err(unfit()),
    }
}
