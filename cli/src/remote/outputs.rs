//! Outputs in object stores, and packs.

use std::io;
use std::path::{Path, PathBuf};

use dropforge::bulk::{
    self, FilePreview, FleetStream, Job, Locking, PackFormat, PackOptions, Place, Report, Stamper, StreamJob,
};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::remote::{Bucket, Location, Store};
use indicatif::ProgressBar;

use crate::changes::ChangeArgs;
use crate::console::Console;
use crate::one_file::{compare_one, kept_old, one_file};
use crate::output::EMPTY_OUTPUT;
use crate::stores::StoreArgs;

/// Maximum length of an object that is compared with a stream.
const MAX: u64 = 1 << 30;

/// A place in an object store, or packs in any place.
#[derive(Debug)]
pub(crate) struct StoreTarget {
    place: Output,
    locking: Locking,
    pack: Option<PackFormat>,
    is_single: bool,
}

/// The place that `-o` names.
#[derive(Debug)]
enum Output {
    Directory(PathBuf),
    Bucket(Bucket),
}

/// Parses the value of `-o`: `file://` URLs are paths.
///
/// # Errors
/// The reason why it cannot be a URL; the path is empty.
pub(crate) fn output(text: &str) -> std::result::Result<PathBuf, String> {
    if text.is_empty() {
        return Err(EMPTY_OUTPUT.to_owned());
    }
    match Location::parse(text) {
        Ok(Some(Location::File(path))) => Ok(path),
        Ok(Some(Location::Registry(_))) => Err("outputs cannot be written to a registry".to_owned()),
        Ok(_) => Ok(PathBuf::from(text)),
        Err(error) => Err(error.message.clone()),
    }
}

impl StoreTarget {
    /// Returns the target of a run with the option `-o`, or `None` for directories and files without packs.
    ///
    /// # Errors
    /// `usage`, `store.bad_url`.
    pub(crate) fn of(output: Option<&Path>, is_single: bool, args: &StoreArgs) -> Result<Option<Self>> {
        let usage = |message: String, help: &str| Err(Diagnostic::new(Code::Usage, message).with_help(help));
        let pack = args.pack.as_deref().map(format).transpose()?;
        let location = output.and_then(Path::to_str).map_or(Ok(None), Location::parse)?;
        let bucket = match location {
            Some(Location::Bucket(bucket)) => Some(bucket),
            _ => None,
        };
        if pack.is_some() && is_single {
            return usage("`--pack` does not apply to `--layout single`".to_owned(), "remove one of them");
        }
        if let Some(option) = args.given().filter(|option| *option != "--pack")
            && (bucket.is_none() || is_single)
        {
            let message = format!("`{option}` needs a prefix of an object store");
            return usage(message, "write `-o s3://BUCKET/PREFIX`, or remove it");
        }
        let locking = match (args.break_lock, args.no_lock) {
            (true, _) => Locking::Break,
            (_, true) => Locking::Without,
            _ => Locking::Take,
        };
        let place = match (bucket, output) {
            (Some(bucket), _) => Output::Bucket(bucket),
            (None, Some(path)) if pack.is_some() && path.as_os_str() != "-" => Output::Directory(path.to_owned()),
            (None, _) if pack.is_some() => return usage("`--pack` needs an output".to_owned(), "add `-o DIR`"),
            _ => return Ok(None),
        };
        Ok(Some(Self { place, locking, pack, is_single }))
    }

    /// Stamps, or previews a run.
    ///
    /// # Errors
    /// Errors of the run, and of the store.
    pub(crate) fn stamp(
        &self,
        changes: &ChangeArgs,
        stamper: &Stamper<'_>,
        job: &Job<'_>,
        bar: &ProgressBar,
        console: &Console,
    ) -> Result<Report> {
        let run = Run { changes, stamper, job, bar, console };
        match (&self.place, self.pack) {
            (Output::Directory(path), Some(format)) => self.packs(&Place::Directory(path), format, path, &run),
            (Output::Bucket(bucket), Some(format)) => {
                let (store, url) = (Store::open(bucket)?, PathBuf::from(bucket.to_string()));
                self.packs(&Place::Store(&store), format, &url, &run)
            }
            (Output::Bucket(bucket), None) if self.is_single => object(bucket, &run),
            (Output::Bucket(bucket), None) => self.objects(bucket, &run),
            // Directories without packs are no target of this kind.
            (Output::Directory(path), None) => bulk::stamp(stamper, job, path),
        }
    }

    /// Finishes a run of `count` shards with this plan.
    ///
    /// # Errors
    /// Errors of the run, and of the store.
    pub(crate) fn finish(&self, job: &Job<'_>, plan: &str, count: u32) -> Result<Report> {
        let packs = |place: Place<'_>, format| {
            let options = PackOptions { locking: self.locking, ..PackOptions::new(format) };
            bulk::finish_packs(job, plan, count, &place, &options)
        };
        match (&self.place, self.pack) {
            (Output::Directory(path), Some(format)) => packs(Place::Directory(path), format),
            (Output::Bucket(bucket), Some(format)) => packs(Place::Store(&Store::open(bucket)?), format),
            (_, None) => {
                let store = Store::open(self.prefix("--finish")?)?;
                bulk::finish_shards_in_store(job, plan, count, &store, self.locking)
            }
        }
    }

    /// Stamps clusters as they come.
    ///
    /// # Errors
    /// Errors of the run, and of the store.
    pub(crate) fn stream(
        &self,
        stamper: &Stamper<'_>,
        job: &StreamJob<'_>,
        fleet: &mut FleetStream<'_>,
    ) -> Result<Report> {
        let store = Store::open(self.prefix("--stream")?)?;
        bulk::stamp_stream_to_store(stamper, job, fleet, &store, self.locking)
    }

    /// Returns the prefix for objects, one for each output.
    ///
    /// # Errors
    /// `usage` for packs and for one object, to which `option` does not apply.
    fn prefix(&self, option: &str) -> Result<&Bucket> {
        match (&self.place, self.pack, self.is_single) {
            (Output::Bucket(bucket), None, false) => Ok(bucket),
            (_, Some(_), _) => Err(Diagnostic::new(Code::Usage, format!("`{option}` does not apply to `--pack`"))),
            _ => Err(Diagnostic::new(Code::Usage, format!("`{option}` does not apply to one object"))),
        }
    }

    fn objects(&self, bucket: &Bucket, run: &Run<'_>) -> Result<Report> {
        let store = Store::open(bucket)?;
        if run.changes.preview().is_none() {
            return bulk::stamp_to_store(run.stamper, run.job, &store, self.locking);
        }
        let url = PathBuf::from(bucket.to_string());
        run.print(&url, |each| bulk::preview_of_store(run.stamper, run.job, &store, each))
    }

    fn packs(&self, place: &Place<'_>, format: PackFormat, out: &Path, run: &Run<'_>) -> Result<Report> {
        let options = PackOptions { locking: self.locking, ..PackOptions::new(format) };
        match run.changes.preview() {
            None => bulk::stamp_packs(run.stamper, run.job, place, &options),
            Some("--diff") => {
                let error = Diagnostic::new(Code::Usage, "`--diff` does not apply to `--pack`");
                Err(error.with_help("`--check` shows which packs would change"))
            }
            Some(_) => run.print(out, |each| bulk::check_packs(run.stamper, run.job, place, &options, each)),
        }
    }
}

/// A run, and how its changes are printed.
struct Run<'r> {
    changes: &'r ChangeArgs,
    stamper: &'r Stamper<'r>,
    job: &'r Job<'r>,
    bar: &'r ProgressBar,
    console: &'r Console,
}

/// Receives the changes of a preview.
type Each<'e> = &'e mut (dyn FnMut(&FilePreview<'_>) -> io::Result<()> + Send);

impl Run<'_> {
    /// Prints the changes below `out` that `preview` passes on.
    fn print(&self, out: &Path, preview: impl FnOnce(Each<'_>) -> Result<Report>) -> Result<Report> {
        self.changes.print_with(out, self.bar, self.console, preview)
    }
}

fn format(text: &str) -> Result<PackFormat> {
    let help =
        |name| format!("install a build with it: `cargo install --locked --path cli --profile dist --features {name}`");
    match text.parse::<PackFormat>() {
        Ok(format) => Ok(format),
        Err(_) if text == "parquet" => {
            let message = "cannot use `--pack parquet`: this build of dropforge has no Parquet";
            Err(Diagnostic::new(Code::Usage, message).with_help(help("remote,arrow")))
        }
        Err(why) => Err(Diagnostic::new(Code::Usage, format!("invalid value `{text}` for `--pack`: {why}"))),
    }
}

/// Writes or previews one object for the whole fleet.
fn object(bucket: &Bucket, run: &Run<'_>) -> Result<Report> {
    let url = bucket.to_string();
    if bucket.key.is_empty() {
        return Err(Diagnostic::new(Code::BadUrl, format!("`{url}` names a bucket, not an object")));
    }
    let store = Store::open(&Bucket { key: String::new(), ..bucket.clone() })?;
    if run.changes.preview().is_some() {
        let old = store.get(&bucket.key, MAX)?.map(|object| object.bytes.to_vec());
        return compare_one(run.changes, &url, old, run.stamper, run.job, run.console);
    }
    match bulk::stream_to_store(run.stamper, run.job, &store, &bucket.key)? {
        (report, Some(change)) => Ok(one_file(report, change)),
        (report, None) => Ok(kept_old(&url, report)),
    }
}
