//! `deps`: charts of web servers and registries, for a chart's folder and for a project.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::servers::Server;
use crate::web::{Answer, Web};

/// A directory of charts, and the command in it.
pub struct World {
    dir: TempDir,
}

impl World {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a directory") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// Sets the places where tools keep their files.
    pub fn set(&self, command: &mut Command) {
        command.current_dir(self.dir.path()).env("HOME", self.path("home")).env("DROPFORGE_CACHE", self.path("cache"));
        command.env("HELM_CONFIG_HOME", self.path("helm")).env("HELM_CACHE_HOME", self.path("helm-cache"));
        command.env("HELM_DATA_HOME", self.path("helm-data")).env("DOCKER_CONFIG", self.path("docker"));
        command.env("TZ", "UTC").env("NO_COLOR", "1").env_remove("HELM_REPOSITORY_CONFIG");
    }

    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        self.set(&mut command);
        command.args(args).output().expect("the command runs")
    }

    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    #[track_caller]
    pub fn fails(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).expect("UTF-8")
    }

    /// Packs a chart whose template prints the version. Returns the archive.
    pub fn packed(&self, name: &str, version: &str) -> Vec<u8> {
        let at = format!("sources/{name}-{version}");
        self.write(&format!("{at}/Chart.yaml"), format!("apiVersion: v2\nname: {name}\nversion: {version}\n"));
        let text = format!(
            "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: {{{{ .Release.Name }}}}\ndata:\n  version: \"{version}\"\n"
        );
        self.write(&format!("{at}/templates/a.yaml"), text);
        let parent = format!(
            "{{apiVersion: v2, name: p, version: 1.0.0, dependencies: [{{name: {name}, version: '>=0-0', repository: 'file://../../{at}'}}]}}"
        );
        self.write("packing/p/Chart.yaml", parent);
        self.ok(&["deps", "update", "packing/p"]);
        let archive = fs::read(self.path(&format!("packing/p/charts/{name}-{version}.tgz"))).expect("an archive");
        fs::remove_dir_all(self.path("packing")).expect("removed");
        archive
    }

    /// Serves a repository with these charts.
    pub fn repository(&self, charts: &[(&str, &str)]) -> Web {
        let mut files = BTreeMap::new();
        let mut entries: BTreeMap<&str, String> = BTreeMap::new();
        for (name, version) in charts {
            let archive = self.packed(name, version);
            let entry = format!(
                "  - apiVersion: v2\n    name: {name}\n    version: {version}\n    digest: {}\n    urls:\n    - {name}-{version}.tgz\n",
                hex(&archive)
            );
            entries.entry(name).or_default().push_str(&entry);
            files.insert(format!("/{name}-{version}.tgz"), archive);
        }
        let entries: String = entries.iter().map(|(name, text)| format!("  {name}:\n{text}")).collect();
        files.insert("/index.yaml".to_owned(), format!("apiVersion: v1\nentries:\n{entries}").into_bytes());
        Web::files(files)
    }

    /// Writes a chart with one dependency.
    pub fn depends(&self, name: &str, version: &str, repository: &str) {
        let text = format!(
            "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n- name: {name}\n  version: {version:?}\n  repository: {repository:?}\n"
        );
        self.write("top/Chart.yaml", text);
    }

    /// Returns the files below a folder.
    pub fn files(&self, below: &str) -> BTreeMap<String, Vec<u8>> {
        let (mut found, mut open) = (BTreeMap::new(), vec![self.path(below)]);
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                match entry.path() {
                    path if path.is_dir() => open.push(path),
                    path => {
                        found.insert(path.display().to_string(), fs::read(&path).expect("a file"));
                    }
                }
            }
        }
        found
    }
}

pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_newest_version_is_fetched_locked_and_built_again() {
    let world = World::new();
    let web = world.repository(&[("web", "1.0.0"), ("web", "1.2.0"), ("web", "2.0.0-rc.1"), ("web", "2.0.0")]);
    world.depends("web", "^1", &web.url());
    let before = world.ok(&["deps", "list", "top"]);
    assert!(before.contains("\tmissing\n"), "{before}");
    assert!(world.fails(&["deps", "verify", "top"]).contains("E1112"));
    world.ok(&["deps", "update", "top"]);
    let lock = fs::read_to_string(world.path("top/Chart.lock")).expect("a lock");
    assert!(lock.contains("version: 1.2.0\ndigest: sha256:") && lock.contains("generated: \"20"), "{lock}");
    assert!(
        world.ok(&["deps", "list", "top"]).contains("\tok     \n")
            || world.ok(&["deps", "list", "top"]).contains("\tok")
    );
    world.ok(&["deps", "verify", "top"]);
    assert!(world.ok(&["render", "top"]).contains("version: \"1.2.0\""));
    let outdated = world.ok(&["deps", "outdated", "top"]);
    assert!(outdated.ends_with("web \t1.2.0  \t1.2.0  \t2.0.0 \n"), "{outdated:?}");
    // The same lock is not written again, and a lost archive is fetched again.
    let files = world.files("top");
    world.ok(&["deps", "update", "top"]);
    assert!(world.files("top") == files);
    fs::remove_dir_all(world.path("top/charts")).expect("removed");
    assert!(world.fails(&["deps", "verify", "top"]).contains("E1113"));
    world.write("top/charts/old-1.0.0.tgz", world.packed("old", "1.0.0"));
    world.ok(&["deps", "build", "top"]);
    let built = world.files("top");
    assert_eq!(built.len(), files.len());
    assert!(files.iter().all(|(name, bytes)| built.get(name) == Some(bytes)));
    // A lock of other dependencies is refused.
    world.depends("web", "^2", &web.url());
    for command in ["build", "verify", "outdated"] {
        let error = world.fails(&["deps", command, "top"]);
        assert!(error.contains("E1112") && error.contains("dropforge deps update top"), "{error}");
    }
    let error = {
        world.depends("web", "^7", &web.url());
        world.fails(&["deps", "update", "top"])
    };
    assert!(error.contains("E1111") && error.contains("1.0.0, 1.2.0, 2.0.0, 2.0.0-rc.1"), "{error}");
}

/// The ways in which a server may lie, and a part of the error.
#[test]
fn a_lying_server_changes_nothing_and_is_named() {
    let world = World::new();
    let (good, other) = (world.packed("web", "1.0.0"), world.packed("other", "1.0.0"));
    let index = |archive: &[u8], version: &str| {
        format!(
            "apiVersion: v1\nentries:\n  web:\n  - name: web\n    version: {version}\n    digest: {}\n    urls: [a.tgz]\n",
            hex(archive)
        )
    };
    let whole = |index: String, archive: Vec<u8>| {
        Web::files(BTreeMap::from([("/index.yaml".to_owned(), index.into_bytes()), ("/a.tgz".to_owned(), archive)]))
    };
    let web = whole(index(&good, "1.0.0"), good.clone());
    world.depends("web", ">=1", &web.url());
    world.ok(&["deps", "update", "top"]);
    let answers = |answer: Answer| Web::start(move |_| answer.clone());
    let servers: Vec<(&str, Web)> = vec![
        ("instead of `sha256:", whole(index(&good, "2.0.0"), other.clone())),
        ("not `web` 2.0.0", whole(index(&good, "2.0.0"), good.clone())),
        ("not `web` 1.0.0", whole(index(&other, "1.0.0"), other.clone())),
        ("cannot unpack", whole(index(b"x", "1.0.0"), b"x".to_vec())),
        ("not an index of charts", answers(Answer::ok(b"<html>sign in</html>".to_vec()))),
        ("no chart `web`", answers(Answer::ok(b"{\"entries\": {}}".to_vec()))),
        ("404", answers(Answer::status("404 Not Found", ""))),
        ("403", answers(Answer::status("403 Forbidden", "go away"))),
        ("410", answers(Answer::status("410 Gone", ""))),
        ("redirects", answers(Answer::status("302 Found", "").header("Location: /again"))),
        ("no URL", answers(Answer::status("302 Found", "").header("Location: ftp://x/y"))),
        ("not HTTP", answers(Answer::raw(b"hello\r\n\r\n".to_vec()))),
        ("longer than", answers(Answer::ok(Vec::new()).promising(1 << 40))),
    ];
    for (part, web) in servers {
        world.depends("web", ">=1", &web.url());
        fs::remove_dir_all(world.path("top/charts")).expect("removed");
        world.write("top/charts/web-0.9.0.tgz", world.packed("web", "0.9.0"));
        world.write("top/Chart.lock", "dependencies: []\ndigest: old\ngenerated: \"2020-01-01T00:00:00Z\"\n");
        let before = world.files("top");
        let error = world.fails(&["deps", "update", "top"]);
        assert!(error.contains(part) && error.contains(&web.url()), "{part}: {error}");
        assert!(world.files("top") == before, "{part}");
    }
}

#[test]
fn credentials_are_sent_to_their_host_only() {
    let world = World::new();
    let archive = world.packed("web", "1.0.0");
    let elsewhere = Web::files(BTreeMap::from([("/web-1.0.0.tgz".to_owned(), archive.clone())]));
    let target = format!("{}/web-1.0.0.tgz", elsewhere.url());
    for (urls, redirect) in [(target.clone(), false), ("web-1.0.0.tgz".to_owned(), true)] {
        let index =
            format!("apiVersion: v1\nentries:\n  web:\n  - name: web\n    version: 1.0.0\n    urls: ['{urls}']\n");
        let target = target.clone();
        let web = Web::start(move |request| match request.path() {
            _ if !request.head.contains("uthorization: Basic bWU6czNjcjN0") => {
                Answer::status("401 Unauthorized", "who?")
            }
            "/index.yaml" => Answer::ok(index.clone().into_bytes()),
            _ if redirect => Answer::status("302 Found", "").header(&format!("Location: {target}")),
            _ => Answer::status("404 Not Found", ""),
        });
        let config = |everywhere: bool| {
            format!(
                "repositories:\n- name: mine\n  url: {}\n  username: me\n  password: s3cr3t\n  pass_credentials_all: {everywhere}\n",
                web.url()
            )
        };
        world.depends("web", "1.0.0", &web.url());
        let error = world.fails(&["deps", "update", "top"]);
        assert!(error.contains("E1102") && error.contains("helm repo add"), "{error}");
        world.write("helm/repositories.yaml", config(false));
        world.depends("web", "1.0.0", "@mine");
        world.ok(&["deps", "update", "top"]);
        assert!(!elsewhere.heads().iter().any(|head| head.contains("uthorization")), "{:?}", elsewhere.heads());
        // Only the configuration can give the password to other hosts, and a redirect not even then.
        world.write("helm/repositories.yaml", config(true));
        world.ok(&["deps", "update", "top"]);
        let saw = elsewhere.heads().iter().any(|head| head.contains("uthorization"));
        assert_eq!(saw, !redirect, "{:?}", elsewhere.heads());
        fs::remove_file(world.path("helm/repositories.yaml")).expect("removed");
        elsewhere.forget();
    }
    world.depends("web", "1.0.0", "@mine");
    let error = world.fails(&["deps", "update", "top"]);
    assert!(error.contains("E1114") && error.contains("`@mine`"), "{error}");
}

#[test]
fn no_error_shows_the_password_of_a_url() {
    let world = World::new();
    for (index, part) in [
        ("null", "E1105"),
        ("entries: {}\n", "there is no chart `web`"),
        ("entries: [\n", "E1105"),
        ("entries:\n  web:\n  - {name: web, version: 2.0.0, urls: [web-2.0.0.tgz]}\n", "web"),
        ("entries:\n  web:\n  - {name: web, version: 1.0.0, urls: [gone.tgz]}\n", "gone.tgz"),
        ("entries:\n  web:\n  - {name: web, version: 1.0.0, urls: ['http://x:s3cr3t@127.0.0.1:1/w.tgz']}\n", "w.tgz"),
    ] {
        let web = Web::files(BTreeMap::from([("/index.yaml".to_owned(), index.as_bytes().to_vec())]));
        let url = web.url().replace("://", "://me:s3cr3t@");
        world.depends("web", "^1", &url);
        let error = world.fails(&["deps", "update", "top", "--timeout", "1s"]);
        assert!(error.contains(part) && !error.contains("s3cr3t"), "{index}: {error}");
    }
    world.write(
        "helm/repositories.yaml",
        "repositories:\n- name: m\n  url: http://me:s3cr3t@127.0.0.1:1\n  certFile: /x\n",
    );
    world.depends("web", "^1", "@m");
    let error = world.fails(&["deps", "update", "top", "--timeout", "1s"]);
    assert!(!error.contains("s3cr3t"), "{error}");
}

/// Writes a project with these releases and two clusters.
fn project(world: &World, repositories: &str, releases: &[(&str, &str)]) {
    let releases: String = releases
        .iter()
        .map(|(chart, version)| {
            let version = if version.is_empty() { String::new() } else { format!("version = {version:?}\n") };
            let name = chart.rsplit('/').next().unwrap_or(chart).split('-').next().unwrap_or(chart);
            format!("[[release]]\nname = \"{name}\"\nchart = {chart:?}\n{version}\n")
        })
        .collect();
    world.write(
        "dropforge.toml",
        format!("fleet = [\"fleet.yaml\"]\n\n[repositories]\n{repositories}\n[output]\ndir = \"out\"\n\n{releases}"),
    );
    world.write("fleet.yaml", "- name: a\n- name: b\n");
}

#[test]
fn a_project_renders_offline_what_its_lock_names() {
    let world = World::new();
    let (web, url) = {
        let web = world.repository(&[("web", "1.0.0"), ("web", "1.1.0"), ("web", "2.0.0"), ("db", "0.3.0")]);
        let url = web.url();
        (web, url)
    };
    let archive = format!("{url}/db-0.3.0.tgz");
    project(&world, &format!("shop = \"{url}\""), &[("shop/web", "~1.0"), (&archive, "")]);
    // What is missing is said, with the place and the command.
    let error = world.fails(&["stamp"]);
    assert!(
        error.contains("E1112") && error.contains("dropforge.toml:10:") && error.contains("`dropforge deps update`"),
        "{error}"
    );
    assert!(error.contains("`shop/web` `~1.0`") && error.contains(&archive), "{error}");
    world.ok(&["deps", "update"]);
    let lock = fs::read_to_string(world.path("dropforge.lock")).expect("a lock");
    let entry =
        "[[chart]]\nchart = \"shop/web\"\nrange = \"~1.0\"\nname = \"web\"\nversion = \"1.0.0\"\ndigest = \"sha256:";
    assert!(lock.contains(entry) && lock.contains(&format!("source = \"{url}/web-1.0.0.tgz\"")), "{lock}");
    assert!(world.ok(&["deps", "list"]).contains("\tok"));
    let table = world.ok(&["deps", "outdated"]);
    assert!(table.contains("web \t1.0.0  \t1.0.0  \t2.0.0 \n"), "{table:?}");
    // What cannot be chosen is said at the chart.
    for (from, to, parts) in [
        ("\"~1.0\"", "\"7\"", ["E1111", "1.0.0, 1.1.0, 2.0.0"]),
        ("\"~1.0\"", "\"x y\"", ["E1111", "invalid version `x y`"]),
        ("shop/web", "shop/wob", ["E1111", "no chart `wob`"]),
        ("shop/web", "store/web", ["E1114", "`[repositories]`"]),
        ("shop/web", "charts", ["E0921", "has no `version`"]),
    ] {
        let text = fs::read_to_string(world.path("dropforge.toml")).expect("a project");
        world.write("dropforge.toml", text.replacen(from, to, 1));
        let error = world.fails(&["deps", "update"]);
        assert!(parts.iter().all(|part| error.contains(part)) && error.contains(" dropforge.toml:1"), "{error}");
        world.write("dropforge.toml", text);
    }
    assert!(fs::read_to_string(world.path("dropforge.lock")).expect("a lock") == lock);
    // Another version is shown, and neither the lock nor the outputs change.
    world.ok(&["stamp"]);
    let (out, before) = (world.files("out"), world.files("dropforge.lock"));
    assert!(
        out.iter().any(|(name, text)| name.ends_with("a/web/a.yaml")
            && String::from_utf8_lossy(text).contains("version: \"1.0.0\"")),
        "{:?}",
        out.keys()
    );
    let diff = world.run(&["stamp", "--diff", "--with", "web=^2"]);
    let text = String::from_utf8_lossy(&diff.stdout).into_owned();
    assert!(diff.status.code() == Some(3) && text.contains("2.0.0") && text.contains("1.0.0"), "{text} {diff:?}");
    assert!(world.files("out") == out && world.files("dropforge.lock") == before);
    assert!(text.contains(&format!("{url}/web-2.0.0.tgz/templates/a.yaml")), "{text}");
    assert!(world.fails(&["stamp", "--with", "web=2.0.0"]).contains("add `--diff`"));
    assert!(world.fails(&["stamp", "--diff", "--with", "wob=2.0.0"]).contains("did you mean `web`?"));
    // Without the server everything renders.
    drop(web);
    world.ok(&["stamp", "--check"]);
    world.ok(&["check"]);
    world.ok(&["deps", "verify"]);
    // Without the cache nothing does.
    let cache = world.files("cache/charts");
    fs::remove_dir_all(world.path("cache/charts")).expect("removed");
    for args in [&["stamp"][..], &["deps", "verify"]] {
        let error = world.fails(args);
        assert!(error.contains("E1113") && error.contains("`dropforge deps build`"), "{error}");
    }
    // A changed chart is not rendered.
    cache.keys().for_each(|name| world.write(name, "changed"));
    let error = world.fails(&["stamp"]);
    assert!(error.contains("E1110") && error.contains("was changed"), "{error}");
}

#[test]
fn a_project_is_built_from_its_lock_whatever_is_newer() {
    let world = World::new();
    let old = world.repository(&[("web", "1.0.0")]);
    project(&world, "", &[(&format!("{}/web-1.0.0.tgz", old.url()), "^1")]);
    world.ok(&["deps", "update"]);
    let lock = fs::read(world.path("dropforge.lock")).expect("a lock");
    fs::remove_dir_all(world.path("cache")).expect("removed");
    world.ok(&["deps", "build"]);
    world.ok(&["deps", "build"]);
    world.ok(&["stamp"]);
    assert!(fs::read(world.path("dropforge.lock")).expect("a lock") == lock);
    // The server has other bytes for the same name now.
    fs::remove_dir_all(world.path("cache")).expect("removed");
    let changed = fs::read_to_string(world.path("dropforge.lock")).expect("a lock").replace("sha256:", "sha256:0000");
    let cut: String = changed
        .lines()
        .map(|line| match line.strip_prefix("digest = \"") {
            Some(rest) => format!("digest = \"{}\"\n", rest.get(..71).expect("a digest")),
            None => format!("{line}\n"),
        })
        .collect();
    world.write("dropforge.lock", &cut);
    let error = world.fails(&["deps", "build"]);
    assert!(error.contains("E1110") && error.contains("/web-1.0.0.tgz"), "{error}");
    assert!(world.files("cache").is_empty());
}

#[test]
fn charts_of_registries_are_fetched_by_range() {
    let Some(helm) = helm() else { return };
    let (world, server) = (World::new(), Server::registry(true));
    for version in ["1.0.0", "1.1.0+b.1", "2.0.0-rc.1"] {
        world.write("web.tgz", world.packed("web", version));
        let mut push = Command::new(&helm);
        world.set(&mut push);
        let at = format!("oci://{}/acme", server.address);
        let login = format!("{} registry login {} -u me -p secret --plain-http", helm.display(), server.address);
        let mut shell = Command::new("sh");
        world.set(&mut shell);
        assert!(shell.args(["-c", &login]).output().expect("helm").status.success());
        let pushed = push.args(["push", "web.tgz", &at, "--plain-http"]).output().expect("helm");
        assert!(pushed.status.success(), "{pushed:?}");
    }
    let repository = format!("oci://{}/acme", server.address);
    let mut archives = Vec::new();
    for (range, found) in [("^1", "1.1.0+b.1"), (">=2-0", "2.0.0-rc.1"), ("1.0.0", "1.0.0")] {
        world.depends("web", range, &repository);
        fs::remove_dir_all(world.path("top/charts")).ok();
        fs::remove_file(world.path("top/Chart.lock")).ok();
        world.ok(&["deps", "update", "top"]);
        let mine = (fs::read_to_string(world.path("top/Chart.lock")).expect("a lock"), world.files("top/charts"));
        assert!(mine.0.contains(&format!("version: {found}\n")), "{}", mine.0);
        fs::remove_dir_all(world.path("top/charts")).expect("removed");
        fs::remove_file(world.path("top/Chart.lock")).expect("removed");
        let mut update = Command::new(&helm);
        world.set(&mut update);
        let updated = update.args(["dependency", "update", "top", "--plain-http"]).output().expect("helm");
        assert!(updated.status.success(), "{updated:?}");
        let theirs = (fs::read_to_string(world.path("top/Chart.lock")).expect("a lock"), world.files("top/charts"));
        assert_eq!(without_time(&mine.0), without_time(&theirs.0));
        assert!(mine.1 == theirs.1, "{range}");
        archives.push(mine.1);
    }
    let chart = format!("{repository}/web");
    project(&world, "", &[(&chart, "^1")]);
    world.ok(&["deps", "update"]);
    world.ok(&["stamp"]);
    assert!(world.ok(&["deps", "outdated"]).is_empty());
    fs::remove_dir_all(world.path("cache")).expect("removed");
    world.ok(&["deps", "build"]);
    // Without a login there is an error with the command for one.
    fs::remove_dir_all(world.path("helm")).expect("removed");
    let error = world.fails(&["deps", "update"]);
    assert!(error.contains("E1102") && error.contains("login"), "{error}");
}

/// Returns the installed command of Helm. Without it, a test ends early, unless it runs in CI.
pub fn helm() -> Option<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let path = target.join("kubectl/helm");
    if path.is_file() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none(), "no Helm: run `spec-tests/kubectl/install`");
    eprintln!("no Helm: run `spec-tests/kubectl/install`");
    None
}

/// Returns a lock without the time of its making.
pub fn without_time(lock: &str) -> String {
    lock.lines().filter(|line| !line.starts_with("generated: ")).map(|line| format!("{line}\n")).collect()
}

/// The commands of `sh` blocks of the page, in a project with a repository and a registry in place of those that it names.
#[test]
fn the_commands_of_the_page_run() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/dependencies.md")).expect("the page");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("\n```{language}\n")).expect("a block");
        rest.split_once("\n```").expect("an end").0
    };
    let world = World::new();
    let web =
        world.repository(&[("web", "1.0.0"), ("web", "1.4.0"), ("web", "2.0.0"), ("api", "2.3.4"), ("db", "0.3.0")]);
    let text =
        block("toml").replace("https://charts.example.com", &web.url()).replace("https://example.com", &web.url());
    // A registry of a test needs Helm.
    let text = text.replace("oci://ghcr.io/acme/charts/api", "shop/api");
    world.write("dropforge.toml", format!("fleet = [\"fleet.yaml\"]\n{text}\n[output]\ndir = \"out\"\n"));
    world.write("fleet.yaml", "- name: a\n- name: b\n");
    for line in block("sh").lines() {
        let args: Vec<&str> = line.split_whitespace().skip(1).collect();
        let output = world.run(&args);
        let expected = if args.first() == Some(&"diff") { 3 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{line}: {output:?}");
    }
    assert!(world.path("dropforge.lock").is_file() && world.path("out/a/db/a.yaml").is_file());
}

#[test]
fn a_token_of_helms_own_list_is_not_in_the_lock() {
    let world = World::new();
    let archive = world.packed("web", "1.0.0");
    let index = format!(
        "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.0.0, digest: {}, urls: [web-1.0.0.tgz]}}\n",
        hex(&archive)
    );
    let web = Web::start(move |request| match request.path() {
        _ if !request.head.lines().next().is_some_and(|line| line.contains("?token=s3cr3t ")) => {
            Answer::status("403 Forbidden", "no token")
        }
        "/index.yaml" => Answer::ok(index.clone().into_bytes()),
        "/web-1.0.0.tgz" => Answer::ok(archive.clone()),
        _ => Answer::status("404 Not Found", ""),
    });
    world.write("helm/repositories.yaml", format!("repositories:\n- name: mine\n  url: {}?token=s3cr3t\n", web.url()));
    project(&world, "", &[("mine/web", "^1")]);
    world.ok(&["deps", "update"]);
    let lock = fs::read_to_string(world.path("dropforge.lock")).expect("a lock");
    assert!(lock.contains(&format!("source = \"{}/web-1.0.0.tgz\"", web.url())) && !lock.contains("s3cr3t"), "{lock}");
    // Another machine has the lock, and its own list with the token.
    fs::remove_dir_all(world.path("cache")).expect("removed");
    world.ok(&["deps", "build"]);
    world.ok(&["stamp"]);
    assert!(!world.files("out").values().any(|text| String::from_utf8_lossy(text).contains("s3cr3t")));
}
