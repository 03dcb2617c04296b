//! JSON pointers (RFC 6901).

/// Returns the names in a JSON pointer.
pub(crate) fn names(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"))
}
