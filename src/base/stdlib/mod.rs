//! Function bodies shared by all languages, on plain Rust types: no values, no diagnostics, no languages.
//!
//! | module | content |
//! |---|---|
//! | `strings`, `letter_case` | words, truncation, indentation, slugs; letter case |
//! | `byte_texts`, `letter_words` | cutting, wrapping and splitting by bytes; names in other notations |
//! | `characters` | categories of characters, grapheme clusters, quoted literals |
//! | `markup` | HTML and XML escapes, tag removal |
//! | `encodings` | base64, base32, PEM, percent encoding |
//! | `deflate` | compression |
//! | `hashes` | hashes, UUIDs, bcrypt |
//! | `numbers`, `number_literals` | lenient number parsing, rounding, decimal arithmetic on floats; literals of source code |
//! | `float_format` | floats as `%g` and `%e`; sizes of files |
//! | `bignum` | 512-bit numbers |
//! | `timestamps`, `time`, `zones`, `duration` | timestamps as text, the current time; strftime; time zones; durations, RFC 3339, date layouts |
//! | `reference_time` | date layouts written as a reference time |
//! | `re2`, `patterns`, `globs`, `go_match` | regular expressions in the syntaxes of RE2 and ECMA 262, the cost of a search; glob patterns, and Go's |
//! | `paths` | dotted paths and JSON pointers into values; file paths |
//! | `network`, `cidr`, `urls` | IP networks, lenient and strict; URLs |
//! | `quantity`, `semver`, `kubernetes_formats` | Kubernetes quantities, versions and name formats |
//! | `byte_search` | searches for bytes in short texts |
//! | `small_sort` | sorting with little code |
//!
//! Invariants: nothing here panics, whatever the input. Everything runs in time linear in its input and output. Whatever
//! can grow announces its size (`…_len`) or writes into a `time::Bounded`, so that a caller can check its
//! memory limit before anything is allocated.

pub mod bignum;
pub mod byte_search;
pub mod byte_texts;
pub mod characters;
pub mod cidr;
pub mod deflate;
pub mod duration;
pub mod encodings;
pub mod float_format;
pub mod globs;
pub mod go_match;
pub mod hashes;
pub mod kubernetes_formats;
pub mod letter_case;
pub mod letter_words;
pub mod markup;
pub mod name_stack;
pub mod network;
pub mod number_literals;
pub mod numbers;
pub mod paths;
pub mod patterns;
pub mod quantity;
pub mod re2;
pub mod reference_time;
pub mod semver;
pub mod small_sort;
pub mod strings;
pub mod time;
pub mod timestamps;
pub mod urls;
pub mod zones;

pub use zones::data_versions;
