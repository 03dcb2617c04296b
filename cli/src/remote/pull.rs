//! `dropforge pull`: an artifact from an OCI registry.

use std::path::PathBuf;

use clap::Args;
use humansize::{DECIMAL, format_size};

use dropforge::bulk::write_file;
use dropforge::remote::oci;

use super::reference;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_dash};
use crate::output::print;
use crate::stderr::Stderr;

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
pub(crate) fn run(args: &PullArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
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
