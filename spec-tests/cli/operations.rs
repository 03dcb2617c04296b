//! Operating the catalog: logs, audit, keys, backups, configuration, TLS.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::service::{KEY, Service};
use crate::support::{Outcome, Sandbox, outcome};

const TEMPLATE: &str = "name: {{ name }}\n";
const SCHEMA: &str = r#"{"properties": {"name": {"type": "string"}}}"#;

fn sandbox() -> Sandbox {
    Sandbox::with(&[("web.tera", TEMPLATE), ("web.schema.json", SCHEMA)])
}

const CREATE: [&str; 5] = ["create", "web", "web.tera", "--schema", "web.schema.json"];

fn parsed(outcome: Outcome) -> Json {
    serde_json::from_str(&outcome.expect(0).stdout).unwrap()
}

#[test]
fn logs_are_json_with_the_key_and_the_object() {
    let sandbox = sandbox();
    let service = Service::start(&sandbox, &["--log-format", "json", "--log-level", "info"]);
    let made =
        parsed(service.catalog(&sandbox, &["create", "web", "web.tera", "--schema", "web.schema.json", "--json"]));
    let line = service.json(|line| line["method"] == "POST");
    assert_eq!((&line["level"], &line["message"], &line["status"]), (&json!("info"), &json!("request"), &json!(201)));
    assert_eq!((&line["path"], &line["object"]), (&json!("/api/v1/templates"), &made["id"]));
    assert_eq!((&line["role"], &line["address"]), (&json!("admin"), &json!("127.0.0.1")));
    assert!(line["request_id"].is_string() && line["key_id"].is_string() && line["duration_us"].is_u64(), "{line}");
    let time = line["time"].as_str().unwrap();
    assert!(time.len() == 27 && time.ends_with('Z'), "{time}");
    let named = parsed(service.catalog(&sandbox, &["key", "create", "--role", "admin", "--name", "ci\n\"x", "--json"]));
    let asked = outcome({
        let mut command = sandbox.command(&["catalog", "show", "web"]);
        command.env("DROPFORGE_SERVER", &service.url).env("DROPFORGE_KEY", named["pak"].as_str().unwrap());
        command
    });
    asked.expect(0);
    let line = service.json(|line| line["method"] == "GET");
    assert_eq!((&line["key"], &line["key_id"]), (&json!("ci\n\"x"), &named["key"]["id"]));
    let rest = service.stop();
    assert!(!rest.contains(&KEY[16..]) && !rest.contains("?"), "{rest}");
}

#[test]
fn a_response_that_is_cut_off_is_logged_with_its_cause() {
    let sandbox = sandbox();
    // More than one part of a list.
    for n in 0..12 {
        sandbox.write(&format!("web{n:02}.tera"), &format!("# template {n}\n{}", "x".repeat(60_000)));
    }
    sandbox.run(&["catalog", "--db", "catalog.db", "import", "."]).expect(0);
    assert!(!sandbox.path("catalog.db-wal").exists(), "the file is not whole");
    let mut file = fs::read(sandbox.path("catalog.db")).unwrap();
    let last = b"# template 11";
    let at = file.windows(last.len()).position(|text| text == last).unwrap();
    // No UTF-8.
    file[at] = 0xff;
    fs::write(sandbox.path("catalog.db"), file).unwrap();
    for (format, expected) in [("json", "\"message\":\"response cut off\""), ("text", " response cut off ")] {
        let service = Service::start(&sandbox, &["--log-format", format]);
        let mut stream = TcpStream::connect(service.url.trim_start_matches("http://")).unwrap();
        let head = format!("Host: test\r\nAuthorization: {KEY}\r\nX-Request-Id: list-1\r\nConnection: close\r\n\r\n");
        stream.write_all(format!("GET /api/v1/templates HTTP/1.1\r\n{head}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        // The connection ends early, perhaps by a reset.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 200 OK") && !answer.ends_with(b"\r\n0\r\n\r\n"));
        let line = service.line(|line| line.contains("list-1"));
        assert!(line.contains(expected) && line.contains("error") && line.contains("utf-8"), "{line}");
        let Ok(line) = serde_json::from_str::<Json>(&line) else { continue };
        assert_eq!(
            (&line["level"], &line["request_id"], &line["status"]),
            (&json!("error"), &json!("list-1"), &json!(200))
        );
        assert!(line["cause"].as_str().unwrap().contains("template_content"), "{line}");
    }
}

#[test]
fn levels_choose_the_lines() {
    let sandbox = sandbox();
    let service = Service::start(&sandbox, &[]);
    service.catalog(&sandbox, &["list"]).expect(0);
    assert_eq!(service.stop(), "");
    let service = Service::start(&sandbox, &["-v"]);
    service.catalog(&sandbox, &["list"]).expect(0);
    let rest = service.stop();
    assert!(rest.contains(" info GET /api/v1/templates 200 ") && rest.contains(" from=127.0.0.1 key="), "{rest}");
    sandbox.run(&["serve", "--log-level", "loud"]).expect(2).says(&["invalid value 'loud'"]);
}

#[test]
fn changes_are_listed_with_their_authors() {
    for served in [false, true] {
        let sandbox = sandbox();
        let service = served.then(|| Service::start(&sandbox, &[]));
        let run = |args: &[&str]| match &service {
            Some(service) => service.catalog(&sandbox, args),
            None => sandbox.run(&[&["catalog", "--db", "catalog.db"], args].concat()),
        };
        run(&CREATE).expect(0);
        let id = parsed(run(&["show", "web", "--json"]))["id"].as_str().unwrap().to_owned();
        run(&["key", "create", "--role", "readonly", "--name", "dashboard", "--expires", "90d"]).expect(0);
        run(&["delete", "web@1"]).expect(0);
        let table = run(&["audit", "--limit", "3"]).expect(0).stdout;
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].starts_with("AT ") && lines.len() == 4, "{table}");
        let (by, from) = if served { ("admin ", "127.0.0.1") } else { ("admin local", "-") };
        for (line, parts) in [
            (lines[1], ["template.delete", "web@1"]),
            (lines[2], ["key.create", "dashboard"]),
            (lines[3], ["template.create", "web@1"]),
        ] {
            assert!(
                parts.iter().all(|part| line.contains(part)) && line.contains(by) && line.ends_with(from),
                "{table}"
            );
        }
        let of_one = parsed(run(&["audit", "--object", &id, "--json"]));
        assert_eq!(of_one.as_array().unwrap().len(), 2);
        let before = of_one[0]["id"].as_str().unwrap();
        let older = parsed(run(&["audit", "--object", &id, "--before", before, "--json"]));
        assert_eq!(older, json!([of_one[1]]));
        let keys = parsed(run(&["key", "list", "--json"]));
        let key = keys.as_array().unwrap().iter().find(|key| key["name"] == "dashboard").unwrap();
        assert!(key["expires_at"].is_string() && key["last_used_at"].is_null(), "{key}");
        run(&["key", "create", "--role", "agent", "--expires", "soon"]).expect(2).says(&["expected a duration"]);
        run(&["audit", "--limit", "0"]).expect(2);
    }
}

#[test]
fn a_catalog_is_copied_while_it_serves_and_comes_back() {
    let sandbox = sandbox();
    let local = |args: &[&str]| sandbox.run(&[&["catalog", "--db", "catalog.db"], args].concat());
    let service = Service::start(&sandbox, &[]);
    service.catalog(&sandbox, &CREATE).expect(0);
    // Writers go on during the copy.
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| {
            for n in 0..5 {
                service.catalog(&sandbox, &["generator", "create", &format!("g{n}")]).expect(0);
            }
        });
        local(&["backup", "one.backup"]).expect(0).says(&["copied `catalog.db` to `one.backup`: "]);
        writes.join().unwrap();
    });
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(sandbox.path("one.backup")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // An existing file stays, and nothing else is left behind.
    let before = fs::read(sandbox.path("one.backup")).unwrap();
    local(&["backup", "one.backup"]).expect(1).says(&["`one.backup` exists", "--force"]);
    assert_eq!(fs::read(sandbox.path("one.backup")).unwrap(), before);
    local(&["backup", "--force", "one.backup"]).expect(0);
    service.catalog(&sandbox, &["delete", "web@1"]).expect(0);
    // A catalog in use is never replaced.
    local(&["restore", "one.backup"]).expect(1).says(&["`catalog.db` exists", "--force"]);
    local(&["restore", "one.backup", "--force"]).expect(1).says(&["`catalog.db` is in use", "stop the service"]);
    local(&["show", "web"]).expect(1).says(&["template_not_found"]);
    service.stop();
    local(&["restore", "one.backup", "--force"]).expect(0).says(&["restored `catalog.db`"]);
    local(&["show", "web"]).expect(0);
    let generators = parsed(local(&["generator", "list", "--json"]));
    assert_eq!(generators.as_array().unwrap().len(), 5);
    // The restored catalog serves.
    let service = Service::start(&sandbox, &[]);
    service.catalog(&sandbox, &["show", "web"]).expect(0);
    service.stop();
    assert_eq!(temporary(&sandbox), Vec::<std::ffi::OsString>::new());
}

/// Returns the names of temporary files.
fn temporary(sandbox: &Sandbox) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name.to_string_lossy().contains(".tmp"));
    names
}

#[test]
fn one_file_is_never_source_and_target_and_no_file_in_use_is_replaced() {
    let sandbox = sandbox();
    let service = Service::start(&sandbox, &[]);
    service.catalog(&sandbox, &CREATE).expect(0);
    let mut other = sandbox.command(&["serve", "--init-key-file", "admin.key", "--listen", "127.0.0.1:0"]);
    other.args(["--db", "other.db"]);
    let other = Service::of(other);
    let path = |name: &str| sandbox.path(name);
    std::os::unix::fs::symlink("catalog.db", path("link")).unwrap();
    fs::hard_link(path("catalog.db"), path("second")).unwrap();
    fs::create_dir(path("sub")).unwrap();
    for (from, to, why) in [
        ("catalog.db", "catalog.db", "`catalog.db` is the file that is copied, `catalog.db`"),
        ("catalog.db", "./sub/../catalog.db", "is the file that is copied"),
        ("catalog.db", "link", "`link` is the file that is copied"),
        ("link", "catalog.db", "`catalog.db` is the file that is copied"),
        ("catalog.db", "second", "`second` is the file that is copied"),
        ("catalog.db", "catalog.db-wal", "`catalog.db-wal` belongs to the file that is copied"),
        ("catalog.db", "catalog.db-journal", "`catalog.db-journal` belongs to the file that is copied"),
        ("link", "catalog.db-shm", "`catalog.db-shm` belongs to the file that is copied"),
        ("catalog.db", "other.db", "`other.db` is in use: stop the service"),
        ("catalog.db", "sub", "cannot write `sub`: it is not a regular file"),
    ] {
        sandbox.run(&["catalog", "--db", from, "backup", "--force", to]).expect(1).says(&[why]);
        sandbox.run(&["catalog", "--db", to, "restore", "--force", from]).expect(1).says(&[why]);
    }
    // What was acknowledged is there after a restart.
    service.catalog(&sandbox, &["generator", "create", "late"]).expect(0);
    service.stop();
    other.stop();
    let generators = sandbox.run(&["catalog", "--db", "catalog.db", "generator", "list"]).expect(0).stdout;
    assert!(generators.contains("late"), "{generators}");
    // A link stays, and the file that it leads to is replaced.
    sandbox.run(&["catalog", "--db", "other.db", "backup", "other.backup"]).expect(0);
    sandbox.run(&["catalog", "--db", "link", "restore", "--force", "other.backup"]).expect(0);
    assert!(path("link").is_symlink());
    sandbox.run(&["catalog", "--db", "catalog.db", "show", "web"]).expect(1);
}

#[test]
fn a_backup_with_a_changed_bit_is_not_restored() {
    let sandbox = sandbox();
    let run = |args: &[&str]| sandbox.run(&[&["catalog", "--db", "catalog.db"], args].concat());
    run(&CREATE).expect(0);
    run(&["backup", "good"]).expect(0);
    let good = fs::read(sandbox.path("good")).unwrap();
    for at in (0..60).map(|nth| nth * good.len() / 60) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(sandbox.path("bad"), bad).unwrap();
        run(&["restore", "--force", "bad"]).expect(1).says(&["`bad` is damaged", "its digest does not fit"]);
    }
    // A sealed file is a catalog, and a catalog that was copied by other means has no digest.
    sandbox.run(&["catalog", "--db", "good", "show", "web"]).expect(0);
    fs::copy(sandbox.path("catalog.db"), sandbox.path("plain")).unwrap();
    run(&["restore", "--force", "plain"]).expect(0).says(&["`plain` has no digest"]);
    run(&["show", "web"]).expect(0);
}

#[test]
fn what_a_killed_backup_leaves_behind_goes_with_the_next_one() {
    let sandbox = sandbox();
    sandbox.run(&["catalog", "--db", "catalog.db", "list"]).expect(0);
    for name in [".old.dropforge-copy.tmp", ".old.dropforge-copy.tmp-journal", ".new.dropforge-copy.tmp"] {
        sandbox.write(name, "left");
    }
    sandbox.run(&["catalog", "--db", "catalog.db", "backup", "new"]).expect(0);
    assert_eq!(temporary(&sandbox), Vec::<std::ffi::OsString>::new());
}

#[test]
fn a_killed_service_leaves_a_catalog_that_is_copied_and_replaced() {
    let sandbox = sandbox();
    let local = |args: &[&str]| sandbox.run(&[&["catalog", "--db", "catalog.db"], args].concat());
    let service = Service::start(&sandbox, &[]);
    service.catalog(&sandbox, &CREATE).expect(0);
    drop(service);
    assert!(sandbox.path("catalog.db-wal").exists());
    local(&["backup", "copy"]).expect(0);
    fs::write(sandbox.path("catalog.db"), "damaged beyond repair, and still in the way").unwrap();
    local(&["restore", "copy", "--force"]).expect(0);
    // The log of the replaced file is gone with it.
    local(&["show", "web"]).expect(0);
    assert_eq!(sandbox.run(&["catalog", "--db", "other.db", "restore", "copy"]).expect(0).code, 0);
    sandbox.run(&["catalog", "--db", "other.db", "show", "web"]).expect(0);
}

#[test]
fn backups_that_are_none_are_refused() {
    let sandbox = sandbox();
    sandbox.run(&["catalog", "--db", "catalog.db", "list"]).expect(0);
    sandbox.run(&["catalog", "--db", "catalog.db", "backup", "good"]).expect(0);
    let good = fs::read(sandbox.path("good")).unwrap();
    let restore = |name: &str| sandbox.run(&["catalog", "--db", "new.db", "restore", name]).expect(1);
    sandbox.write("text", "no database");
    restore("text").says(&["E1002", "`text` is not a catalog: "]);
    restore("absent").says(&["cannot read `absent` as a catalog: it does not exist"]);
    sandbox.write("empty", "");
    restore("empty").says(&["`empty` is not a catalog"]);
    // Cut off, and with a page of zeros.
    fs::write(sandbox.path("cut"), &good[..good.len() / 2]).unwrap();
    restore("cut");
    let mut zeros = good.clone();
    zeros[8192..12288].fill(0);
    fs::write(sandbox.path("zeros"), zeros).unwrap();
    restore("zeros");
    assert!(!sandbox.path("new.db").exists());
    let local = |args: &[&str]| sandbox.run(&[&["catalog"], args].concat());
    local(&["--db", "postgres://me:s3cret@h/x", "backup", "f"]).expect(2).says(&["not on PostgreSQL", "pg_dump"]);
    local(&["--server", "http://h", "backup", "f"]).expect(2).says(&["not on a service", "--db FILE"]);
    local(&["--db", "absent.db", "backup", "f"])
        .expect(1)
        .says(&["cannot read `absent.db` as a catalog: it does not exist"]);
    local(&["--db", "good", "backup", "no/where"]).expect(1).says(&["cannot write beside `no/where`"]);
    assert!(!sandbox.path("absent.db").exists() && !Path::new(&sandbox.path("f")).exists());
}

#[test]
fn options_come_from_a_file_below_the_environment_and_the_command_line() {
    let sandbox = sandbox();
    sandbox.write(
        "etc/serve.toml",
        "# The service.\nlisten = \"127.0.0.1:0\"\ndb = \"data.db\"\nrate-limit = 5\nlog-format = \"json\"\nlog-level = \"info\"\n\
         behind-proxy = true\n",
    );
    let config = ["--config", "etc/serve.toml"];
    let service = Service::start(&sandbox, &config);
    service.catalog(&sandbox, &["list"]).expect(0);
    assert_eq!(service.json(|line| line["message"] == "request")["path"], "/api/v1/templates");
    service.stop();
    // The path is relative to the folder of the file.
    assert!(sandbox.path("etc/data.db").exists());

    sandbox.write("admin.key", KEY);
    let mut command =
        sandbox.command(&[&["serve", "--init-key-file", "admin.key", "--log-format", "text"], &config[..]].concat());
    command.env("DROPFORGE_DB", "fromenv.db").env("DROPFORGE_LOG_FORMAT", "json");
    let service = Service::of(command);
    service.catalog(&sandbox, &["list"]).expect(0);
    assert!(service.line(|line| line.contains("/templates")).contains(" info GET "));
    service.stop();
    assert!(sandbox.path("fromenv.db").exists());
}

#[test]
fn all_errors_of_a_configuration_are_reported_at_their_places() {
    let sandbox = sandbox();
    sandbox.write(
        "a.toml",
        "lisen = \"x\"\nrate-limit = 0\nlog-level = \"loud\"\nbehind-proxy = 1\ndb = [1]\n[tls]\ncert = 1\n",
    );
    sandbox.run(&["serve", "--config", "a.toml"]).expect(2).says(&[
        "unknown key `lisen`",
        "did you mean `listen`?",
        "a.toml:1:1",
        "invalid value for `rate-limit`: expected a number greater than 0, or `off`",
        "invalid value for `log-level`",
        "`behind-proxy` must be `true` or `false`, found integer",
        "`db` must be a string or an integer, found array",
        "unknown key `tls`",
    ]);
    sandbox.write("b.toml", "listen = \n");
    sandbox.run(&["serve", "--config", "b.toml"]).expect(2).says(&["b.toml:1"]);
    sandbox.run(&["serve", "--config", "absent.toml"]).expect(2).says(&["absent.toml"]);
    sandbox.write("c.toml", "color = \"always\"\nconfig = \"a.toml\"\n");
    sandbox.run(&["serve", "--config", "c.toml"]).expect(2).says(&["unknown key `color`", "unknown key `config`"]);
    sandbox.write("d.toml", "tls-cert = \"cert.pem\"\n");
    sandbox.run(&["serve", "--config", "d.toml"]).expect(2).says(&["--tls-key"]);
}

/// A sandbox with certificates.
fn with_certificates() -> Sandbox {
    let sandbox = sandbox();
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-tests/cli/tls"));
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), sandbox.path(entry.file_name().to_str().unwrap())).unwrap();
    }
    sandbox
}

#[test]
fn the_service_speaks_tls() {
    let sandbox = with_certificates();
    let files = ["--tls-cert", "first.pem", "--tls-key", "first.key"];
    let long = ["--head-timeout", "1h", "--drain", "1h", "--not-ready", "0s"];
    let service = Service::start(&sandbox, &[&files[..], &long].concat());
    assert!(service.url.starts_with("https://127.0.0.1:"), "{}", service.url);
    let trusting = |args: &[&str]| service.catalog(&sandbox, &[&["--ca-file", "authority.pem"], args].concat());
    trusting(&CREATE).expect(0);
    trusting(&["show", "web"]).expect(0);
    // A client that does not know the authority sends nothing.
    service.catalog(&sandbox, &["list"]).expect(1).says(&["E1002", "ertificate"]);
    let plain = service.url.replace("https", "http");
    sandbox.run(&["catalog", "--server", &plain, "--key-file", "admin.key", "list"]).expect(1).says(&["E1002"]);
    // A client that never finishes its handshake holds up nobody.
    let silent: Vec<_> =
        (0..8).map(|_| std::net::TcpStream::connect(service.url.trim_start_matches("https://")).unwrap()).collect();
    trusting(&["show", "web"]).expect(0);
    // It does not hold up the end either.
    service.stop();
    drop(silent);

    let serve = |certificate: &str, key: &str| {
        sandbox.run(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--db",
            "catalog.db",
            "--tls-cert",
            certificate,
            "--tls-key",
            key,
        ])
    };
    serve("first.pem", "second.key").expect(2).says(&["cannot use the key in `second.key`"]);
    serve("absent.pem", "first.key").expect(2).says(&["cannot use the certificate in `absent.pem`"]);
    serve("first.key", "first.key").expect(2).says(&["the file has no certificate"]);
    serve("first.pem", "first.pem").expect(2).says(&["cannot use the key in `first.pem`"]);
    sandbox
        .run(&["catalog", "--server", "https://h", "--key-file", "admin.key", "--ca-file", "web.tera", "list"])
        .expect(2)
        .says(&["no certificate"]);
}

#[test]
fn keys_that_would_travel_unencrypted_are_warned_about() {
    let sandbox = with_certificates();
    let started = |more: &[&str]| {
        let mut command = sandbox.command(&[&["serve", "--listen", "0.0.0.0:0", "--db", "catalog.db"], more].concat());
        command.env_remove("DROPFORGE_DB");
        Service::of(command).stop()
    };
    assert!(started(&[]).contains("warning: keys travel unencrypted to 0.0.0.0:"));
    assert_eq!(started(&["--behind-proxy"]), "");
    assert_eq!(started(&["--tls-cert", "first.pem", "--tls-key", "first.key"]), "");
}

/// A shell runs the commands of the page about operation.
#[test]
fn the_commands_of_the_page_work() {
    let page = include_str!("../../docs/operating.md");
    let blocks: Vec<_> = page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 3);
    let sandbox = Sandbox::new();
    let toml = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    sandbox.write("serve.toml", &toml.replace("127.0.0.1:3000", "127.0.0.1:0"));
    let service = Service::start(&sandbox, &["--config", "serve.toml"]);
    let done = outcome(sandbox.shell("-ec", &blocks.concat())).expect(0);
    assert!(done.stdout.contains("alice") && done.stdout.contains("key.create"), "{}", done.stdout);
    sandbox.run(&["catalog", "--db", "restored.db", "audit"]).expect(0);
    assert!(sandbox.read("alice.key").starts_with("brokkr_BR"));
    service.stop();
}
