//! `dropforge push`: an artifact into an OCI registry.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use humansize::{DECIMAL, format_size};
use serde_json::{Map, Value};

use dropforge::bytecode::Bundle;
use dropforge::remote::oci;

use super::reference;
use crate::artifacts;
use crate::chart;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
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
