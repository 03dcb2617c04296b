//! Functions of file paths. Paths of the operating system have slashes, too.

use super::arguments::{only_bytes, part};
use crate::values::string;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::file_path;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

assigned! {
    /// Functions of file paths.
    pub(super) static PATHS:
    "base" (Str) = base, "Returns the last part of a path." [r#"{{ base "foo/bar" }}"# => "bar", r#"{{ base "" }}"# => "."];
    "osBase" (Str) = base, "Returns the last part of a path." [r#"{{ osBase "/foo/bar" }}"# => "bar"];
    "dir" (Str) = dir, "Returns a path without its last part." [r#"{{ dir "foo/bar/baz" }}"# => "foo/bar"];
    "osDir" (Str) = dir, "Returns a path without its last part." [r#"{{ osDir "/foo" }}"# => "/"];
    "clean" (Str) = clean, "Returns the shortest path with the same meaning." [r#"{{ clean "foo/bar/../baz" }}"# => "foo/baz"];
    "osClean" (Str) = clean, "Returns the shortest path with the same meaning." [r#"{{ osClean "/a//b/." }}"# => "/a/b"];
    "ext" (Str) = ext, "Returns the extension of a path with its point." [r#"{{ ext "foo.tar.gz" }}"# => ".gz"];
    "osExt" (Str) = ext, "Returns the extension of a path with its point." [r#"[{{ osExt "/foo" }}]"# => "[]"];
    "isAbs" (Str) = is_abs, "Returns `true` if a path starts at the root." [r#"{{ isAbs "/foo" }}"# => "true"];
    "osIsAbs" (Str) = is_abs, "Returns `true` if a path starts at the root." [r#"{{ osIsAbs "foo" }}"# => "false"];
}

/// Returns the only argument, a path, and charges for the list of its parts.
fn path<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<&'v [u8]> {
    let path = only_bytes(cx, args)?;
    cx.charge(path.len().saturating_mul(size_of::<&[u8]>() / 2))?;
    Ok(path)
}

fn base<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    part(cx, file_path::base(only_bytes(cx, args)?))
}

fn dir<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    string(cx, &file_path::folder(path(cx, args)?))
}

fn clean<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    string(cx, &file_path::cleaned(path(cx, args)?))
}

fn ext<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    part(cx, file_path::extension(only_bytes(cx, args)?))
}

fn is_abs<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Ok(Value::Bool(file_path::is_absolute(only_bytes(cx, args)?)))
}
