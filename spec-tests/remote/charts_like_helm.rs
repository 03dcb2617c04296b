//! `deps` beside Helm itself: random charts, versions, ranges and repositories. `DROPFORGE_CASES` sets their number.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fastrand::Rng;

use crate::charts::{World, helm, without_time};
use crate::web::Web;

/// Versions as repositories have them.
const VERSIONS: [&str; 17] = [
    "0.1.0",
    "0.1.1",
    "0.2.0",
    "1.0.0",
    "1.0.1",
    "1.1.0",
    "1.2.0-rc.1",
    "1.2.0",
    "1.2.1+b1",
    "2.0.0-0",
    "2.0.0-alpha.1",
    "v2.0.0",
    "2.1",
    "3.0.0",
    "v3.1.0-beta",
    "1.10.0",
    "0.0.3",
];
const OPERATORS: [&str; 10] = ["", "^", "~", ">=", "<=", ">", "<", "=", "!=", "~>"];
const NAMES: [&str; 3] = ["alpha", "beta", "gamma-x"];

/// Runs a command of Helm.
fn run_helm(world: &World, helm: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(helm);
    world.set(&mut command);
    command.args(args).output().expect("helm")
}

/// Packs charts with Helm, and serves them with its index.
fn repository(world: &World, helm: &Path, random: &mut Rng) -> Web {
    for name in NAMES {
        for version in random.choose_multiple(VERSIONS, 8) {
            world.write("source/Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: \"{version}\"\n"));
            world.write("source/templates/a.yaml", "a: 1\n");
            let packed = run_helm(world, helm, &["package", "source", "-d", "repository"]);
            assert!(packed.status.success(), "{packed:?}");
        }
    }
    assert!(run_helm(world, helm, &["repo", "index", "repository"]).status.success());
    let root = world.path("repository").display().to_string();
    let files = world.files("repository").into_iter();
    Web::files(
        files
            .map(|(path, bytes)| (path[root.len()..].replace('+', "%2B"), bytes.clone()))
            .chain(
                // Go asks for such files with either spelling.
                world.files("repository").into_iter().map(|(path, bytes)| (path[root.len()..].to_owned(), bytes)),
            )
            .collect(),
    )
}

fn range(random: &mut Rng) -> String {
    let mut version = || random.choice(VERSIONS).expect("a version").trim_start_matches('v');
    let (a, b) = (version(), version());
    let plain = a.split(['-', '+']).next().unwrap_or(a);
    match random.u8(0..9) {
        0 => "*".to_owned(),
        1 => format!("{}.x", plain.split('.').next().unwrap_or(plain)),
        2 => plain.rsplit_once('.').map_or(plain, |(minor, _)| minor).to_owned(),
        3 => format!(">={a}, <{b}"),
        4 => format!("{a} || {b}"),
        5 => format!("{a} - {b}"),
        6 => format!(">={plain}-0"),
        _ => format!("{}{a}", random.choice(OPERATORS).expect("an operator")),
    }
}

/// Returns the dependencies of a chart, as lines of YAML.
fn dependencies(random: &mut Rng, url: &str) -> String {
    let mut text = String::new();
    for name in random.choose_multiple(["alpha", "beta", "gamma-x", "local"], 2) {
        let (version, repository) = match name {
            "local" => (
                random.choice(["*", "^0.3", ">=0-0", "0.3.0"]).expect("a range").to_owned(),
                "file://../local".to_owned(),
            ),
            _ => (
                range(random),
                random
                    .choice([url.to_owned(), format!("{url}/"), "@here".to_owned(), "alias:here".to_owned()])
                    .expect("a URL"),
            ),
        };
        text.push_str(&format!("- name: {name}\n  version: {version:?}\n  repository: {repository:?}\n"));
        for (key, value) in
            [("alias", format!("al-{name}")), ("condition", "a.b".to_owned()), ("tags", "[\"t<1>\"]".to_owned())]
        {
            if random.u8(0..4) == 0 {
                text.push_str(&format!("  {key}: {value}\n"));
            }
        }
        if random.u8(0..5) == 0 {
            text.push_str("  import-values: [d, {parent: p, child: c}]\n");
        }
    }
    text
}

/// Returns the files of a chart that `deps` writes: locks without their time, and archives of folders unpacked.
fn state(world: &World, top: &str) -> BTreeMap<String, Vec<u8>> {
    let root = world.path(top).display().to_string();
    let unpacked = |path: &str| Command::new("gzip").args(["-dc", path]).output().expect("gzip").stdout;
    let content = |path: &str, bytes: Vec<u8>| match path {
        path if path.ends_with(".lock") => without_time(&String::from_utf8_lossy(&bytes)).into_bytes(),
        path if path.contains("/charts/local-") => unpacked(path),
        _ => bytes,
    };
    world.files(top).into_iter().map(|(path, bytes)| (path[root.len()..].to_owned(), content(&path, bytes))).collect()
}

#[test]
fn locks_archives_and_tables_are_those_of_helm() {
    let Some(helm) = helm() else { return };
    let cases = std::env::var("DROPFORGE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(30);
    let (world, mut random) = (World::new(), Rng::with_seed(7));
    let web = repository(&world, &helm, &mut random);
    world.write("local/Chart.yaml", "name: local\napiVersion: v2\nversion: 0.3.0\ndescription: |\n  two\n  lines\nkeywords: [b, a]\nannotations: {z: '1', a: 'yes'}\nappVersion: '1.10'\n");
    for (name, text) in [
        ("values.yaml", "# c\na: 1\n"),
        ("values.schema.json", "{}"),
        ("templates/x/_h.tpl", "x"),
        ("files.txt", "f"),
        ("files/a", "g"),
        (".helmignore", "*.bak\n"),
        ("a.bak", ""),
    ] {
        world.write(&format!("local/{name}"), text);
    }
    assert!(run_helm(&world, &helm, &["repo", "add", "here", &web.url()]).status.success());
    let mut updated = 0;
    for case in 0..cases {
        let text = dependencies(&mut random, &web.url());
        let is_old = random.u8(0..5) == 0;
        for top in ["theirs", "mine"] {
            fs::remove_dir_all(world.path(top)).ok();
            let head = format!("apiVersion: {}\nname: top\nversion: 0.1.0\n", if is_old { "v1" } else { "v2" });
            let list = format!("dependencies:\n{text}");
            world.write(&format!("{top}/Chart.yaml"), if is_old { head } else { format!("{head}{list}") });
            if is_old {
                world.write(&format!("{top}/requirements.yaml"), list);
            }
        }
        for step in ["list", "update", "list", "build", "list"] {
            if step == "build" && random.bool() {
                for top in ["theirs", "mine"] {
                    fs::remove_dir_all(world.path(top).join("charts")).expect("removed");
                }
            }
            let theirs = run_helm(&world, &helm, &["dependency", step, "theirs"]);
            let mine = world.run(&["deps", step, "mine"]);
            let told = format!("case {case}, {step}:\n{text}{theirs:?}\n{mine:?}");
            assert_eq!(theirs.status.success(), mine.status.success(), "{told}");
            if !theirs.status.success() {
                break;
            }
            assert!(step != "list" || theirs.stdout == mine.stdout, "{told}");
            let (theirs, mine) = (state(&world, "theirs"), state(&world, "mine"));
            let differ: Vec<&String> =
                theirs.keys().chain(mine.keys()).filter(|name| theirs.get(*name) != mine.get(*name)).collect();
            assert!(differ.is_empty(), "{differ:?} differ: {told}");
            updated += usize::from(step == "update");
        }
    }
    assert!(updated * 3 > cases, "{updated} of {cases} have versions");
}
