//! Conversions of capsules to strings.

use crate::values::capsules::Content;
use dropforge_machine::overloads;

overloads! {
    /// Conversions that Kubernetes lacks, and that templates need.
    pub static TABLE:
    "string": "Converts a quantity, a version or a URL to a string." ["string(quantity('1024Ki'))" => "'1Mi'", "string(semver('v1', true))" => "'1.0.0'"]
        fn "quantity_to_string" ("kubernetes.Quantity") -> String = Content::text;
        fn "semver_to_string" ("kubernetes.Semver") -> String = Content::text;
        fn "url_to_string" ("kubernetes.URL") -> String = Content::text;
}
