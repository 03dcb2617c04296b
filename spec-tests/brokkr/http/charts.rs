//! Packed Helm charts as templates.

use std::fs;
use std::path::Path;
use std::process::Command;

use dropforge::dialect::helm::chart::{from_base64, to_base64};
use dropforge_catalog::checksum;
use serde_json::{Value as Json, json};

use super::client::Reply;
use super::server::{Running, text};

const SERVICE: &str = "kind: Service\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\n\
                       port: {{ .Values.port }}\ntoken: {{ .Values.token | quote }}\n";
const SCHEMA: &str = r#"{"required": ["port", "level"], "properties": {"port": {"type": "integer", "maximum": 9999}, "token": {"type": "string", "writeOnly": true}}}"#;

/// The files of a chart.
const CHART: &[(&str, &str)] = &[
    ("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
    ("web/values.yaml", "port: 80\nlevel: info\ntoken: none\n"),
    ("web/values.schema.json", SCHEMA),
    ("web/templates/service.yaml", SERVICE),
    ("web/templates/job.yaml", "kind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\n"),
];

/// Packs files with `tar`, which gets further options.
fn packed_by(files: &[(&str, &str)], options: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    packed_directory(directory.path(), options)
}

fn packed_directory(directory: &Path, options: &[&str]) -> String {
    let mut tar = Command::new("tar");
    tar.args(["czf", "packed.tgz"]).args(options).arg("web").current_dir(directory);
    assert!(tar.status().unwrap().success());
    to_base64(&fs::read(directory.join("packed.tgz")).unwrap())
}

fn packed(files: &[(&str, &str)]) -> String {
    packed_by(files, &[])
}

fn body(content: &str) -> Json {
    json!({ "name": "web", "template_content": content, "language": "helm", "encoding": "base64" })
}

fn create(server: &Running, body: &Json) -> Reply {
    server.send(&server.admin, "POST", "/api/v1/templates", body)
}

#[test]
fn a_chart_is_created_rendered_stamped_and_verified() {
    let server = Running::new();
    let team = server.team("ci");
    let content = packed(CHART);
    let made = create(&server, &body(&content)).has(201).json();
    assert_eq!([&made["language"], &made["encoding"]], ["helm", "base64"]);
    assert_eq!(made["checksum"], checksum(from_base64(&content, 1 << 20).unwrap()));
    assert_eq!([&made["parameters_schema"], &made["template_content"]], [SCHEMA, &content]);
    let id = text(&made["id"]);
    let object =
        server.instantiate(&team.pak, &team.stack, &id, json!({ "port": 81, "token": "hush" })).has(201).json();
    let service = |name: &str, port: u32, token: &str| {
        format!(
            "---\n# Source: web/templates/service.yaml\nkind: Service\nmetadata: {{name: {name}, namespace: default}}\n\
             port: {port}\ntoken: \"{token}\"\n---\n# Source: web/templates/job.yaml\nkind: Job\n\
             metadata: {{annotations: {{helm.sh/hook: pre-install}}}}\n\n"
        )
    };
    assert_eq!(object["yaml_content"], service("web", 81, "hush"));
    let path = format!("/api/v1/deployment-objects/{}", text(&object["id"]));
    let proven = server.call(&team.pak, "POST", &format!("{path}/verify")).has(200).json();
    assert_eq!((&proven["verified"], &proven["problems"]), (&json!(true), &json!([])));
    let told = server.call(&team.pak, "GET", &format!("{path}/provenance")).has(200).json();
    assert!(told["template_parameters"].as_str().unwrap().contains("***"), "{told}");
    let why = |line: usize| server.call(&team.pak, "GET", &format!("{path}/why?line={line}"));
    let port = why(5).has(200).json();
    assert_eq!(port["written"][0]["file"], "web/templates/service.yaml");
    let input = json!({ "path": ".Values.port", "value": "81", "direct": true,
        "origins": ["the parameters", "web/values.yaml:1:1"] });
    assert_eq!(port["inputs"], json!([input]));
    let token = why(6);
    token.has(200);
    assert!(!token.text().contains("hush") && token.text().contains(".Values.token"), "{}", token.text());
    // The name of a set is that of its release.
    let sets = json!({ "shared": { "port": 82 }, "sets": [
        { "name": "eu-1", "parameters": { "token": "a" } }, { "parameters": {} }, { "name": "EU", "parameters": {} },
        { "name": "us-1", "parameters": { "port": 70000 } },
    ] });
    let reply = server.send(&team.pak, "POST", &format!("/api/v1/templates/{id}/stamp"), &sets);
    let lines: Vec<Json> = reply.has(200).text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["yaml_content"], service("eu-1", 82, "a"));
    assert_eq!(lines[1]["yaml_content"], service("web", 82, "none"));
    assert_eq!((&lines[2]["status"], &lines[2]["errors"][0]["code"]), (&json!(400), &json!("invalid_name")));
    assert_eq!(lines[3]["errors"][0]["code"], "invalid_parameters");
}

#[test]
fn parameters_and_defaults_together_fit_the_schema_of_the_chart() {
    let server = Running::new();
    let team = server.team("ci");
    let id = text(&create(&server, &body(&packed(CHART))).has(201).json()["id"]);
    // `port` and `level` are required, and have defaults.
    server.instantiate(&team.pak, &team.stack, &id, json!({})).has(201);
    for (parameters, part) in
        [(json!({ "port": 70000 }), "maximum: got 70,000, want 9,999"), (json!({ "level": null }), "missing property")]
    {
        let error = server.instantiate(&team.pak, &team.stack, &id, parameters).is(400, "invalid_parameters").json();
        assert!(error["details"]["validation_errors"][0].as_str().unwrap().contains(part), "{error}");
    }
    // A schema that is given is for the parameters alone, and the chart's holds, too.
    let mut given = body(&packed(CHART));
    given["parameters_schema"] = json!(r#"{"required": ["token"]}"#);
    let id = text(&create(&server, &given).has(201).json()["id"]);
    server.instantiate(&team.pak, &team.stack, &id, json!({})).is(400, "invalid_parameters");
    server.instantiate(&team.pak, &team.stack, &id, json!({ "token": "x" })).has(201);
    server.instantiate(&team.pak, &team.stack, &id, json!({ "token": "x", "port": 0.5 })).is(400, "invalid_parameters");
}

#[test]
fn a_new_version_keeps_the_language_and_previews_its_changes() {
    let server = Running::new();
    let team = server.team("ci");
    let first = text(&create(&server, &body(&packed(CHART))).has(201).json()["id"]);
    server.instantiate(&team.pak, &team.stack, &first, json!({})).has(201);
    let mut files = CHART.to_vec();
    files[3].1 = "kind: Service\nport: {{ .Values.port }}\n";
    let update = |body: Json| server.send(&server.admin, "PUT", &format!("/api/v1/templates/{first}"), &body);
    let content = packed(&files);
    update(json!({ "template_content": content })).is(400, "invalid_template_content");
    let second = update(json!({ "template_content": content, "encoding": "base64" })).has(200).json();
    assert_eq!((&second["language"], &second["version"]), (&json!("helm"), &json!(2)));
    let path = format!("/api/v1/templates/{}/changes", text(&second["id"]));
    let changes = server.call(&server.admin, "POST", &path).has(200).json();
    assert!(changes["changes"][0]["diff"].as_str().unwrap().contains("-token: \"none\"\n"), "{changes}");
    let third = update(json!({ "language": "tera", "template_content": "a: 1", "parameters_schema": "{}" }));
    assert_eq!(third.has(200).json()["language"], Json::Null);
}

#[test]
fn charts_with_errors_are_refused_with_their_places() {
    let server = Running::new();
    let refused = |files: &[(&str, &str)], code: &str, part: &str| {
        let error = create(&server, &body(&packed(files))).is(400, code).json();
        assert!(error["message"].as_str().unwrap().contains(part), "no {part} in {error}");
    };
    let with = |at: usize, text: &'static str| {
        let mut files = CHART.to_vec();
        files[at].1 = text;
        files
    };
    refused(&with(3, "a\n{{ if }}"), "invalid_template_syntax", "web/templates/service.yaml: missing value");
    refused(&with(3, "{{ nofunction }}"), "invalid_template_syntax", "nofunction");
    refused(&with(0, "name: web\n"), "invalid_template_syntax", "version");
    refused(&with(1, "a: [\n"), "invalid_template_syntax", "values.yaml");
    refused(&with(2, "{"), "invalid_parameters_schema", "Invalid JSON");
    let fails = create(&server, &body(&packed(&with(3, "a: {{ fail \"no\" }}")))).has(201).json();
    let team = server.team("ci");
    let error = server.instantiate(&team.pak, &team.stack, &text(&fails["id"]), json!({}));
    let error = error.is(400, "template_render_failed").json();
    assert!(error["message"].as_str().unwrap().contains("web/templates/service.yaml: no"), "{error}");
    // The clock is not allowed.
    let clock = create(&server, &body(&packed(&with(3, "a: {{ now }}")))).has(201).json();
    let reply = server.instantiate(&team.pak, &team.stack, &text(&clock["id"]), json!({}));
    reply.is(400, "template_render_failed");
}

#[test]
fn language_encoding_name_and_schema_go_together() {
    let server = Running::new();
    let content = packed(CHART);
    let with = |change: Json| {
        let mut body = body(&content);
        change.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        create(&server, &body)
    };
    with(json!({ "encoding": null })).is(400, "invalid_template_content");
    with(json!({ "language": "tera" })).is(400, "invalid_template_content");
    with(json!({ "language": null, "encoding": null })).is(422, "invalid_body");
    let mut comment = json!({ "language": "tera", "encoding": null, "parameters_schema": "{}" });
    comment["template_content"] = json!("{# dialect: helm #}x");
    with(comment).is(400, "invalid_template_content");
    with(json!({ "language": "hcl" })).is(422, "invalid_body");
    with(json!({ "encoding": "hex" })).is(422, "invalid_body");
    with(json!({ "name": "Web_1" })).is(400, "invalid_name");
    with(json!({ "template_content": "no base64!" })).is(400, "invalid_template_content");
    with(json!({ "template_content": to_base64(b"no archive") })).is(400, "invalid_template_content");
    with(json!({ "template_content": content.get(..content.len() / 8 * 4).unwrap() }))
        .is(400, "invalid_template_content");
    let lines: String =
        content.as_bytes().chunks(76).map(|line| format!("{}\n", std::str::from_utf8(line).unwrap())).collect();
    with(json!({ "template_content": lines })).has(201);
    let check = |body: &Json| server.send(&server.admin, "POST", "/api/v1/templates/check", body);
    assert_eq!(check(&body(&content)).has(200).json(), json!({ "inputs": [], "findings": [] }));
    check(&body("AAAA")).is(400, "invalid_template_content");
}

#[test]
fn hostile_archives_are_refused() {
    let server = Running::new();
    let refused = |content: &str, part: &str| {
        let error = create(&server, &body(content)).is(400, "invalid_template_content").json();
        assert!(error["message"].as_str().unwrap().contains(part), "no {part} in {error}");
    };
    // Grows a thousand times: one file, and all together.
    let zeros = "0".repeat(6 << 20);
    refused(&packed(&[CHART, &[("web/files/a", &zeros)]].concat()), "larger than 5,242,880 bytes");
    let names: Vec<String> = (0..9).map(|n| format!("web/files/{n}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), &zeros[..4 << 20])).collect();
    refused(&packed(&[CHART, &files].concat()), "33,554,432 bytes together");
    // Values that take long to parse.
    let names: Vec<String> = (0..5).map(|n| format!("web/charts/c{n}/values.yaml")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), &zeros[..1 << 20])).collect();
    refused(&packed(&[CHART, &files].concat()), "larger than 4194304 bytes together");
    // Too many files, and links and paths out of the chart.
    let names: Vec<String> = (0..5_001).map(|n| format!("web/files/{n}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    refused(&packed(&[CHART, &files].concat()), "more than 5,000 files");
    refused(
        &packed_by(CHART, &["-P", "--transform", "s,web/values.yaml,web/../../values.yaml,"]),
        "leads out of the chart",
    );
    refused(
        &packed_by(CHART, &["-P", "--transform", "s,^web/values.yaml,/etc/values.yaml,"]),
        "leads out of the chart",
    );
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("web")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", directory.path().join("web/values.yaml")).unwrap();
    refused(&packed_directory(directory.path(), &[]), "neither a file nor a directory");
    server.request("GET", "/healthz").send().has(200);
}

#[test]
fn a_packed_chart_may_be_larger_than_other_bodies() {
    let server = Running::new();
    // Bytes that do not shrink.
    let mut state = 1_u64;
    let mut noise = |bytes: usize| -> Vec<u8> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..bytes).map(|_| next()).collect()
    };
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in CHART {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(directory.path().join("web/noise"), noise(5 << 18)).unwrap();
    let content = packed_directory(directory.path(), &[]);
    assert!(content.len() > 3 << 19);
    create(&server, &body(&content)).has(201);
    fs::write(directory.path().join("web/noise"), noise(4 << 20)).unwrap();
    let error = create(&server, &body(&packed_directory(directory.path(), &[])));
    let error = error.is(400, "invalid_template_content").json();
    assert!(error["message"].as_str().unwrap().contains("larger than 4,194,304 bytes"));
    create(&server, &body(&"A".repeat(7 << 20))).is(413, "payload_too_large");
    // Text has the usual limit.
    let text = json!({ "name": "t", "template_content": "x".repeat(2 << 20), "parameters_schema": "{}" });
    create(&server, &text).is(413, "payload_too_large");
}
