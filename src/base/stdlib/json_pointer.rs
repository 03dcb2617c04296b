//! JSON pointers (RFC 6901).

use std::borrow::Cow;

/// Returns the names in a JSON pointer.
pub fn names(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescaped)
}

/// Returns the name that a step of a pointer means.
pub fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

/// Appends the step to the member `name` to a pointer.
pub fn push(pointer: &mut String, name: &str) {
    pointer.reserve(1 + name.len());
    pointer.push('/');
    push_escaped(pointer, name);
}

/// Returns `name` as a step of a pointer.
pub fn escaped(name: &str) -> String {
    let mut step = String::with_capacity(name.len());
    push_escaped(&mut step, name);
    step
}

fn push_escaped(pointer: &mut String, name: &str) {
    let mut rest = name;
    while let Some(at) = memchr::memchr2(b'~', b'/', rest.as_bytes()) {
        pointer.push_str(&rest[..at]);
        pointer.push_str(if rest.as_bytes()[at] == b'~' { "~0" } else { "~1" });
        rest = &rest[at + 1..];
    }
    pointer.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_found_again() {
        let all = ["a", "", "a/b", "m~n", "~1", "é/"];
        let mut pointer = String::new();
        all.iter().for_each(|name| push(&mut pointer, name));
        assert_eq!(pointer, "/a//a~1b/m~0n/~01/é~1");
        assert!(names(&pointer).eq(all));
        assert_eq!(escaped("a/b~"), "a~1b~0");
    }
}
