//! Filters and functions beyond Tera, named as in Sprig and Helm. A template that uses them does not render with Tera.
//!
//! | file | content |
//! |---|---|
//! | `texts` | quotes, indentation, base64, names; YAML and JSON |
//! | `yaml` | reading YAML (feature `yaml`) |
//! | `choices` | required values, fallbacks, merged maps; conditions on versions and addresses |
//! | `external` | filters that need other crates (feature `tera-plus`): hashes, patterns, networks |
//!
//! A filter whose subject has a default may come first on a missing path. Its body gets an undefined value.

mod choices;
#[cfg(feature = "plus")]
pub(super) mod external;
mod texts;
#[cfg(feature = "yaml")]
pub(super) mod yaml;

use dropforge_machine::function::Builtin;

/// Returns every table of builtins beyond Tera.
pub(super) fn tables() -> Vec<&'static [Builtin]> {
    vec![
        texts::TEXTS,
        texts::DOCUMENTS,
        choices::CHOICES,
        choices::CONDITIONS,
        #[cfg(feature = "yaml")]
        yaml::YAML,
        #[cfg(feature = "plus")]
        external::EXTERNAL,
    ]
}

#[cfg(test)]
mod tests;
