//! The house's invariants: floors, language names, unsafe code, features.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The floors from the ground up; a module imports only from its own floor and those below.
const FLOORS: &[&[&str]] = &[
    &["text", "diagnostics", "limits", "stdlib"],
    &["value"],
    &["bytecode"],
    &["compiler", "function", "vm", "schema"],
    &["dialect"],
    &["engine"],
    &["bulk", "catalog"],
    &["cli", "server"],
];

/// Modules in which no language may be named.
const SHARED: &[&str] = &["vm", "bytecode", "compiler", "value"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
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

/// The module below `src/` that a file belongs to.
fn module_of(path: &Path) -> String {
    let relative = path.strip_prefix(root().join("src")).expect("a file of ours");
    let first = relative.iter().next().expect("a name").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

fn floor_of(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// Code lines of a file: comments and what stands behind `#[cfg(test)]` aside.
fn code_lines(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).expect("a source file");
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or("");
    let numbered = code.lines().enumerate().map(|(at, line)| (at + 1, line.trim().to_owned()));
    numbered.filter(|(_, line)| !line.starts_with("//")).collect()
}

#[test]
fn a_floor_imports_only_from_floors_below() {
    let mut wrong = Vec::new();
    for path in rust_files(&root().join("src")) {
        let module = module_of(&path);
        let Some(floor) = floor_of(&module) else { continue };
        for (line, code) in code_lines(&path) {
            for imported in code.split("crate::").skip(1) {
                let name: String = imported.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if floor_of(&name).is_some_and(|below| below > floor) {
                    wrong.push(format!("{}:{line}: `{module}` imports `{name}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn languages_do_not_import_one_another() {
    let languages = ["tower", "tera", "hcl", "cel"];
    for language in languages {
        let dir = root().join("src/dialect").join(language);
        if !dir.is_dir() {
            continue;
        }
        for path in rust_files(&dir) {
            for (line, code) in code_lines(&path) {
                for other in languages.iter().filter(|other| **other != language) {
                    let import = format!("dialect::{other}");
                    assert!(!code.contains(&import), "{}:{line}: {code}", path.display());
                }
            }
        }
    }
}

#[test]
fn no_language_is_named_on_the_shared_floors() {
    let names = regex::Regex::new(r"(?i)(^|[^a-z])(tera|hcl|cel|tower)([^a-z]|$)").expect("a pattern");
    for module in SHARED {
        for path in rust_files(&root().join("src").join(module)) {
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

/// Modules with unsafe code, each measured and with a checked twin.
const UNSAFE: &[&str] = &["vm/access.rs"];

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

fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(args).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The names of the crates that are linked into a package, by `cargo tree` with these arguments.
fn linked(args: &[&str]) -> Vec<String> {
    let tree = cargo(&[&["tree", "--locked", "-e", "normal", "--prefix", "none"], args].concat());
    tree.lines().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect()
}

#[test]
fn the_runtime_links_no_parser_and_no_product() {
    const LEFT_OUT: [&str; 8] =
        ["logos", "lalrpop-util", "granit-parser", "rmp-serde", "csv", "rustix", "clap", "signal-hook"];
    let all = linked(&["-p", "dropforge"]);
    // The build script of the example compiles templates; what it links must not get into the binary.
    let runtimes = [
        linked(&["-p", "dropforge", "--no-default-features", "--features", "runtime"]),
        linked(&["-p", "precompiled"]),
    ];
    for runtime in runtimes {
        assert!(runtime.iter().any(|name| name == "dropforge") && runtime.iter().any(|name| name == "regex"));
        for name in LEFT_OUT {
            assert!(!runtime.iter().any(|linked| linked == name), "{name} is linked");
            // The whole tree has the name: a renamed crate must not pass for one left out.
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
