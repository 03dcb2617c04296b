//! HCL configurations, recognised by their file names.

use std::path::Path;

use dropforge::engine::{Dialect, dialect_of};

/// Extensions of configurations in the native syntax.
const EXTENSIONS: [&str; 5] = ["hcl", "nomad", "tf", "tfvars", "tofu"];

/// Returns `true` for the name of a configuration in the native syntax (`main.tf`).
pub(crate) fn is_native(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|name| EXTENSIONS.contains(&name))
}

/// Returns `true` for the name of a configuration in the native or JSON syntax (`main.tf.json`). A name with another
/// language (`app.tera.hcl`) is that of a template.
pub(crate) fn is_configuration(name: &str) -> bool {
    let path = Path::new(name.strip_suffix(".json").unwrap_or(name));
    is_native(path) && matches!(dialect_of(name), None | Some(Dialect::Hcl))
}
