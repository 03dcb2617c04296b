//! `dropforge push` and `dropforge pull`: artifacts in OCI registries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use humansize::{DECIMAL, format_size};
use serde_json::{Map, Value};

use dropforge::bulk::write_file;
use dropforge::bytecode::Bundle;
use dropforge::diagnostics::{self, Code, Diagnostic};
use dropforge::remote::Location;
use dropforge::remote::oci::{self, Reference};

use crate::artifacts;
use crate::chart;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_dash};
use crate::output::print;
use crate::stderr::Stderr;

/// Push an artifact to an OCI registry
///
///     dropforge compile templates/ -o templates.mpk
///     dropforge push templates.mpk oci://ghcr.io/acme/templates:v3
///
/// Prints the reference with the digest, which names this artifact for ever:
/// `dropforge stamp oci://ghcr.io/acme/templates@sha256:…`. Credentials are those
/// of `docker login`, without credential helpers.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PushArgs {
    /// Artifact, or `-`
    #[arg(value_name = "ARTIFACT")]
    file: PathBuf,
    /// Reference with a tag
    #[arg(value_name = "oci://REGISTRY/NAME:TAG")]
    url: String,
}

/// Runs the command.
pub(crate) fn run(args: &PushArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let reference = reference(&args.url)?;
    chart::refuse_source(&args.file)?;
    let bytes = files.bytes(&args.file, "-")?;
    let bundle = artifacts::bundle_of(bytes.clone(), &args.file)?;
    let size = format_size(bytes.len(), DECIMAL);
    let digest = oci::push(&reference, bytes.to_vec().into(), annotations(&bundle))?;
    stderr.note(&format!("pushed {size} to oci://{reference}"));
    print(format!("oci://{}\n", reference.with_digest(digest)))?;
    Ok(Exit::Ok)
}

/// Returns the annotations of an artifact: its digest and those of its templates.
fn annotations(bundle: &Bundle) -> BTreeMap<String, String> {
    let hex = |digest: &[u8]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let entries = bundle.entries().iter();
    let templates: Map<String, Value> = entries.map(|one| (one.name().to_owned(), hex(one.digest()).into())).collect();
    BTreeMap::from([
        (oci::DIGEST.to_owned(), hex(bundle.digest())),
        (oci::TEMPLATES.to_owned(), Value::Object(templates).to_string()),
    ])
}

/// Pull an artifact from an OCI registry
///
///     dropforge pull oci://ghcr.io/acme/templates:v3 -o templates.mpk
///
/// With a digest (`oci://ghcr.io/acme/templates@sha256:…`), any other content is
/// an error. `stamp`, `render` and `check` take such references in place of
/// templates.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PullArgs {
    /// Reference with a tag or a digest
    #[arg(value_name = "oci://REGISTRY/NAME:TAG")]
    url: String,
    /// Write to this file, or to `-`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
pub(crate) fn pull(args: &PullArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let reference = reference(&args.url)?;
    let pulled = oci::pull(&reference, files.max_bytes())?;
    match is_dash(&args.output) {
        true => print(&pulled.bytes)?,
        false => write_file(&args.output, &pulled.bytes, false).map(|_| ())?,
    }
    let size = format_size(pulled.bytes.len(), DECIMAL);
    stderr.note(&format!("pulled {size} from oci://{}", reference.with_digest(pulled.digest)));
    Ok(Exit::Ok)
}

/// Parses an argument of `push` and `pull`.
///
/// # Errors
/// `store.bad_url` for anything but `oci://…`.
fn reference(url: &str) -> diagnostics::Result<Reference> {
    match Location::parse(url)? {
        Some(Location::Registry(reference)) => Ok(reference),
        _ => Err(Diagnostic::new(Code::BadUrl, format!("`{url}` is not a URL of an OCI registry"))
            .with_help("write `oci://REGISTRY/NAME:TAG`")),
    }
}
