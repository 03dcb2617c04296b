//! Function bodies shared by all languages, on plain Rust types: no values, no diagnostics, no languages.
//!
//! | module | content |
//! |---|---|
//! | `strings`, `letter_case`, `graphemes` | words, truncation, indentation, slugs; letter case; grapheme clusters |
//! | `byte_texts`, `letter_words`, `quoting` | cutting, wrapping and splitting by bytes; names in other notations; quoted literals |
//! | `characters` | categories of characters |
//! | `markup` | HTML and XML escapes, tag removal |
//! | `base64`, `base32`, `pem`, `percent` | base64; base32; PEM; percent encoding |
//! | `hashes`, `password_hash` | hashes and UUIDs; bcrypt |
//! | `numbers`, `file_size`, `float_format`, `float_parse` | number parsing, rounding; sizes of files; floats as `%g` and `%e`; float literals |
//! | `int_parse`, `decimal` | integer literals; decimal arithmetic on floats |
//! | `bignum` | 512-bit numbers |
//! | `clock` | the current time |
//! | `timestamps`, `time`, `zones`, `duration` | timestamps as text; strftime; time zones; durations, RFC 3339, date layouts |
//! | `reference_time` | date layouts written as a reference time |
//! | `re2`, `ecma_patterns`, `regex_cost`, `globs` | syntaxes of regular expressions; the cost of a search; glob patterns |
//! | `attribute_path`, `file_path` | paths into values; relative file paths |
//! | `network`, `cidr`, `urls` | IP networks, lenient and strict; URLs |
//! | `quantity`, `semver`, `kubernetes_formats` | Kubernetes quantities, versions and name formats |
//! | `byte_search` | searches for bytes in short texts |
//! | `small_sort` | sorting with little code |
//! | `bounded_text` | text with a maximum size |
//! | `data_versions` | the versions of tables |
//!
//! Invariants: nothing here panics, whatever the input. Everything runs in time linear in its input and output. Whatever
//! can grow announces its size (`…_len`) or writes into a `bounded_text::Bounded`, so that a caller can check its
//! memory limit before anything is allocated.

pub mod attribute_path;
pub mod base32;
pub mod base64;
pub mod bignum;
pub(crate) mod bounded_text;
pub mod byte_search;
pub mod byte_texts;
pub mod characters;
pub mod cidr;
pub mod clock;
mod data_versions;
pub mod decimal;
pub mod duration;
pub mod ecma_patterns;
pub mod file_path;
pub mod file_size;
pub mod float_format;
pub mod float_parse;
pub mod globs;
pub mod graphemes;
pub mod hashes;
pub mod int_parse;
pub mod json_pointer;
pub mod kubernetes_formats;
pub mod letter_case;
pub mod letter_words;
pub mod markup;
pub mod network;
pub mod numbers;
pub mod password_hash;
pub mod pem;
pub mod percent;
pub mod quantity;
pub mod quoting;
pub mod re2;
pub mod reference_time;
pub mod regex_cost;
pub mod semver;
pub mod small_sort;
pub mod strings;
pub mod time;
pub mod timestamps;
pub mod urls;
pub mod zones;

pub use data_versions::data_versions;
