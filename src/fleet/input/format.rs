//! Formats of input files and their names.

use std::path::Path;
use std::str::FromStr;

use dropforge_base::diagnostics::or_nearest;

use dropforge_base::text::Source;

/// The format of an input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// YAML, one document or several. JSON is valid YAML.
    Yaml,
    /// One JSON value.
    Json,
    /// One JSON value per line.
    Ndjson,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// A TOML document.
    Toml,
    /// An HCL configuration without variables. Attributes and blocks become a map.
    Hcl,
    /// Lines `KEY=VALUE`. Every value is a string.
    Env,
    /// A Parquet file. Only fleets are read from it, in builds with the feature `arrow`.
    Parquet,
    /// An Arrow file (also called Feather) or stream. Only fleets are read from it, in builds with the feature `arrow`.
    Arrow,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 10] = [
        Self::Yaml,
        Self::Json,
        Self::Ndjson,
        Self::Csv,
        Self::Tsv,
        Self::Toml,
        Self::Hcl,
        Self::Env,
        Self::Parquet,
        Self::Arrow,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Toml => "toml",
            Self::Hcl => "hcl",
            Self::Env => "env",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// Returns the format of the file `name`, guessed from `text` if the extension is unknown.
    ///
    /// ```
    /// use dropforge::bulk::Format;
    /// assert_eq!(Format::of("clusters.csv", ""), Format::Csv);
    /// assert_eq!(Format::of("-", "{\"a\": 1}\n{\"a\": 2}\n"), Format::Ndjson);
    /// assert_eq!(Format::of("-", "- a: 1"), Format::Yaml);
    /// ```
    pub fn of(name: &str, text: &str) -> Format {
        Format::of_name(name).unwrap_or_else(|| Format::guess(text))
    }

    /// Returns the format that the extension of the file `name` stands for.
    ///
    /// ```
    /// use dropforge::bulk::Format;
    /// assert_eq!(Format::of_name("conf/.env.prod"), Some(Format::Env));
    /// assert_eq!(Format::of_name("readme.md"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Format> {
        let file = Path::new(name).file_name()?.to_str()?;
        if file.starts_with(".env.") {
            return Some(Format::Env);
        }
        match file.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "jsonl" => Some(Format::Ndjson),
            "yml" => Some(Format::Yaml),
            "tfvars" => Some(Format::Hcl),
            "feather" | "ipc" => Some(Format::Arrow),
            extension => extension.parse().ok(),
        }
    }

    /// Returns `true` if each line or row of a file is a value, so that a part of it can be read.
    pub(crate) const fn is_of_records(self) -> bool {
        matches!(self, Self::Ndjson | Self::Csv | Self::Tsv)
    }

    /// Returns the format whose positions errors name for lines of JSON.
    pub fn of_lines(source: &Source) -> Format {
        if source.is_of_rows() { Format::Parquet } else { Format::Ndjson }
    }

    /// Returns `true` for files of rows in binary form.
    pub const fn is_table(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Returns the format of a binary file that begins like this.
    pub(crate) fn of_magic(head: &[u8]) -> Option<Format> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(Format::Parquet),
            // A stream begins with the mark of a message.
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Some(Format::Arrow),
            _ => None,
        }
    }

    fn guess(text: &str) -> Format {
        let is_map = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok() && line.starts_with('{');
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        match (lines.next(), lines.next()) {
            (Some(first), Some(second)) if is_map(first) && is_map(second) => Format::Ndjson,
            (Some(first), _) if first.starts_with(['[', '{']) => Format::Json,
            _ => Format::Yaml,
        }
    }
}

impl FromStr for Format {
    type Err = String;

    /// Finds the format called `name`.
    ///
    /// # Errors
    /// A message that lists the formats.
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            or_nearest(&format!("the formats are `{}`", names.join("`, `")), name, &names)
        })
    }
}
