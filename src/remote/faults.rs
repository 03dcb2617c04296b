//! A store in memory with faults, for tests.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartId, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::failure::{Patience, Transient};
use super::store::Store;
use super::task::{Client, Paged};

/// Attempts without noticeable pauses.
pub const QUICK: Patience =
    Patience { first: Duration::from_micros(50), longest: Duration::from_millis(2), total: Duration::from_secs(20) };

/// A store in memory. Each fault hits one request of several.
#[derive(Debug, Default)]
pub struct Faulty {
    pub inner: InMemory,
    /// One of this many puts and reads fails before it is carried out. 0 for none.
    pub before: AtomicU32,
    /// One of this many puts is carried out, and its response is lost. 0 for none.
    pub after: AtomicU32,
    /// All requests fail.
    pub down: AtomicBool,
    /// Puts of objects whose keys end with `b` are denied.
    pub denied: AtomicBool,
    /// Puts never look at conditions.
    pub blind: bool,
    /// Puts with a condition are refused.
    pub plain: bool,
    /// The number of puts that were carried out.
    pub puts: AtomicUsize,
    /// Puts at this time, and the most at a time.
    pub now: AtomicUsize,
    pub most: AtomicUsize,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

impl Faulty {
    /// Returns a client of this store.
    pub fn store(self: &Arc<Self>) -> Store {
        Store::with(self.clone(), QUICK)
    }

    fn fault(&self, odds: &AtomicU32) -> Result<()> {
        let odds = odds.load(Ordering::SeqCst);
        match self.down.load(Ordering::SeqCst) || (odds > 0 && fastrand::u32(..odds) == 0) {
            false => Ok(()),
            true => Err(lost()),
        }
    }
}

fn lost() -> Error {
    let transient = Transient { status: None, why: "the connection was reset".into(), after: None, is_brief: false };
    Error::Generic { store: "faulty", source: Box::new(transient) }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, at: &Path, payload: PutPayload, mut options: PutOptions) -> Result<PutResult> {
        self.fault(&self.before)?;
        if self.denied.load(Ordering::SeqCst) && at.as_ref().ends_with('b') {
            return Err(Error::PermissionDenied { path: at.to_string(), source: "denied".into() });
        }
        if self.plain && options.mode != object_store::PutMode::Overwrite {
            return Err(Error::NotImplemented { operation: "conditional put".into(), implementer: "faulty".into() });
        }
        if self.blind {
            options.mode = object_store::PutMode::Overwrite;
        }
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_micros(200)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        let put = self.inner.put_opts(at, payload, options).await?;
        self.puts.fetch_add(1, Ordering::SeqCst);
        self.fault(&self.after)?;
        Ok(put)
    }

    async fn put_multipart_opts(&self, at: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.fault(&self.before)?;
        self.inner.get_opts(at, options).await
    }

    fn delete_stream(&self, at: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(at)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[async_trait]
impl Client for Faulty {
    async fn page(&self, prefix: Option<&str>, token: Option<String>) -> Paged {
        self.fault(&self.before)?;
        self.inner.page(prefix, token).await
    }
}

#[async_trait]
impl MultipartStore for Faulty {
    async fn create_multipart(&self, at: &Path) -> Result<MultipartId> {
        self.fault(&self.before)?;
        self.inner.create_multipart(at).await
    }

    async fn put_part(&self, at: &Path, id: &MultipartId, number: usize, bytes: PutPayload) -> Result<PartId> {
        self.fault(&self.before)?;
        let part = self.inner.put_part(at, id, number, bytes).await?;
        self.fault(&self.after)?;
        Ok(part)
    }

    async fn complete_multipart(&self, at: &Path, id: &MultipartId, parts: Vec<PartId>) -> Result<PutResult> {
        self.fault(&self.before)?;
        let put = self.inner.complete_multipart(at, id, parts).await?;
        self.puts.fetch_add(1, Ordering::SeqCst);
        self.fault(&self.after)?;
        Ok(put)
    }

    async fn abort_multipart(&self, at: &Path, id: &MultipartId) -> Result<()> {
        self.inner.abort_multipart(at, id).await
    }
}
