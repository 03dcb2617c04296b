//! Function bodies shared by all languages, on plain Rust types: no values, no diagnostics, no languages.
//!
//! | module | content |
//! |---|---|
//! | `strings`, `letter_case`, `graphemes` | words, truncation, indentation, slugs; letter case; grapheme clusters |
//! | `byte_texts`, `letter_words`, `quoting` | cutting, wrapping and splitting by bytes; names in other notations; quoted literals |
//! | `characters` | categories of characters |
//! | `markup` | HTML and XML escapes, tag removal |
//! | `base64`, `base32`, `percent`, `charsets`, `hashes` | base64; base32; percent encoding; character encodings; hashes and UUIDs |
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
//! | `csv`, `rsa`, `aes_text` | CSV; RSA decryption; AES |
//! | `der`, `private_keys`, `primes`, `certificates` | DER and PEM; private keys; random primes; X.509 certificates |
//! | `random`, `password_hash`, `site_passwords` | random texts; bcrypt; passwords derived from one secret |
//! | `byte_search` | searches for bytes in short texts |
//! | `small_sort` | sorting with little code |
//! | `printf` | formats with verbs |
//! | `bounded_text` | text with a maximum size |
//! | `data_versions` | the versions of tables |
//!
//! Invariants: nothing here panics, whatever the input. Everything runs in time linear in its input and output. Whatever
//! can grow announces its size (`…_len`) or writes into a `bounded_text::Bounded`, so that a caller can check its
//! memory limit before anything is allocated.

#[cfg(feature = "helm")]
pub(crate) mod aes_text;
pub(crate) mod attribute_path;
#[cfg(feature = "helm")]
pub(crate) mod base32;
pub(crate) mod base64;
pub(crate) mod bignum;
pub(crate) mod bounded_text;
pub(crate) mod byte_search;
#[cfg(feature = "helm")]
pub(crate) mod byte_texts;
#[cfg(feature = "helm-crypto")]
pub(crate) mod certificates;
#[cfg(feature = "documents")]
pub(crate) mod characters;
#[cfg(feature = "hcl")]
pub(crate) mod charsets;
#[cfg(any(feature = "tera", feature = "cel"))]
pub(crate) mod cidr;
pub(crate) mod clock;
#[cfg(feature = "hcl")]
pub(crate) mod csv;
mod data_versions;
#[cfg(feature = "helm")]
pub(crate) mod decimal;
#[cfg(any(feature = "hcl", feature = "helm-crypto"))]
pub(crate) mod der;
#[cfg(feature = "clock")]
pub(crate) mod duration;
#[cfg(feature = "schemas")]
pub(crate) mod ecma_patterns;
pub(crate) mod file_path;
#[cfg(feature = "tera-builtins")]
pub(crate) mod file_size;
pub(crate) mod float_format;
pub(crate) mod float_parse;
pub mod globs;
pub(crate) mod graphemes;
#[cfg(any(feature = "tera-plus", feature = "hcl", feature = "cel", feature = "helm"))]
pub(crate) mod hashes;
#[cfg(feature = "documents")]
pub(crate) mod int_parse;
pub(crate) mod json_pointer;
#[cfg(feature = "cel")]
pub(crate) mod kubernetes_formats;
pub(crate) mod letter_case;
#[cfg(feature = "helm")]
pub(crate) mod letter_words;
pub(crate) mod markup;
#[cfg(any(feature = "tera-plus", feature = "hcl", feature = "cel"))]
pub(crate) mod network;
pub(crate) mod numbers;
#[cfg(any(feature = "hcl", feature = "helm"))]
pub(crate) mod password_hash;
#[cfg(any(feature = "tera-builtins", feature = "hcl", feature = "cel", feature = "helm"))]
pub(crate) mod percent;
#[cfg(feature = "helm-crypto")]
pub(crate) mod primes;
#[cfg(feature = "documents")]
pub mod printf;
#[cfg(feature = "helm-crypto")]
pub(crate) mod private_keys;
#[cfg(feature = "cel")]
pub(crate) mod quantity;
#[cfg(feature = "documents")]
pub(crate) mod quoting;
#[cfg(feature = "helm")]
pub(crate) mod random;
#[cfg(feature = "patterns")]
pub mod re2;
#[cfg(feature = "helm")]
pub(crate) mod reference_time;
#[cfg(feature = "patterns")]
pub(crate) mod regex_cost;
#[cfg(feature = "hcl")]
pub(crate) mod rsa;
#[cfg(any(feature = "tera", feature = "cel", feature = "helm"))]
pub(crate) mod semver;
#[cfg(feature = "helm")]
pub(crate) mod site_passwords;
pub(crate) mod small_sort;
pub(crate) mod strings;
#[cfg(feature = "clock")]
pub(crate) mod time;
pub(crate) mod timestamps;
#[cfg(any(feature = "cel", feature = "helm"))]
pub(crate) mod urls;
#[cfg(feature = "clock")]
pub(crate) mod zones;

pub use data_versions::data_versions;
