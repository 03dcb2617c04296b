//! Objects with methods: the files of a chart, sets of API versions, versions of Kubernetes.
//!
//! | object | value | methods |
//! |---|---|---|
//! | files | [`Extended::Typed`] of [`FILES`] around a map from paths to `[]byte` or text | `Get`, `GetBytes`, `Glob`, `Lines`, `AsConfig`, `AsSecrets` |
//! | a semantic version | [`Extended::Capsule`] of its text | see `builtins/logic.rs` |
//! | a time | [`Extended::Timestamp`] | see `builtins/dates.rs` |
//! | versions | [`Extended::Typed`] of [`VERSIONS`] around a list of texts | `Has` |
//! | structs | [`Extended::Typed`] of a [`Type::Capsule`] around the map of their fields | those of `common.KubeVersion`: `String`, `GitVersion` |

use super::builtins::dates;
use super::chart::{Capabilities, FileSet, KubeVersion};
use super::error::{error, failed};
use super::values::{BYTES, byte_list, items, strings, strval, text_bytes, type_name};
use crate::builtins::logic;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::encodings;
use dropforge_base::stdlib::globs::PathGlob;
use dropforge_machine::function::{Cx, Held};
use dropforge_value::marshal::{Refused, plain};
use dropforge_value::yaml::libyaml::{self, Form};
use dropforge_value::{Arena, Extended, Map, Type, Value, Viewed};

/// The type of the files of a chart.
pub const FILES: Type<'static> = Type::Map(&Type::Capsule("bytes"));

/// The type of a set of API versions.
pub const VERSIONS: Type<'static> = Type::List(&Type::Capsule("common.Version"));

/// The type of a pointer to the cluster.
const CAPABILITIES: Type<'static> = Type::Capsule("*common.Capabilities");

/// The type of a version of Kubernetes.
const KUBE_VERSION: Type<'static> = Type::Capsule("common.KubeVersion");

/// The type of the version of the tool.
const HELM_VERSION: Type<'static> = Type::Capsule("version.BuildInfo");

/// Returns the files of a chart.
pub(super) fn files<'v>(arena: &'v Arena, files: &'v FileSet) -> Value<'v> {
    let file = |bytes| arena.extended(Extended::Typed(BYTES, arena.extended(Extended::Bytes(bytes))));
    let entries: Vec<_> = files.iter().map(|(path, bytes)| (path, file(bytes))).collect();
    arena.extended(Extended::Typed(FILES, arena.map(&entries)))
}

/// The field of the cluster with the objects that `lookup` finds. It is there if there are some.
const OBJECTS: &str = "objects";

/// Returns the cluster: `.Capabilities`.
pub(super) fn capabilities<'v>(arena: &'v Arena, of: &'v Capabilities, known: &[Value<'v>]) -> Value<'v> {
    let object = |ty, fields: &[(&'v str, Value<'v>)]| arena.extended(Extended::Typed(ty, arena.map(fields)));
    let texts = |fields: &[(&'v str, &'v str)]| -> Vec<(&'v str, Value<'v>)> {
        fields.iter().map(|(key, text)| (*key, arena.text(text))).collect()
    };
    let KubeVersion { version, major, minor, .. } = &of.kube_version;
    let kube_version = texts(&[("Version", version), ("Major", major), ("Minor", minor)]);
    let helm = &of.helm_version;
    let helm_version = texts(&[
        ("Version", &helm.version),
        ("GitCommit", &helm.git_commit),
        ("GitTreeState", &helm.git_tree_state),
        ("GoVersion", &helm.go_version),
        ("KubeClientVersion", &helm.kube_client_version),
    ]);
    let apis: Vec<_> = of.api_versions.iter().map(|api| arena.text(api)).collect();
    let fields = [
        ("KubeVersion", object(KUBE_VERSION, &kube_version)),
        ("APIVersions", arena.extended(Extended::Typed(VERSIONS, arena.list(&apis)))),
        ("HelmVersion", object(HELM_VERSION, &helm_version)),
        (OBJECTS, arena.list(known)),
    ];
    let shown = if known.is_empty() { fields.len() - 1 } else { fields.len() };
    object(CAPABILITIES, fields.get(..shown).unwrap_or(&fields))
}

/// Returns the objects of the cluster of a render that `lookup` can find.
pub(super) fn known<'v>(cx: &Cx<'v>) -> &'v [Value<'v>] {
    let of_input = |value: Value<'v>| {
        let (_, cluster) = fields(value.as_map()?.get("Capabilities")?)?;
        items(cluster.get(OBJECTS)?)
    };
    cx.inputs().iter().find_map(|(_, value)| of_input(value)).unwrap_or(&[])
}

/// Returns the fields of a struct whose names in JSON and YAML are not their own. `None` for other values.
pub(super) fn renamed<'v>(arena: &'v Arena, value: Value<'v>) -> Option<&'v Map<'v>> {
    let (_, fields) = fields(value).filter(|(ty, _)| *ty == HELM_VERSION)?;
    let names = ["version", "git_commit", "git_tree_state", "go_version", "kube_client_version"];
    let renamed: Vec<_> = names.into_iter().zip(fields.values().iter().copied()).collect();
    arena.map(&renamed).as_map()
}

/// Returns the fields of a struct. `None` for other values.
pub(super) fn fields<'v>(value: Value<'v>) -> Option<(Type<'v>, &'v Map<'v>)> {
    match value.extended() {
        Some(Extended::Typed(ty @ Type::Capsule(_), Value::Map(fields))) => Some((*ty, fields)),
        _ => None,
    }
}

/// Returns the version of Kubernetes without suffixes of vendors.
fn normalized(fields: &Map<'_>) -> String {
    let version = fields.get("Version").and_then(|version| version.as_str()).unwrap_or("");
    KubeVersion::parse(version).map_or_else(|_| version.to_owned(), |version| version.normalized)
}

/// Returns the text of a struct as an action writes it. `None` if it is that of any other use.
pub(super) fn written(value: Value<'_>) -> Option<String> {
    let (ty, fields) = fields(value)?;
    (ty == KUBE_VERSION).then(|| normalized(fields))
}

/// Returns the values that the text of a struct has between its braces, and what is before them. `None` for values that
/// are no structs.
pub(super) fn printed<'v>(arena: &'v Arena, value: Value<'v>) -> Option<(&'static str, Vec<Value<'v>>)> {
    let (ty, fields) = fields(value)?;
    let mut values = fields.values().to_vec();
    if ty == KUBE_VERSION {
        values.insert(1, arena.text(&normalized(fields)));
    }
    Some((if ty == CAPABILITIES { "&" } else { "" }, values))
}

/// Returns a field of an object, or the result of a method without arguments.
pub(super) fn field<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Result<Option<Value<'v>>> {
    if let Some((ty, fields)) = fields(value) {
        return match (name, fields.get(name)) {
            (_, Some(field)) => Ok(Some(field)),
            ("String", None) if ty == KUBE_VERSION => cx.text(&normalized(fields)).map(Some),
            ("GitVersion", None) if ty == KUBE_VERSION => Ok(fields.get("Version")),
            _ => Ok(None),
        };
    }
    match value.extended() {
        Some(Extended::Typed(ty, Value::Map(files))) if *ty == FILES => match name {
            "AsConfig" => by_name(cx, files, |bytes| String::from_utf8_lossy(bytes).into_owned()).map(Some),
            "AsSecrets" => by_name(cx, files, encodings::base64).map(Some),
            _ => Ok(None),
        },
        _ => Ok(logic::field(cx, value, name)?.or_else(|| dates::field(cx, value, name))),
    }
}

/// Returns the error of a field that an object does not have. `None` for values that are no objects.
pub(super) fn no_field(value: Value<'_>, name: &str) -> Option<Box<Diagnostic>> {
    let names = || fields(value).into_iter().flat_map(|(_, fields)| fields.iter().map(|(name, _)| name));
    let message = match value.extended()? {
        _ if has_method(value, name) => format!("wrong number of args for {name}: want 1 got 0"),
        Extended::Typed(ty, _) if *ty == KUBE_VERSION && name == "normalizedVersion" => {
            format!("{name} is an unexported field of struct type {}", type_name(value))
        }
        // A value in a map is an interface.
        Extended::Typed(ty, _) if *ty == CAPABILITIES => format!("can't evaluate field {name} in type interface {{}}"),
        Extended::Typed(Type::Capsule(_), Value::Map(_)) => {
            format!("can't evaluate field {name} in type {}", type_name(value))
        }
        _ => return None,
    };
    let error = error(Code::UndefinedVariable, message).with_suggestion(name, names());
    Some(if names().next().is_some() { error.with_available(names()) } else { error })
}

/// Returns the files as YAML, by the last components of their paths.
fn by_name<'v>(cx: &Cx<'v>, files: &'v Map<'v>, text: impl Fn(&[u8]) -> String) -> Result<Value<'v>> {
    let mut entries = Vec::new();
    for (path, content) in files.iter() {
        let content = strval(cx, content)?;
        // A file in base64 is larger than the file by a third.
        cx.charge(content.len().saturating_mul(2))?;
        let name = path.rsplit('/').next().unwrap_or(path);
        entries.push((name, cx.arena().text(&text(content))));
    }
    let (map, mut out) = (cx.arena().map(&entries), String::new());
    let mut held = Held::new(cx);
    libyaml::write(Viewed(map, &plain), Form::Json, &mut out, &mut |len| held.step(len)).or_else(|refused| {
        match refused {
            Refused::Value(_) => {
                out.clear();
                Ok(())
            }
            Refused::Stopped(error) => Err(error),
        }
    })?;
    cx.text(out.strip_suffix('\n').unwrap_or(&out))
}

/// Returns `true` if a value has a method of this name that takes arguments.
pub(super) fn has_method(value: Value<'_>, name: &str) -> bool {
    match value.extended() {
        Some(Extended::Typed(ty, _)) if *ty == FILES => matches!(name, "Get" | "GetBytes" | "Glob" | "Lines"),
        Some(Extended::Typed(ty, _)) if *ty == VERSIONS => name == "Has",
        _ => logic::has_method(value, name) || dates::has_method(value, name),
    }
}

/// Calls a method.
///
/// # Errors
/// The arguments are wrong, or the method fails.
pub(super) fn call<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str, args: &[Value<'v>]) -> Result<Value<'v>> {
    if let Some(result) = logic::method(value, name, args)? {
        return Ok(result);
    }
    if let Some(result) = dates::method(cx, value, name, args)? {
        return Ok(result);
    }
    let [argument] = args else {
        let message = format!("wrong number of args for {name}: want 1 got {}", args.len());
        return Err(error(Code::BadArgument, message));
    };
    let Some(argument) = text_bytes(*argument) else {
        let of = type_name(*argument);
        return Err(error(Code::BadArgument, format!("wrong type for value; expected string; got {of}")));
    };
    match value.extended() {
        Some(Extended::Typed(_, Value::Map(files))) if name == "Glob" => glob(cx, files, argument),
        Some(Extended::Typed(_, Value::Map(files))) => file(cx, files, name, argument),
        Some(Extended::Typed(..)) => {
            let versions = items(value).unwrap_or(&[]);
            cx.spend(versions.len() as u64)?;
            Ok(Value::Bool(versions.iter().any(|version| text_bytes(*version) == Some(argument))))
        }
        _ => Err(failed(format!("can't evaluate field {name} in type {}", type_name(value)))),
    }
}

/// Returns the files whose paths match a pattern; all of them if the pattern is malformed.
fn glob<'v>(cx: &Cx<'v>, files: &'v Map<'v>, pattern: &[u8]) -> Result<Value<'v>> {
    cx.spend((files.len() as u64).saturating_mul(1 + pattern.len() as u64 / 8))?;
    let glob = std::str::from_utf8(pattern).ok().and_then(PathGlob::parse);
    let matches = |path: &str| glob.as_ref().is_none_or(|glob| glob.matches(path));
    let entries: Vec<_> = files.iter().filter(|(path, _)| matches(path)).collect();
    cx.charge(std::mem::size_of_val(entries.as_slice()))?;
    cx.extended(Extended::Typed(FILES, cx.map(&entries)?))
}

/// Returns the content of a file; that of an unknown one is empty.
fn file<'v>(cx: &Cx<'v>, files: &'v Map<'v>, name: &str, path: &[u8]) -> Result<Value<'v>> {
    let found = std::str::from_utf8(path).ok().and_then(|path| files.get(path));
    let content = found.map_or(Ok(Default::default()), |found| strval(cx, found))?;
    match name {
        "GetBytes" => byte_list(cx, content),
        "Lines" if found.is_none() => strings(cx, &[]),
        "Lines" => lines(cx, content),
        _ => cx.string(content),
    }
}

/// Returns the lines of a file. The end of the last line begins no other.
fn lines<'v>(cx: &Cx<'v>, content: &[u8]) -> Result<Value<'v>> {
    let Some((last, before)) = content.split_last() else {
        return Err(failed("runtime error: index out of range [-1]"));
    };
    let content = if *last == b'\n' { before } else { content };
    let lines = content.split(|byte| *byte == b'\n').map(|line| cx.string(line));
    strings(cx, &lines.collect::<Result<Vec<_>>>()?)
}
