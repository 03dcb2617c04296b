//! What a template may be called in an artifact: a relative path, because outputs are named after it.

/// The most bytes of a name and of one of its parts.
const NAME: usize = 1024;
const PART: usize = 255;

/// Whether `name` is a relative path of proper parts (not empty, not `.` or `..`) with `/` between them and
/// without control characters and backslashes.
pub(super) fn is_name(name: &str) -> bool {
    let odd = |byte: u8| byte < 0x20 || byte == 0x7F || byte == b'\\';
    let part = |part: &str| !matches!(part, "" | "." | "..") && part.len() <= PART;
    name.len() <= NAME && !name.bytes().any(odd) && name.split('/').all(part)
}
