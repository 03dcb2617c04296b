//! The book, the pages of the manual, the completions.
//!
//! ```sh
//! cargo run -p dropforge-tools -- book target/book
//! cargo run -p dropforge-tools -- man target/man
//! ```

mod book;
mod links;
mod manual;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Build the documentation of dropforge
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the book and check its links
    Book {
        /// Write HTML to this directory
        out: PathBuf,
    },
    /// Write a page of the manual for each command to OUT/man1, and completions to OUT/completions
    Man {
        /// Write to this directory
        out: PathBuf,
    },
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    match Cli::parse().command {
        Command::Book { out } => book::build(repository(), &std::path::absolute(out)?),
        Command::Man { out } => manual::write(&out),
    }
}

/// Returns the root of the repository.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}
