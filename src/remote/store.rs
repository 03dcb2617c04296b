//! A blocking client of one object store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectMeta;
use object_store::memory::InMemory;
use object_store::path::Path;
use tokio::sync::mpsc;

use super::clock::Skew;
use super::failure::{Failure, Patience};
use super::http::{self, StoreOptions};
use super::location::{Bucket, Kind, Location};
use super::task::{Client, Condition, Object, Revision, Task, Threads, caught};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

/// Entries of a listing that wait for their reader.
const ENTRIES: usize = 1_000;

/// Maximum number of entries of a listing.
const LISTED: usize = 100_000_000;
/// Maximum number of pages in a row without an entry.
const EMPTY_PAGES: u32 = 1_000;

/// The pages of a listing.
#[derive(Debug, Default)]
struct Pages {
    /// The token of the current page. The first one has none.
    token: Option<String>,
    /// The token of an earlier page. It moves at each power of two, so that every circle comes back to it.
    mark: Option<String>,
    count: u64,
    empty: u32,
}

impl Pages {
    /// Goes to the page of `next`. Returns `false` after the last one.
    ///
    /// # Errors
    /// The pages have no end.
    fn advance(&mut self, next: Option<String>, is_empty: bool) -> std::result::Result<bool, Failure> {
        let Some(next) = next.filter(|next| !next.is_empty()) else { return Ok(false) };
        self.count += 1;
        self.empty = if is_empty { self.empty + 1 } else { 0 };
        if self.empty > EMPTY_PAGES {
            return Err(endless("its pages are empty"));
        }
        if self.mark.as_ref() == Some(&next) {
            return Err(endless("a page is its own successor"));
        }
        if self.count.is_power_of_two() {
            self.mark = Some(next.clone());
        }
        self.token = Some(next);
        Ok(true)
    }
}

fn endless(why: &str) -> Failure {
    let source = format!("the listing has no end: {why}").into();
    Failure::Refused(object_store::Error::Generic { store: "store", source })
}

/// An entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The key below the prefix of the store.
    pub key: String,
    /// The length in bytes.
    pub size: u64,
    /// The version.
    pub revision: Revision,
}

/// A blocking client of the objects below one prefix. Copies share connections and threads.
///
/// ```
/// use dropforge::remote::{Condition, Store};
/// let store = Store::in_memory();
/// let revision = store.put("a/b.yaml", "x: 1\n".into(), Condition::Absent)?;
/// let object = store.get("a/b.yaml", 1 << 20)?.expect("an object");
/// assert_eq!((&object.bytes[..], object.revision), (&b"x: 1\n"[..], revision));
/// assert!(store.put("a/b.yaml", "x: 2\n".into(), Condition::Absent).is_err());
/// # Ok::<(), Box<dropforge::Diagnostic>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<dyn Client>,
    threads: Threads,
    prefix: String,
    url: String,
    kind: Option<Kind>,
    patience: Patience,
    timeout: Duration,
    skew: Arc<Skew>,
}

impl Store {
    /// Opens the store of a bucket, with credentials and options from the environment: `AWS_…`, `GOOGLE_…`, `AZURE_…`
    /// as the crate `object_store` reads them. Sends no request.
    ///
    /// # Errors
    /// `store.failed` for a configuration that cannot be used.
    pub fn open(bucket: &Bucket) -> Result<Self> {
        Self::open_with(bucket, &StoreOptions::default())
    }

    /// Works like [`Store::open`], with other options.
    ///
    /// # Errors
    /// Same as [`Store::open`].
    pub fn open_with(bucket: &Bucket, options: &StoreOptions) -> Result<Self> {
        let skew = Arc::new(Skew::default());
        let inner = http::open(bucket, options, skew.clone())?;
        let threads = Threads::start(options.connections)?;
        let (prefix, url) = (bucket.key.clone(), bucket.to_string());
        let (patience, timeout) = (options.patience, options.timeout);
        Ok(Self { inner, threads, prefix, url, kind: Some(bucket.kind), patience, timeout, skew })
    }

    /// Opens the store of a URL.
    ///
    /// # Errors
    /// `store.bad_url` for a URL of no object store, and errors of [`Store::open`].
    pub fn at(url: &str) -> Result<Self> {
        match Location::parse(url)? {
            Some(Location::Bucket(bucket)) => Self::open(&bucket),
            _ => Err(Diagnostic::new(Code::BadUrl, format!("`{url}` is not a URL of an object store"))
                .with_help("write `s3://BUCKET/PREFIX`, `gs://…` or `az://…`")),
        }
    }

    /// Creates a store in memory, for tests. If the system gives no threads, its operations fail.
    pub fn in_memory() -> Self {
        Self::with(Arc::new(InMemory::new()), Patience::default())
    }

    /// Creates a store of any implementation.
    pub(super) fn with(inner: Arc<dyn Client>, patience: Patience) -> Self {
        let options = StoreOptions::default();
        let threads = Threads::start(options.connections).unwrap_or_else(|_| Threads::none());
        let (prefix, url, timeout) = (String::new(), "memory://store".to_owned(), options.timeout);
        Self { inner, threads, prefix, url, kind: None, patience, timeout, skew: Arc::default() }
    }

    /// Returns the same store below another prefix of this one.
    pub fn below(&self, prefix: &str) -> Self {
        let prefix = prefix.trim_matches('/');
        Self { prefix: join(&self.prefix, prefix), url: self.url_of(prefix), ..self.clone() }
    }

    /// Returns the same store with other attempts.
    pub fn with_patience(&self, patience: Patience) -> Self {
        Self { patience, ..self.clone() }
    }

    /// Returns the attempts of operations.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Returns the URL of the prefix.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the URL of an object.
    pub fn url_of(&self, key: &str) -> String {
        if key.is_empty() { self.url.clone() } else { format!("{}/{key}", self.url) }
    }

    /// Returns the kind of the store, or `None` for one in memory.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Returns the time without progress after which a request is given up.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the store's time since the Unix epoch for a time of this machine.
    pub(super) fn time(&self, ours: Duration) -> Duration {
        self.skew.theirs(ours)
    }

    /// Reads an object of at most `max` bytes. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// `limit.source_bytes` for a longer object; errors of the store.
    pub fn get(&self, key: &str, max: u64) -> Result<Option<Object>> {
        let task = self.task(key)?;
        let url = self.url_of(key);
        let result = self.run("read", key, async move { task.get(max, &url).await })?;
        Ok(result)
    }

    /// Reads bytes `start..end` of the version `revision` of an object, or up to its end.
    ///
    /// # Errors
    /// `store.changed` if the object has another version by now; errors of the store.
    pub fn get_range(&self, key: &str, start: u64, end: u64, revision: &Revision) -> Result<Bytes> {
        let task = self.task(key)?;
        let if_match = revision.etag.clone();
        self.run("read", key, async move { task.range(start, end, if_match).await })
    }

    /// Returns the size and version of an object, or `None` if it does not exist.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn head(&self, key: &str) -> Result<Option<ObjectInfo>> {
        let task = self.task(key)?;
        let found = self.run("read", key, async move { task.head().await })?;
        Ok(found.map(|meta| ObjectInfo { key: key.to_owned(), ..info(String::new(), meta) }))
    }

    /// Puts an object and returns its version. Objects appear whole or not at all. If the response to a put with a
    /// condition is lost, the object is read to learn whether it was put.
    ///
    /// # Errors
    /// `store.changed` if the condition does not hold; `store.no_conditions`; errors of the store.
    pub fn put(&self, key: &str, bytes: Bytes, condition: Condition) -> Result<Revision> {
        let task = self.task(key)?;
        self.run("write", key, async move { task.put(bytes, condition).await })
    }

    /// Deletes an object. Succeeds if it does not exist.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn delete(&self, key: &str) -> Result<()> {
        let task = self.task(key)?;
        self.run("delete", key, async move { task.delete().await })
    }

    /// Lists the objects below `prefix`, with keys below the prefix of the store, in the order of the store. Pages are
    /// fetched while earlier ones are read.
    ///
    /// # Errors
    /// `store.bad_url` for an invalid prefix. Errors of the store are the last item.
    pub fn list(&self, prefix: &str) -> Result<impl Iterator<Item = Result<ObjectInfo>> + use<>> {
        let path = self.path(prefix.trim_matches('/'))?;
        let (sender, mut receiver) = mpsc::channel(ENTRIES);
        let (store, url) = (self.clone(), self.url_of(prefix.trim_matches('/')));
        self.threads.spawn(async move {
            if let Err(failure) = caught(store.list_into(&path, LISTED, &sender)).await {
                let _ = sender.send(Err(failure.diagnostic("list", &url))).await;
            }
        });
        Ok(std::iter::from_fn(move || receiver.blocking_recv()))
    }

    /// Sends the entries below `path`, at most `max`, page by page.
    async fn list_into(
        &self,
        path: &Path,
        max: usize,
        sender: &mpsc::Sender<Result<ObjectInfo>>,
    ) -> std::result::Result<(), Failure> {
        let prefix = Some(path.as_ref()).filter(|path| !path.is_empty()).map(|path| format!("{path}/"));
        let (mut pages, mut sent) = (Pages::default(), 0_usize);
        loop {
            let attempt = |_| async { Ok(self.inner.page(prefix.as_deref(), pages.token.clone()).await?) };
            let (entries, next) = self.patience.run(attempt).await?;
            let is_empty = entries.is_empty();
            for meta in entries {
                let Some(key) = self.key_of(&meta.location) else { continue };
                sent += 1;
                if sent > max {
                    return Err(endless(&format!("it has more than {} entries", thousands(max))));
                }
                if sender.send(Ok(info(key, meta))).await.is_err() {
                    return Ok(());
                }
            }
            if !pages.advance(next, is_empty)? {
                return Ok(());
            }
        }
    }

    /// Starts a task on the threads of the store.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.threads.spawn(task);
    }

    /// Runs a task and waits for its result.
    ///
    /// # Errors
    /// The failure of `what`, such as `read`, on `key`.
    pub(super) fn run<T: Send + 'static>(
        &self,
        what: &str,
        key: &str,
        task: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
    ) -> Result<T> {
        self.threads.wait(task).map_err(|failure| failure.diagnostic(what, &self.url_of(key)))
    }

    /// Returns the operations on one object.
    ///
    /// # Errors
    /// `store.bad_url` for a key that no object can have.
    pub(super) fn task(&self, key: &str) -> Result<Task> {
        if key.is_empty() && self.prefix.is_empty() {
            return Err(Diagnostic::new(Code::BadUrl, format!("`{}` names a bucket, not an object", self.url)));
        }
        Ok(Task::new(self.inner.clone(), self.path(key)?, self.patience))
    }

    fn path(&self, key: &str) -> Result<Path> {
        let whole = join(&self.prefix, key);
        let too_long = || format!("it has {} bytes, more than 1,024", thousands(whole.len()));
        let why = match Path::parse(&whole) {
            _ if whole.len() > 1_024 => too_long(),
            Ok(path) if path.as_ref() == whole => return Ok(path),
            Ok(_) => "it begins or ends with a slash".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(Diagnostic::new(Code::BadUrl, format!("`{}` cannot be a key: {why}", self.url_of(key))))
    }

    fn key_of(&self, path: &Path) -> Option<String> {
        let path = path.as_ref();
        let key = match self.prefix.is_empty() {
            true => path,
            false => path.strip_prefix(self.prefix.as_str())?.strip_prefix('/')?,
        };
        Some(key.to_owned())
    }
}

fn join(prefix: &str, key: &str) -> String {
    let slash = if prefix.is_empty() || key.is_empty() { "" } else { "/" };
    format!("{prefix}{slash}{key}")
}

fn info(key: String, meta: ObjectMeta) -> ObjectInfo {
    ObjectInfo { key, size: meta.size, revision: Revision { etag: meta.e_tag, version: meta.version } }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
