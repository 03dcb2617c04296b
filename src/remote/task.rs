//! Objects, operations on one as tasks, and the threads of a store that run them.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{FutureExt, TryStreamExt};
use object_store::aws::AmazonS3;
use object_store::azure::MicrosoftAzure;
use object_store::gcp::GoogleCloudStorage;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::memory::InMemory;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    PutResult, UpdateVersion,
};
use tokio::runtime::{Builder, Runtime};

use super::failure::{Failure, Patience};
use super::http::MaxObject;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

type Tried<T> = std::result::Result<T, Failure>;

/// An implementation of a store.
#[async_trait]
pub(super) trait Client: ObjectStore + MultipartStore {
    /// Returns a page of the objects below `prefix`, which ends with a slash, and the token of the next page.
    async fn page(&self, prefix: Option<&str>, token: Option<String>) -> Paged;
}

pub(super) type Paged = object_store::Result<(Vec<ObjectMeta>, Option<String>)>;

/// Implements [`Client`] for stores that list in pages.
macro_rules! paged {
    ($($store:ty),*) => {$(
        #[async_trait]
        impl Client for $store {
            async fn page(&self, prefix: Option<&str>, token: Option<String>) -> Paged {
                let options = PaginatedListOptions { page_token: token, ..PaginatedListOptions::default() };
                let page = self.list_paginated(prefix, options).await?;
                Ok((page.result.objects, page.page_token))
            }
        }
    )*};
}

paged!(AmazonS3, GoogleCloudStorage, MicrosoftAzure);

#[async_trait]
impl Client for InMemory {
    async fn page(&self, prefix: Option<&str>, _: Option<String>) -> Paged {
        let prefix = prefix.map(Path::from);
        Ok((self.list(prefix.as_ref()).try_collect().await?, None))
    }
}

/// A version of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    pub(super) etag: Option<String>,
    pub(super) version: Option<String>,
}

impl Revision {
    /// Returns the ETag, or an empty text if the store gives none.
    pub fn etag(&self) -> &str {
        self.etag.as_deref().unwrap_or("")
    }

    /// Returns the ETag without quotes, as manifests have it: some listings have none. `None` if the store gives none.
    pub fn tag(&self) -> Option<&str> {
        let etag = self.etag.as_deref()?;
        Some(etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"')).filter(|tag| !tag.is_empty())
    }

    /// Returns the version with this ETag, for stores that compare ETags: not for Google's.
    pub fn of_etag(etag: impl Into<String>) -> Self {
        Self { etag: Some(etag.into()), version: None }
    }
}

impl From<PutResult> for Revision {
    fn from(put: PutResult) -> Self {
        Self { etag: put.e_tag, version: put.version }
    }
}

/// The condition of a put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Put in any case.
    Always,
    /// Put only if there is no such object (If-None-Match).
    Absent,
    /// Put only if the object has this version (If-Match).
    Match(Revision),
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The content.
    pub bytes: Bytes,
    /// The version of the content.
    pub revision: Revision,
}

/// Operations on one object, with their attempts.
#[derive(Debug, Clone)]
pub(super) struct Task {
    inner: Arc<dyn Client>,
    path: Path,
    patience: Patience,
}

impl Task {
    pub(super) fn new(inner: Arc<dyn Client>, path: Path, patience: Patience) -> Self {
        Self { inner, path, patience }
    }

    pub(super) async fn get(&self, max: u64, url: &str) -> Tried<Option<Object>> {
        let attempt = |_| async {
            let found = self.inner.get_opts(&self.path, at_most(max)).await?;
            let (size, meta) = (found.meta.size, found.meta.clone());
            if size > max {
                return Err(Failure::Ours(too_long(url, size, max)));
            }
            let bytes = whole(found).await?;
            Ok(Object { bytes, revision: Revision { etag: meta.e_tag, version: meta.version } })
        };
        present(self.patience.run(attempt).await)
    }

    pub(super) async fn range(&self, start: u64, end: u64, if_match: Option<String>) -> Tried<Bytes> {
        let attempt = |_| async {
            let range = Some(GetRange::Bounded(start..end));
            let options = GetOptions { range, if_match: if_match.clone(), ..at_most(end.saturating_sub(start)) };
            whole(self.inner.get_opts(&self.path, options).await?).await
        };
        self.patience.run(attempt).await
    }

    pub(super) async fn head(&self) -> Tried<Option<ObjectMeta>> {
        present(self.patience.run(|_| async { Ok(self.inner.head(&self.path).await?) }).await)
    }

    /// Puts the object, with as many attempts as it takes.
    pub(super) async fn put(&self, bytes: Bytes, condition: Condition) -> Tried<Revision> {
        self.patience.run(|failures| self.put_once(&bytes, &condition, failures)).await
    }

    /// Makes one attempt to put the object. `failures` earlier ones failed, and may have been carried out.
    pub(super) async fn put_once(&self, bytes: &Bytes, condition: &Condition, failures: u32) -> Tried<Revision> {
        let mode = match condition {
            Condition::Always => PutMode::Overwrite,
            Condition::Absent => PutMode::Create,
            Condition::Match(Revision { etag, version }) => {
                PutMode::Update(UpdateVersion { e_tag: etag.clone(), version: version.clone() })
            }
        };
        let payload = PutPayload::from_bytes(bytes.clone());
        let put = self.inner.put_opts(&self.path, payload, PutOptions::from(mode)).await;
        match put.map_err(Failure::from) {
            Ok(put) => Ok(put.into()),
            Err(Failure::Condition(error)) if failures > 0 => self.ours(bytes, error).await,
            Err(failure) => Err(failure),
        }
    }

    /// Returns the version of the object if it has this content: an earlier attempt has put it.
    async fn ours(&self, bytes: &Bytes, error: Error) -> Tried<Revision> {
        let length = bytes.len() as u64;
        match self.inner.get_opts(&self.path, at_most(length)).await {
            Ok(found) if found.meta.size == length => {
                let revision = Revision { etag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
                if whole(found).await? == bytes { Ok(revision) } else { Err(Failure::Condition(error)) }
            }
            Ok(_) | Err(Error::NotFound { .. }) => Err(Failure::Condition(error)),
            Err(failed) => Err(failed.into()),
        }
    }

    pub(super) async fn delete(&self) -> Tried<()> {
        self.patience.run(|_| self.delete_once()).await
    }

    /// Makes one attempt to delete the object. Succeeds if it does not exist.
    pub(super) async fn delete_once(&self) -> Tried<()> {
        present(self.inner.delete(&self.path).await.map_err(Failure::from)).map(|_| ())
    }
}

/// Uploads in parts.
impl Task {
    /// Begins an upload and returns its id.
    pub(super) async fn begin_parts(&self) -> Tried<String> {
        self.patience.run(|_| async { Ok(self.inner.create_multipart(&self.path).await?) }).await
    }

    /// Uploads a part. Parts are numbered from 0.
    pub(super) async fn put_part(&self, id: &String, number: usize, bytes: &Bytes) -> Tried<PartId> {
        let attempt = |_| async {
            let payload = PutPayload::from_bytes(bytes.clone());
            Ok(self.inner.put_part(&self.path, id, number, payload).await?)
        };
        self.patience.run(attempt).await
    }

    /// Makes the object of `size` bytes of the parts.
    pub(super) async fn end_parts(&self, id: &String, parts: &[PartId], size: u64) -> Tried<Revision> {
        let attempt = |failures| async move {
            let done = self.inner.complete_multipart(&self.path, id, parts.to_vec()).await;
            match done.map_err(Failure::from) {
                Ok(put) => Ok(put.into()),
                // An attempt whose response was lost has made the object, and the upload is gone.
                Err(failure @ (Failure::Missing(_) | Failure::Refused(_))) if failures > 0 => {
                    match self.inner.head(&self.path).await {
                        Ok(meta) if meta.size == size => Ok(Revision { etag: meta.e_tag, version: meta.version }),
                        Ok(_) | Err(Error::NotFound { .. }) => Err(failure),
                        Err(failed) => Err(failed.into()),
                    }
                }
                Err(failure) => Err(failure),
            }
        };
        self.patience.run(attempt).await
    }

    /// Discards the parts of an upload. Makes one attempt.
    pub(super) async fn discard_parts(&self, id: &String) -> Tried<()> {
        present(self.inner.abort_multipart(&self.path, id).await.map_err(Failure::from)).map(|_| ())
    }
}

/// Returns the options of reading at most `max` bytes. Servers that send more are cut off.
fn at_most(max: u64) -> GetOptions {
    let mut options = GetOptions::default();
    options.extensions.insert(MaxObject(max));
    options
}

/// Reads an answer, which must be as long as its head says.
async fn whole(found: GetResult) -> Tried<Bytes> {
    let expected = found.range.end.saturating_sub(found.range.start);
    let bytes = found.bytes().await?;
    if bytes.len() as u64 == expected {
        return Ok(bytes);
    }
    let message = format!("the store sent {} bytes instead of {expected}", bytes.len());
    Err(Failure::Refused(Error::Generic { store: "store", source: message.into() }))
}

/// Returns `None` for an object that does not exist.
fn present<T>(result: Tried<T>) -> Tried<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Missing(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn too_long(url: &str, size: u64, max: u64) -> Box<Diagnostic> {
    let number = |bytes| thousands(usize::try_from(bytes).unwrap_or(usize::MAX));
    let message = format!("`{url}` is too long: it has {} bytes, the limit is {}", number(size), number(max));
    Diagnostic::new(Code::LimitSourceBytes, message)
}

/// Threads that run the tasks of one store. They end with the last copy.
#[derive(Debug, Clone)]
pub(super) struct Threads(Option<Arc<Runtime>>);

impl Drop for Threads {
    fn drop(&mut self) {
        // Requests that run into their timeouts must not hold up the end of a run.
        if let Some(runtime) = self.0.take().and_then(Arc::into_inner) {
            runtime.shutdown_background();
        }
    }
}

impl Threads {
    /// Starts threads for `requests` requests at a time.
    ///
    /// # Errors
    /// `internal` if the system gives no thread.
    pub(super) fn start(requests: usize) -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder
            .worker_threads(1)
            .max_blocking_threads(requests.max(1) + 4)
            .thread_name("dropforge-store")
            .enable_time();
        let runtime = builder.build().map_err(|error| {
            Diagnostic::new(Code::Internal, format!("cannot start a thread: {error}")).caused_by(error)
        })?;
        Ok(Self(Some(Arc::new(runtime))))
    }

    /// Returns no threads. Tasks are not run.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Starts a task.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.0 {
            runtime.spawn(task);
        }
    }

    /// Runs a task and waits for its result.
    pub(super) fn wait<T: Send + 'static>(&self, task: impl Future<Output = Tried<T>> + Send + 'static) -> Tried<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            let _ = sender.send(caught(task).await);
        });
        receiver.recv().unwrap_or_else(|_| Err(Failure::Ours(ended())))
    }
}

/// Runs a task. A panic in it, or in the library of the store, is a failure of that task.
pub(super) async fn caught<T>(task: impl Future<Output = Tried<T>>) -> Tried<T> {
    AssertUnwindSafe(task).catch_unwind().await.unwrap_or_else(|_| Err(Failure::Ours(ended())))
}

fn ended() -> Box<Diagnostic> {
    Diagnostic::new(Code::Internal, "the thread of a request ended early")
        .with_help("check the settings of the store, such as its endpoint and its credentials")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_and_panics_do_not_hang() {
        let threads = Threads::start(2).expect("threads");
        assert_eq!(threads.wait(async { Ok(7) }).ok(), Some(7));
        let failed: Tried<()> = threads.wait(async { panic!("expected by the test") });
        assert!(matches!(failed, Err(Failure::Ours(error)) if error.code == Code::Internal));
        assert_eq!(threads.wait(async { Ok(8) }).ok(), Some(8), "other tasks run on");
    }
}
