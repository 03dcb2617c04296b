//! Outputs in object stores, and packs.

use std::path::{Path, PathBuf};

use dropforge::bulk::{Locking, PackFormat, PackOptions, RemoteTarget, RunTarget};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::remote::{Bucket, Location, Store};

use crate::output::EMPTY_OUTPUT;
use crate::outputs::StoreArgs;
use crate::usage::unfit_to;

/// A place in an object store, or packs in any place.
#[derive(Debug)]
pub(crate) struct StoreTarget {
    place: Destination,
    locking: Locking,
    pack: Option<PackFormat>,
    is_single: bool,
}

/// The place that `-o` names.
#[derive(Debug)]
enum Destination {
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
            return Err(unfit_to("--pack", "`--layout single`").with_help("remove one of them"));
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
            (Some(bucket), _) => Destination::Bucket(bucket),
            (None, Some(path)) if pack.is_some() && path.as_os_str() != "-" => Destination::Directory(path.to_owned()),
            (None, _) if pack.is_some() => return usage("`--pack` needs an output".to_owned(), "add `-o DIR`"),
            _ => return Ok(None),
        };
        Ok(Some(Self { place, locking, pack, is_single }))
    }

    /// Returns `true` for one object.
    pub(crate) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Returns the path or the URL that the paths of changes are below. That of one object is whole.
    pub(crate) fn prefix(&self) -> PathBuf {
        match &self.place {
            _ if self.is_single => PathBuf::new(),
            Destination::Directory(path) => path.clone(),
            Destination::Bucket(bucket) => PathBuf::from(bucket.to_string()),
        }
    }

    /// Opens the target of a run. `option` asks for another mode than writing.
    ///
    /// # Errors
    /// `usage` for a mode that the target does not have; `store.bad_url` for a bucket in place of an object; errors of the
    /// store.
    pub(crate) fn open(&self, option: Option<&str>) -> Result<RunTarget<'_>> {
        let pack = self.pack.map(|format| PackOptions { locking: self.locking, ..PackOptions::new(format) });
        match (&self.place, pack, option) {
            (_, Some(_), Some("--stream")) => Err(unfit_to("--stream", "`--pack`")),
            (_, Some(_), Some("--diff")) => {
                Err(unfit_to("--diff", "`--pack`").with_help("`--check` shows which packs would change"))
            }
            (_, None, Some(option @ ("--stream" | "--finish"))) if self.is_single => {
                Err(unfit_to(option, "one object"))
            }
            (Destination::Directory(path), Some(pack), _) => Ok(RunTarget::Remote(RemoteTarget::Packs(path, pack))),
            // Directories without packs are no target of this kind.
            (Destination::Directory(path), None, _) => Ok(RunTarget::Directory(path)),
            (Destination::Bucket(bucket), Some(pack), _) => {
                Ok(RunTarget::Remote(RemoteTarget::StorePacks(Store::open(bucket)?, pack)))
            }
            (Destination::Bucket(bucket), None, _) if !self.is_single => {
                Ok(RunTarget::Remote(RemoteTarget::Objects(Store::open(bucket)?, self.locking)))
            }
            (Destination::Bucket(bucket), None, _) if bucket.key.is_empty() => {
                Err(Diagnostic::new(Code::BadUrl, format!("`{bucket}` names a bucket, not an object")))
            }
            (Destination::Bucket(bucket), None, _) => {
                let store = Store::open(&Bucket { key: String::new(), ..bucket.clone() })?;
                Ok(RunTarget::Remote(RemoteTarget::Object(store, bucket.key.clone(), bucket.to_string())))
            }
        }
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
