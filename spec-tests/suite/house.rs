//! Rules of the source tree that Cargo does not hold: modules, language names, unsafe code, features. CONTRIBUTING.md states
//! them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders that must not name a language.
const SHARED: &[&str] = &["machine", "value"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a source folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns numbered lines of code, without comments and test modules.
fn code_lines(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).expect("a source file");
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let mut code = Vec::new();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("#[cfg(") && line.contains("test") {
            // Skip the item: up to its closing brace, or to the end of a single line.
            let ends = |line: &str| line == "}" || (line.ends_with(';') && !line.starts_with(' '));
            let _item = lines.find(|(_, line)| ends(line));
        } else if !line.trim_start().starts_with("//") {
            code.push((number, line.trim().to_owned()));
        }
    }
    code
}

#[test]
fn code_behind_a_test_module_is_seen() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = "a;\n#[cfg(test)]\nmod tests;\nb;\n#[cfg(test)]\nmod more {\n    c;\n}\n// d\ne;\n";
    std::fs::write(file.path(), text).expect("the file can be written");
    let lines = code_lines(file.path());
    assert_eq!(lines, [(1, "a;".to_owned()), (4, "b;".to_owned()), (10, "e;".to_owned())]);
}

/// Returns the files that may hold the modules that a source file declares, and those that it names by path.
fn declared(path: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(path).expect("a source file");
    let folder = path.parent().expect("a folder");
    let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| path.ends_with(name));
    let below = if is_root { folder.to_owned() } else { path.with_extension("") };
    let module = regex::Regex::new(r"(?m)^\s*(?:pub(?:\([a-z: ]+\))? )?mod (\w+);").expect("a pattern");
    let named = regex::Regex::new(r#"(?:path = |include!\()"([^"]+\.rs)""#).expect("a pattern");
    let modules = module.captures_iter(&text).map(|found| below.join(&found[1]));
    let modules = modules.flat_map(|path| [path.with_extension("rs"), path.join("mod.rs")]);
    modules.chain(named.captures_iter(&text).map(|found| folder.join(&found[1]))).collect()
}

/// Returns the files of a package's targets that are not at their usual places.
fn targets(dir: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
    let paths = text.lines().filter_map(|line| line.strip_prefix("path = \"")?.strip_suffix('"'));
    paths.map(|path| dir.join(path)).collect()
}

#[test]
fn every_file_is_declared_as_a_module() {
    let files: Vec<PathBuf> = ["src", "cli", "catalog"].iter().flat_map(|top| rust_files(&root().join(top))).collect();
    let folders = files.iter().flat_map(|path| path.ancestors().skip(1));
    let folders: std::collections::BTreeSet<&Path> = folders.filter(|folder| folder.starts_with(root())).collect();
    let targets = folders.into_iter().flat_map(targets);
    let known = files.iter().flat_map(|path| declared(path)).chain(targets).filter_map(|path| path.canonicalize().ok());
    let known: std::collections::BTreeSet<PathBuf> = known.collect();
    let is_target = |path: &Path| ["lib.rs", "main.rs", "build.rs"].iter().any(|name| path.ends_with(name));
    let lost = files.iter().filter(|path| !is_target(path) && !known.contains(&path.canonicalize().expect("a file")));
    assert_eq!(lost.collect::<Vec<_>>(), Vec::<&PathBuf>::new(), "files that no module declares");
}

/// Modules of one layer that do not know each other: programs are all that they share.
const APART: &[(&str, &str)] = &[
    ("vm", "compiler"),
    ("compiler", "vm"),
    ("specialise", "compiler"),
    ("vm", "specialise"),
    ("compiler", "specialise"),
];

#[test]
fn modules_that_share_only_programs_do_not_import_one_another() {
    for (module, other) in APART {
        let import = format!("crate::{other}");
        let dir = root().join("src/machine").join(module);
        let files = if dir.is_dir() { rust_files(&dir) } else { Vec::new() };
        let is_test =
            |path: &Path| path.iter().any(|part| part.to_string_lossy().trim_end_matches(".rs").ends_with("tests"));
        for path in files.iter().filter(|path| !is_test(path.strip_prefix(&dir).expect("a file of the module"))) {
            for (line, code) in code_lines(path) {
                assert!(!code.contains(&import), "{}:{line}: {code}", path.display());
            }
        }
    }
}

/// Returns the names of our crates that a package depends on, without those of its tests.
fn dependencies(package: &str) -> Vec<String> {
    let tree = linked(&["-p", package, "--all-features", "--depth", "1"]);
    tree.into_iter().filter(|name| name.starts_with("dropforge") && name != package).collect()
}

#[test]
fn languages_do_not_depend_on_one_another() {
    for language in ["tower", "tera", "hcl", "cel", "helm"] {
        let package = format!("dropforge-{language}");
        let dependencies = dependencies(&package);
        let shared = ["base", "machine", "schema", "value"].map(|name| format!("dropforge-{name}"));
        assert!(dependencies.contains(&shared[1]), "{package}: {dependencies:?}");
        assert!(dependencies.iter().all(|name| shared.contains(name)), "{package}: {dependencies:?}");
    }
}

#[test]
fn no_language_is_named_in_shared_modules() {
    let names = regex::Regex::new(r"(?i)(^|[^a-z])(tera|hcl|cel|tower|helm)([^a-z]|$)").expect("a pattern");
    for module in SHARED {
        let dir = root().join("src").join(module);
        for path in if dir.is_dir() { rust_files(&dir) } else { Vec::new() } {
            if path.ends_with("bytecode/header.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            for (at, line) in text.lines().enumerate() {
                let code = line.trim();
                assert!(code.starts_with("//") || !names.is_match(code), "{}:{}: {code}", path.display(), at + 1);
            }
        }
    }
}

/// Modules with unsafe code. Each is measured and has a checked twin.
const UNSAFE: &[&str] = &["machine/vm/access.rs"];

#[test]
fn only_listed_modules_allow_unsafe_code() {
    for path in rust_files(&root().join("src")) {
        let text = std::fs::read_to_string(&path).expect("a source file");
        let listed = UNSAFE.iter().any(|module| path == root().join("src").join(module));
        assert_eq!(text.contains("allow(unsafe_code)"), listed, "{}", path.display());
    }
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("unsafe_code = \"deny\""));
}

/// Files that open others themselves: the door, and one that opens a folder to sync it.
const DOORS: &[&str] = &["src/base/files.rs", "catalog/src/store/sqlite/temporary.rs"];

#[test]
fn files_are_opened_for_reading_by_one_door() {
    let opens = r"\bFile::open\(|\bfs::read\(|\bfs::read_to_string\(|pem_file|\.read\(true\)";
    let (opens, tests) = (opens, r"(^|/)(named_)?tests(/|\.rs)|_tests\.rs$");
    let (opens, tests) = (regex::Regex::new(opens).expect("a pattern"), regex::Regex::new(tests).expect("a pattern"));
    let mut doors = std::collections::BTreeSet::new();
    for path in ["src", "cli/src", "catalog/src", "python/src"].iter().flat_map(|top| rust_files(&root().join(top))) {
        let name = path.strip_prefix(root()).expect("a file of the tree").to_string_lossy().into_owned();
        let found = code_lines(&path).into_iter().find(|(_, code)| opens.is_match(code) && !tests.is_match(&name));
        if let Some((line, code)) = found {
            assert!(DOORS.contains(&name.as_str()), "{name}:{line}: {code}: use the functions of `base::files`");
            doors.insert(name);
        }
    }
    assert_eq!(doors.len(), DOORS.len(), "{doors:?}");
}

fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(args).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the names of the crates linked into a package, by `cargo tree` with these arguments.
fn linked(args: &[&str]) -> Vec<String> {
    let tree = cargo(&[&["tree", "--locked", "-e", "normal", "--prefix", "none"], args].concat());
    tree.lines().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect()
}

#[test]
fn the_runtime_links_no_parser_and_no_product() {
    const LEFT_OUT: [&str; 8] =
        ["logos", "lalrpop-util", "granit-parser", "rmp-serde", "csv", "rustix", "clap", "signal-hook"];
    let all = linked(&["-p", "dropforge-cli"]);
    // The example's build script compiles templates, but its dependencies must stay out of the binary.
    let runtimes = [
        linked(&["-p", "dropforge", "--no-default-features", "--features", "runtime"]),
        linked(&["-p", "precompiled"]),
    ];
    for runtime in runtimes {
        assert!(runtime.iter().any(|name| name == "dropforge") && runtime.iter().any(|name| name == "serde_json"));
        for name in LEFT_OUT {
            assert!(!runtime.iter().any(|linked| linked == name), "{name} is linked");
            // The full tree must contain the name. Otherwise a renamed crate would pass as absent.
            assert!(all.iter().any(|linked| linked == name), "{name} is nowhere");
        }
    }
}

#[test]
fn serde_json_is_built_without_features_that_change_maps_or_numbers() {
    let text = cargo(&["tree", "--workspace", "--locked", "-e", "features", "-i", "serde_json"]);
    assert!(text.contains("serde_json"), "{text}");
    for feature in ["preserve_order", "arbitrary_precision"] {
        assert!(!text.contains(feature), "{feature} is on:\n{text}");
    }
}
