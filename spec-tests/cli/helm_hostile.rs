//! Hostile charts in directories and archives. Each ends in an error that says why.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::Sandbox;

/// An entry of a tar file: its path, its type, the target of a link, its size as told, and its content.
struct Entry<'e> {
    path: &'e str,
    kind: u8,
    link: &'e str,
    size: u64,
    content: &'e [u8],
}

impl<'e> Entry<'e> {
    fn file(path: &'e str, content: &'e [u8]) -> Self {
        Self { path, kind: b'0', link: "", size: content.len() as u64, content }
    }

    fn link(path: &'e str, kind: u8, link: &'e str) -> Self {
        Self { path, kind, link, size: 0, content: b"" }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut block = [0_u8; 512];
        let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
        put(0, self.path.as_bytes());
        put(100, b"0000644\0");
        put(124, format!("{:011o}\0", self.size).as_bytes());
        put(148, b"        ");
        put(156, &[self.kind]);
        put(157, self.link.as_bytes());
        put(257, b"ustar\x0000");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let padding = vec![0; (512 - self.content.len() % 512) % 512];
        [&block[..], self.content, &padding].concat()
    }
}

/// Compresses bytes as `gzip` does.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("gzip");
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes).unwrap());
        child.wait_with_output().unwrap().stdout
    })
}

fn archive(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut bytes: Vec<u8> = entries.iter().flat_map(Entry::bytes).collect();
    bytes.resize(bytes.len() + 1024, 0);
    gzip(&bytes)
}

const CHART: &[u8] = b"apiVersion: v2\nname: c\nversion: 1.0.0\n";

#[track_caller]
fn refused(sandbox: &Sandbox, chart: &str, says: &[&str]) {
    let outcome = sandbox.run(&["render", chart]);
    assert!(matches!(outcome.code, 1 | 2) && outcome.stdout.is_empty(), "{outcome:?}");
    outcome.says(says);
}

#[track_caller]
fn refused_archive(bytes: &[u8], says: &[&str]) {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("c.tgz"), bytes).unwrap();
    refused(&sandbox, "c.tgz", says);
}

#[test]
fn aliases_of_aliases_are_refused_before_they_are_made() {
    // Each of ten charts has four aliases of the next: 1,398,101 charts.
    let names: Vec<String> = (0..=10).map(|level| format!("c{level}")).collect();
    let sandbox = Sandbox::new();
    let mut folder = "c".to_owned();
    for pair in names.windows(2) {
        let alias = |at: usize| format!("- {{name: {0}, version: 1.0.0, alias: {0}-{at}}}\n", pair[1]);
        let aliases: String = (0..4).map(alias).collect();
        let chart = format!("apiVersion: v2\nname: {}\nversion: 1.0.0\ndependencies:\n{aliases}", pair[0]);
        sandbox.write(&format!("{folder}/Chart.yaml"), &chart);
        folder = format!("{folder}/charts/{}", pair[1]);
    }
    sandbox.write(&format!("{folder}/Chart.yaml"), "apiVersion: v2\nname: c10\nversion: 1.0.0\n");
    let path = "c0/c1-0/c2-0/c3-0/c4-0/c5-0/c6-0/c7-0/c8-0/c9-0/c10-0";
    refused(&sandbox, "c", &["E0607", "the limit is 10,000 charts", path, "declare fewer dependencies"]);
    let checked = sandbox.run(&["check", "c"]);
    assert_eq!(checked.code, 1, "{checked:?}");
    checked.says(&["the limit is 10,000 charts"]);
}

#[test]
fn paths_of_archives_stay_in_the_chart() {
    let chart = || Entry::file("c/Chart.yaml", CHART);
    for path in ["c/../x", "/etc/x", "../c/x", "c/templates/../../x", "c//x", "c/./x", "c\\x", "c/a\\b"] {
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.path("c.tgz"), archive(&[chart(), Entry::file(path, b"x")])).unwrap();
        let outcome = sandbox.run(&["render", "c.tgz"]);
        assert_eq!(outcome.code, 1, "{path}: {outcome:?}");
    }
    for kind in *b"123456" {
        let bytes = archive(&[chart(), Entry::link("c/templates/x.yaml", kind, "/etc/passwd")]);
        let sandbox = Sandbox::new();
        std::fs::write(sandbox.path("c.tgz"), bytes).unwrap();
        let outcome = sandbox.run(&["render", "c.tgz"]);
        assert!(!outcome.stdout.contains("root:"), "{outcome:?}");
        assert!(outcome.code == 1 || kind == b'5', "{outcome:?}");
    }
}

#[test]
fn archives_that_unpack_to_much_end_in_a_limit() {
    let big = vec![b'a'; 6 << 20];
    refused_archive(
        &archive(&[Entry::file("c/Chart.yaml", CHART), Entry::file("c/x", &big)]),
        &["larger than 5,242,880 bytes"],
    );
    let part = vec![b'a'; 4 << 20];
    let names: Vec<String> = (0..30).map(|at| format!("c/x{at}")).collect();
    let files: Vec<_> = names.iter().map(|name| Entry::file(name, &part)).collect();
    refused_archive(&archive(&files), &["larger than 104,857,600 bytes together"]);
    let names: Vec<String> = (0..21_000).map(|at| format!("c/x{at}")).collect();
    let files: Vec<_> = names.iter().map(|name| Entry::file(name, b"")).collect();
    refused_archive(&archive(&files), &["more than 20,000 files"]);
    // A header may claim any size.
    let claims = Entry { size: 0o77_777_777_777, ..Entry::file("c/Chart.yaml", CHART) };
    refused_archive(&archive(&[claims]), &["error"]);
    // Headers without content.
    let directories: Vec<_> = (0..50_000).map(|_| Entry::link("c/d/", b'5', "")).collect();
    refused_archive(&archive(&directories), &["too many entries"]);
    let whole = archive(&[Entry::file("c/Chart.yaml", CHART), Entry::file("c/values.yaml", &vec![b'#'; 100_000])]);
    refused_archive(&whole[..whole.len() / 2], &["cannot unpack the chart archive"]);
    refused_archive(&gzip(&gzip(b"x")), &["error"]);
    refused_archive(b"not an archive", &["cannot unpack the chart archive"]);
    refused_archive(b"", &["error"]);
}

#[test]
fn packed_charts_in_packed_charts_end_in_a_limit() {
    let mut packed = archive(&[Entry::file("c/Chart.yaml", CHART)]);
    for _ in 0..100 {
        packed = archive(&[Entry::file("c/Chart.yaml", CHART), Entry::file("c/charts/c.tgz", &packed)]);
    }
    refused_archive(&packed, &["charts nest deeper than 32 levels"]);
}

#[test]
fn links_of_directories_stay_in_the_chart() {
    let sandbox = Sandbox::with(&[
        ("secret.yaml", "password: x\n"),
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/templates/a.yaml", "a: {{ .Files.Get \"x\" | quote }}\n"),
    ]);
    let link = |target: &str, at: &str| std::os::unix::fs::symlink(target, sandbox.path(at)).unwrap();
    let unlink = |at: &str| std::fs::remove_file(sandbox.path(at)).unwrap();
    for target in ["../secret.yaml", "/etc/passwd"] {
        link(target, "c/x");
        refused(&sandbox, "c", &["leads out of the chart"]);
        unlink("c/x");
    }
    link("nowhere", "c/x");
    refused(&sandbox, "c", &["cannot read"]);
    unlink("c/x");
    link(".", "c/circle");
    refused(&sandbox, "c", &["nest deeper than 64 levels"]);
    unlink("c/circle");
    link("/dev/zero", "c/x");
    refused(&sandbox, "c", &["leads out of the chart"]);
    unlink("c/x");
    link("Chart.yaml", "c/x");
    assert!(sandbox.run(&["render", "c"]).expect(0).stdout.contains("apiVersion: v2"));
    unlink("c/x");
    // A pipe would be read for ever.
    assert!(Command::new("mkfifo").arg(sandbox.path("c/x")).status().unwrap().success());
    refused(&sandbox, "c", &["it is a pipe, not a file"]);
}

#[test]
fn links_lead_out_of_a_chart_to_named_folders_only() {
    let sandbox = Sandbox::with(&[
        ("secret.yaml", "password: x\n"),
        ("common/deep/t.yaml", "kind: A\n"),
        ("common/values.yaml", "b: 1\n"),
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/templates/a.yaml", "b: {{ .Values.b }}\n"),
        ("project/dropforge.toml", "templates = [\"../c\"]\nfollow-links = [\"../common\"]\n"),
    ]);
    let link = |target: &str, at: &str| std::os::unix::fs::symlink(target, sandbox.path(at)).unwrap();
    link("../common/values.yaml", "c/values.yaml");
    link("../../common/deep", "c/templates/deep");
    let folder = sandbox.path("common").canonicalize().unwrap();
    let told = sandbox.run(&["render", "c"]).expect(1).stderr;
    assert!(told.contains("leads out of the chart") && told.contains("`--follow-links "), "{told}");
    assert!(told.contains(&folder.display().to_string()), "{told}");
    let text = sandbox.run(&["render", "c", "--follow-links", "common"]).expect(0).stdout;
    assert!(text.contains("# Source: c/templates/deep/t.yaml\nkind: A\n") && text.contains("b: 1\n"), "{text}");
    assert_eq!(sandbox.run(&["-C", "project", "render"]).expect(0).stdout, text);
    sandbox.run(&["check", "c", "--follow-links", "common"]).expect(0);
    let both = ["render", "c", "--follow-links", "common/deep", "--follow-links", "common/values.yaml"];
    assert_eq!(sandbox.run(&both).expect(0).stdout, text);
    sandbox.run(&["render", "c", "--follow-links", "common/deep"]).expect(1).says(&["`values.yaml` leads out"]);
    sandbox.run(&["render", "c", "--follow-links", "nowhere"]).expect(1).says(&["cannot read", "nowhere"]);
    // Links of links count by where they end.
    link("../../secret.yaml", "common/deep/secret.yaml");
    sandbox.run(&["render", "c", "--follow-links", "common"]).expect(1).says(&["leads out", "secret.yaml"]);
    std::fs::remove_file(sandbox.path("common/deep/secret.yaml")).unwrap();
    link("..", "common/deep/circle");
    sandbox.run(&["render", "c", "--follow-links", "common"]).expect(1).says(&["nest deeper than 64 levels"]);
}

#[test]
fn files_of_a_directory_are_bounded() {
    let sandbox = Sandbox::with(&[("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")]);
    std::fs::write(sandbox.path("c/values.yaml"), vec![b'#'; 6 << 20]).unwrap();
    refused(&sandbox, "c", &["`values.yaml` is larger than 5,242,880 bytes"]);
    sandbox.write("c/values.yaml", &format!("a: {}{}\n", "[".repeat(10_000), "]".repeat(10_000)));
    refused(&sandbox, "c", &["error"]);
    std::fs::write(sandbox.path("c/values.yaml"), b"a: \xff\n").unwrap();
    refused(&sandbox, "c", &["is not valid UTF-8 at byte"]);
    sandbox.write("c/values.yaml", "a: 1\n");
    std::fs::write(sandbox.path("c/.helmignore"), "[\n".repeat(10_000)).unwrap();
    let ends = sandbox.run(&["render", "c"]);
    assert!(matches!(ends.code, 0 | 1), "{ends:?}");
}
