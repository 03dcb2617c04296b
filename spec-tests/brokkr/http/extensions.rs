//! Routes that Brokkr's API does not have: provenance, verification, stamping, reviews, keys, probes, the page.

use serde_json::{Value as Json, json};

use super::server::{NOBODY, Running, Team, text};

const SCHEMA: &str = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},
    "token":{"type":"string","writeOnly":true}}}"#;

fn list(server: &Running, path: &str) -> Json {
    server.call(&server.admin, "GET", path).has(200).json()
}

#[test]
fn provenance_of_an_object_is_shown_and_verified() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template_of(&server.admin, "web", "n: {{ n }}\nt: {{ token }}", SCHEMA);
    let parameters = json!({ "n": 1, "token": "hush" });
    let object = server.instantiate(&team.pak, &team.stack, &template, parameters).has(201).json();
    let path = format!("/api/v1/deployment-objects/{}", text(&object["id"]));
    let told = server.call(&team.pak, "GET", &format!("{path}/provenance")).has(200).json();
    assert_eq!((&told["template_id"], &told["template_version"]), (&json!(template), &json!(1)));
    assert_eq!(told["output_checksum"], object["yaml_checksum"]);
    let parameters: Json = serde_json::from_str(told["template_parameters"].as_str().unwrap()).unwrap();
    assert_eq!(parameters, json!({ "n": 1, "token": "***" }));
    let verify = format!("{path}/verify");
    let proven = server.call(&team.pak, "POST", &verify).has(200).json();
    assert_eq!((&proven["verified"], &proven["found_checksum"]), (&json!(true), &object["yaml_checksum"]));
    // Provenance outlives its template.
    server.call(&server.admin, "DELETE", &format!("/api/v1/templates/{template}")).has(204);
    assert_eq!(server.call(&team.pak, "POST", &verify).has(200).json()["verified"], true);
    let plain =
        server.made(&format!("/api/v1/stacks/{}/deployment-objects", team.stack), &json!({ "yaml_content": "a: 1" }));
    let plain = format!("/api/v1/deployment-objects/{}", text(&plain["id"]));
    server.call(&team.pak, "GET", &format!("{plain}/provenance")).is(404, "provenance_not_found");
    server.call(&team.pak, "POST", &format!("{plain}/verify")).is(404, "provenance_not_found");
    let nobody = format!("/api/v1/deployment-objects/{NOBODY}/provenance");
    server.call(&team.pak, "GET", &nobody).is(404, "deployment_object_not_found");
}

#[test]
fn secrets_in_objects_are_shown_only_when_they_are_asked_for() {
    let server = Running::new();
    let team = server.team("ci");
    let schema = r#"{"properties":{"token":{"writeOnly":true},"pin":{"x-secret":true},"pass":{"format":"password"}}}"#;
    let secrets = ["hush-4711-abc", "pin-90125-xyz", "pass-w0rd-qrs"];
    let parameters = json!({ "token": secrets[0], "pin": secrets[1], "pass": secrets[2] });
    let content = "t: {{ token }}\np: {{ pin | upper }}\nq: \"{{ pass }}\"\n";
    let first = server.template_of(&server.admin, "web", content, schema);
    let object = server.instantiate(&team.pak, &team.stack, &first, parameters).has(201).json();
    let whole = "t: hush-4711-abc\np: PIN-90125-XYZ\nq: \"pass-w0rd-qrs\"\n";
    assert_eq!(object["yaml_content"], whole);
    let second = server.template_of(&server.admin, "web", &format!("{content}n: {{{{ token }}}}!\n"), schema);
    let (path, list) = (
        format!("/api/v1/deployment-objects/{}", text(&object["id"])),
        format!("/api/v1/stacks/{}/deployment-objects", team.stack),
    );
    let has_none = |method: &str, path: &str| {
        let reply = server.call(&server.admin, method, path);
        let text = reply.has(200).text().to_lowercase();
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{path}: {text}");
        reply.json()
    };
    let shown = has_none("GET", &path);
    assert_eq!(shown["yaml_content"], "t: ***\np: ***\nq: \"***\"\n");
    assert_eq!(shown["yaml_checksum"], object["yaml_checksum"]);
    assert_eq!(has_none("GET", &list)[0], shown);
    for door in ["provenance", "why?line=1", "why?line=2", "why?line=3"] {
        has_none("GET", &format!("{path}/{door}"));
    }
    has_none("POST", &format!("{path}/verify"));
    let changes = has_none("POST", &format!("/api/v1/templates/{second}/changes"));
    assert!(changes["changes"][0]["diff"].as_str().unwrap().contains("+n: …!"), "{changes}");
    for path in [&path, &list] {
        let reply = server.call(&team.pak, "GET", &format!("{path}?secrets=shown"));
        let found = reply.has(200).json();
        assert_eq!(found.get(0).unwrap_or(&found)["yaml_content"], whole);
    }
    server.call(&team.pak, "GET", &format!("{path}?secrets=all")).has(400);
}

#[test]
fn a_line_of_an_object_leads_to_its_template_and_its_parameters() {
    let server = Running::new();
    let team = server.team("ci");
    let schema = r#"{"properties":{"n":{"type":"integer"},"tier":{"default":"dev"},"keys":{"writeOnly":true},
        "ports":{"type":"array"}}}"#;
    let content = "n: {{ n }}\ntier: {{ tier }}\n{% for port in ports %}{% if port > 80 %}p: {{ port }}\n\
                   {% endif %}{% endfor %}{% for key in keys %}{{ key }}: 1\n{% endfor %}";
    let template = server.template_of(&server.admin, "web", content, schema);
    let parameters = json!({ "n": 7, "ports": [80, 443], "keys": ["hush", "hush-too"] });
    let body = json!({ "template_id": template, "parameters": parameters });
    let path = format!("/api/v1/stacks/{}/deployment-objects/from-template?defaults=true", team.stack);
    let object = server.send(&team.pak, "POST", &path, &body).has(201).json();
    assert_eq!(object["yaml_content"], "n: 7\ntier: dev\np: 443\nhush: 1\nhush-too: 1\n");
    let path = format!("/api/v1/deployment-objects/{}/why", text(&object["id"]));
    let why = |query: &str| server.call(&team.pak, "GET", &format!("{path}?{query}"));
    let told = why("line=1").has(200).json();
    let place = json!([{ "file": "web@1", "line": 1, "column": 7, "code": "n" }]);
    assert_eq!((&told["text"], &told["column"], &told["written"]), (&json!("n: 7"), &json!(4), &place));
    assert_eq!((&told["template"], &told["file"]), (&json!("web@1"), &object["id"]));
    let input = json!({ "path": "n", "value": "7", "direct": true, "origins": ["the parameters"] });
    assert_eq!(told["inputs"], json!([input]));
    let told = why("line=2").has(200).json();
    assert_eq!(told["inputs"][0]["origins"], json!(["a default of the schema"]));
    // Text of the template has no inputs.
    let told = why("line=2&column=1").has(200).json();
    assert_eq!((&told["written"][0]["line"], &told["inputs"]), (&json!(2), &json!([])));
    let told = why("line=3").has(200).json();
    assert_eq!((&told["within"][0]["kind"], &told["within"][0]["item"]), (&json!("loop"), &json!("[1]")));
    assert_eq!(told["within"][1]["at"]["code"], "port > 80");
    let secret = why("line=4&column=1");
    secret.has(200);
    assert!(!secret.text().contains("hush"), "{}", secret.text());
    assert_eq!((&secret.json()["text"], &secret.json()["inputs"][0]["secret"]), (&json!("…: 1"), &json!(true)));
    // Other parts of the line are not a way to a secret.
    let beside = why("line=4&column=6");
    assert!(!beside.has(200).text().contains("hush"), "{}", beside.text());
    for (query, code) in
        [("line=6", "line_not_found"), ("line=1&column=9", "line_not_found"), ("line=0", "line_not_found")]
    {
        why(query).is(400, code);
    }
    why("line=x").has(400);
    why("").has(400);
    let plain =
        server.made(&format!("/api/v1/stacks/{}/deployment-objects", team.stack), &json!({ "yaml_content": "a: 1" }));
    let plain = format!("/api/v1/deployment-objects/{}/why?line=1", text(&plain["id"]));
    server.call(&team.pak, "GET", &plain).is(404, "provenance_not_found");
}

/// Renders a template with a secret `token`, and returns the path of questions about lines of the object.
fn path_of_whys(server: &Running, team: &Team, content: &str, parameters: &Json) -> String {
    let schema = r#"{ "properties": { "token": { "writeOnly": true } } }"#;
    let template = server.template_of(&server.admin, "secret", content, schema);
    let object = server.instantiate(&team.pak, &team.stack, &template, parameters.clone()).has(201).json();
    format!("/api/v1/deployment-objects/{}/why?line=", text(&object["id"]))
}

#[test]
fn the_recording_of_a_long_render_is_bounded() {
    let server = Running::new();
    let team = server.team("ci");
    let long = "{% for i in range(end=n) %}{% if i == n - 1 %}-{% endif %}{% endfor %}";
    let parameters = json!({ "n": 40_000, "token": "hush" });
    let content = format!("first: {{{{ n }}}} {long} {{{{ token }}}}\nlast: {{{{ n }}}}");
    let path = path_of_whys(&server, &team, &content, &parameters);
    let told = server.call(&team.pak, "GET", &format!("{path}1")).has(200).json();
    // Nothing is known of what follows the recording: it may be secret.
    assert_eq!((&told["inputs"][0]["path"], &told["text"]), (&json!("n"), &json!("first: 40000 …")));
    server.call(&team.pak, "GET", &format!("{path}2")).is(400, "render_too_long");
    // A recording that ends within a captured text knows nothing of what stands in its place.
    let content = format!("a: {{% filter trim %}}         {long}{{% endfilter %}}{{{{ token }}}}");
    let path = path_of_whys(&server, &team, &content, &parameters);
    let told = server.call(&team.pak, "GET", &format!("{path}1&column=1"));
    assert_eq!(told.has(200).json()["text"], "a: …");
}

#[test]
fn a_secret_among_many_parameters_is_not_shown() {
    let server = Running::new();
    let team = server.team("ci");
    let content = "x: {% filter upper %}{% for key in keys %}{{ key }}{% endfor %}{{ token }}{% endfilter %}";
    let keys: Vec<String> = (0..200).map(|n| format!("k{n}")).collect();
    let path = path_of_whys(&server, &team, content, &json!({ "keys": keys, "token": "hush" }));
    let told = server.call(&team.pak, "GET", &format!("{path}1")).has(200).json();
    assert_eq!(told["text"], "x: …");
    let inputs = told["inputs"].as_array().unwrap();
    assert_eq!((inputs.len(), &inputs[64]["path"], &inputs[64]["secret"]), (65, &json!(""), &json!(true)));
}

#[test]
fn versions_are_listed_and_the_newest_is_found_by_name() {
    let server = Running::new();
    let first = server.template(&server.admin, "web");
    let second = server.template(&server.admin, "web");
    let versions = list(&server, &format!("/api/v1/templates/{first}/versions"));
    let numbers: Vec<_> = versions.as_array().unwrap().iter().map(|row| row["version"].clone()).collect();
    assert_eq!(numbers, [2, 1]);
    let newest = |query: &str| server.call(&server.admin, "GET", &format!("/api/v1/templates/newest?{query}"));
    assert_eq!(newest("name=web").has(200).json()["id"], json!(second));
    assert_eq!(newest("name=web&owner=system").has(200).json()["id"], json!(second));
    newest("name=none").is(404, "template_not_found");
    newest(&format!("name=web&owner={NOBODY}")).is(404, "template_not_found");
    server.call(&server.admin, "GET", &format!("/api/v1/templates/{NOBODY}/versions")).is(404, "template_not_found");
}

#[test]
fn a_template_is_stamped_for_many_sets() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template_of(&server.admin, "web", "n: {{ n }}", SCHEMA);
    server.send(&server.admin, "POST", &format!("/api/v1/templates/{template}/labels"), &json!("env=prod")).has(201);
    let mut sets: Vec<Json> = (0..200).map(|n| json!({ "name": format!("s{n}"), "parameters": { "n": n } })).collect();
    sets[7] = json!({ "name": "wrong", "parameters": { "n": "x" } });
    sets[8] = json!({ "name": "elsewhere", "stack_id": team.stack, "parameters": { "n": "x" } });
    sets[9] = json!({ "stack_id": NOBODY, "parameters": { "n": 1 } });
    let path = format!("/api/v1/templates/{template}/stamp");
    let reply = server.send(&team.pak, "POST", &path, &json!({ "sets": sets }));
    assert_eq!(reply.has(200).header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<Json> = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 200);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line["index"], json!(index));
        if ![7, 8, 9].contains(&index) {
            assert_eq!((&line["status"], &line["yaml_content"]), (&json!(200), &json!(format!("n: {index}"))));
            assert_eq!(line["name"], json!(format!("s{index}")));
        }
    }
    assert_eq!((&lines[7]["status"], &lines[7]["errors"][0]["code"]), (&json!(400), &json!("invalid_parameters")));
    let codes: Vec<_> = lines[8]["errors"].as_array().unwrap().iter().map(|error| text(&error["code"])).collect();
    assert_eq!(codes[..2], ["invalid_parameters", "template_stack_mismatch"]);
    assert_eq!(lines[9]["errors"][0]["code"], "stack_not_found");
    let objects = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    assert_eq!(list(&server, &objects), json!([]));
    assert_eq!(server.send(&team.pak, "POST", &path, &json!({ "sets": [] })).has(200).text(), "");
    server.send(&team.pak, "POST", &path, &json!({ "sets": [{}] })).is(422, "invalid_body");
    let nobody = format!("/api/v1/templates/{NOBODY}/stamp");
    server.send(&team.pak, "POST", &nobody, &json!({ "sets": [] })).is(404, "template_not_found");
}

#[test]
fn stamped_sets_are_merged_over_shared_parameters() {
    let server = Running::new();
    let template = server.template_of(&server.admin, "web", "n: {{ o.n }}{{ o.m | default(value='-') }}", "{}");
    let path = format!("/api/v1/templates/{template}/stamp");
    let stamped = |merge: Json| {
        let set = |parameters| json!({ "parameters": parameters });
        let sets = [set(json!({})), set(json!({ "o": { "n": 3 } })), set(json!({ "o": { "m": null } }))];
        let shared = json!({ "o": { "n": 1, "m": 2 } });
        let mut body = json!({ "sets": sets, "shared": shared });
        if !merge.is_null() {
            body["merge"] = merge;
        }
        server.send(&server.admin, "POST", &path, &body)
    };
    let contents = |merge: Json| -> Vec<Json> {
        let reply = stamped(merge);
        let lines = reply.has(200).text().lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        lines
            .map(|line| if line["status"] == 200 { line["yaml_content"].clone() } else { line["status"].clone() })
            .collect()
    };
    assert_eq!(contents(Json::Null), [json!("n: 12"), json!("n: 32"), json!("n: 1-")]);
    assert_eq!(contents(json!("replace")), [json!("n: 12"), json!("n: 3-"), json!(400)]);
    stamped(json!("shallow")).is(422, "invalid_body");
}

#[test]
fn a_template_that_is_specialised_for_many_sets_gives_the_same_lines() {
    let server = Running::new();
    let content = "name: {{ name }}\n{% if env == 'prod' %}image: {{ image.name }}:{{ image.tag }}\n{% endif %}\
                   {% for p in ports %}p{{ p }}: {{ p / size }}\n{% endfor %}{{ extra }}\n";
    let template = server.template_of(&server.admin, "web", content, "{}");
    let path = format!("/api/v1/templates/{template}/stamp");
    let set = |n: usize| {
        let mut parameters = json!({ "name": format!("c{n}"), "size": 1 + n % 3, "extra": "x: 1" });
        match n % 20 {
            7 => parameters["image"] = json!({ "tag": "own" }),
            8 => parameters["image"] = Json::Null,
            9 => parameters["ports"] = json!("none"),
            10 => parameters["size"] = json!("many"),
            11 => parameters["extra"] = json!("x: [1"),
            12 => drop(parameters.as_object_mut().map(|map| map.remove("size"))),
            13 => parameters = json!([1]),
            _ => {}
        }
        json!({ "name": format!("s{n}"), "parameters": parameters })
    };
    let shared = json!({ "env": "prod", "image": { "name": "web", "tag": "v1" }, "ports": [80, 443] });
    for merge in ["deep", "replace"] {
        let stamped = |from: usize, to: usize| -> Vec<Json> {
            let sets: Vec<Json> = (from..to).map(set).collect();
            let body = json!({ "sets": sets, "shared": shared, "merge": merge });
            let reply = server.send(&server.admin, "POST", &path, &body);
            let line = |line: &str| {
                let mut line: Json = serde_json::from_str(line).unwrap();
                line["index"] = json!(line["index"].as_u64().unwrap() + from as u64);
                line
            };
            reply.has(200).text().lines().map(line).collect()
        };
        let few: Vec<Json> = (0..500).step_by(100).flat_map(|from| stamped(from, from + 100)).collect();
        let many = stamped(0, 500);
        assert_eq!((few.len(), many.len()), (500, 500));
        for (few, many) in few.iter().zip(&many) {
            assert_eq!(few, many, "{merge}");
        }
        let failed = many.iter().filter(|line| line["status"] != 200).count();
        assert!((50..400).contains(&failed), "{failed} failed");
    }
}

#[test]
fn a_stamped_text_has_to_be_yaml() {
    let server = Running::new();
    let template = server.template_of(&server.admin, "web", "a: 1\nn: {{ v }}\n", "{}");
    let path = format!("/api/v1/templates/{template}/stamp");
    let sets = json!({ "sets": [{ "parameters": { "v": "b: c" } }, { "parameters": { "v": "b" } }] });
    let reply = server.send(&server.admin, "POST", &path, &sets);
    let lines: Vec<Json> = reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let error = &lines[0]["errors"][0];
    assert_eq!((&lines[0]["status"], &error["code"]), (&json!(400), &json!("template_output_invalid")));
    assert_eq!(lines[0].get("yaml_content"), None);
    let spans = &error["details"]["diagnostics"][0]["spans"];
    assert_eq!((&spans[0]["line"], &spans[1]["line"]), (&json!(2), &json!(2)));
    assert_eq!((&lines[1]["status"], &lines[1]["yaml_content"]), (&json!(200), &json!("a: 1\nn: b\n")));
}

#[test]
fn a_template_is_checked_without_being_stored() {
    let server = Running::new();
    let check = |query: &str, content: &str, schema: &str| {
        let body = json!({ "template_content": content, "parameters_schema": schema });
        server.send(&server.admin, "POST", &format!("/api/v1/templates/check{query}"), &body)
    };
    let review = check("", "n: {{ nn }}{{ x | nope }}", SCHEMA).has(200).json();
    assert!(review["findings"].as_array().unwrap().len() >= 2, "{review}");
    assert_eq!(check("", "n: {{ n }}{{ token }}", SCHEMA).has(200).json()["findings"], json!([]));
    check("", "{{", SCHEMA).is(400, "invalid_template_syntax");
    check("", "n", "[").is(400, "invalid_parameters_schema");
    check("?strict=true", "n: {{ nn }}", SCHEMA).is(400, "template_review_failed");
    check("?strict=maybe", "n: {{ nn }}", SCHEMA).is(400, "invalid_query");
    assert_eq!(list(&server, "/api/v1/templates"), json!([]));
}

#[test]
fn review_findings_are_warnings_or_errors() {
    let server = Running::new();
    let odd = json!({ "name": "web", "template_content": "n: {{ nn }}", "parameters_schema": SCHEMA });
    let strict = server.send(&server.admin, "POST", "/api/v1/templates?strict=true", &odd);
    strict.is(400, "template_review_failed");
    let made = server.send(&server.admin, "POST", "/api/v1/templates", &odd);
    let warnings: Vec<Json> = serde_json::from_str(made.has(201).header("x-dropforge-warnings").unwrap()).unwrap();
    assert_eq!(made.header("x-dropforge-warning-count"), Some(warnings.len().to_string().as_str()));
    assert!(warnings.iter().any(|warning| warning["name"] == "nn"), "{warnings:?}");
    let path = format!("/api/v1/templates/{}", text(&made.json()["id"]));
    server.send(&server.admin, "PUT", &format!("{path}?strict=true"), &odd).is(400, "template_review_failed");
    assert!(server.send(&server.admin, "PUT", &path, &odd).has(200).header("x-dropforge-warnings").is_some());
    let team = server.team("ci");
    let broken = server.template_of(&server.admin, "broken", "a: [{{ n }}", "{}");
    let object = server.instantiate(&team.pak, &team.stack, &broken, json!({ "n": 1 }));
    assert!(object.has(201).header("x-dropforge-warnings").is_some());
}

#[test]
fn changes_by_another_version_are_listed() {
    let server = Running::new();
    let team = server.team("ci");
    let first = server.template_of(&server.admin, "web", "n: {{ n }}", SCHEMA);
    for name in ["a", "b"] {
        let stack = json!({ "name": name, "generator_id": team.id });
        let stack = text(&server.made("/api/v1/stacks", &stack)["id"]);
        server.instantiate(&team.pak, &stack, &first, json!({ "n": 1 })).has(201);
    }
    let second = server.template_of(&server.admin, "web", "n: {{ n }}\nx: 1", SCHEMA);
    let changes =
        |id: &str, query: &str| server.call(&server.admin, "POST", &format!("/api/v1/templates/{id}/changes{query}"));
    let told = changes(&second, "").has(200).json();
    assert_eq!((&told["instances"], &told["unchanged"]), (&json!(2), &json!(0)));
    assert_eq!(told["changes"].as_array().unwrap().len(), 1);
    assert!(told["changes"][0]["diff"].as_str().unwrap().contains("+x: 1"), "{told}");
    assert_eq!(changes(&first, "").has(200).json()["unchanged"], 2);
    let page = changes(&second, "?limit=1");
    assert_eq!(page.has(200).json()["instances"], 1);
    let next = page.header("x-next-cursor").unwrap();
    assert_eq!(changes(&second, &format!("?limit=1&cursor={next}")).has(200).json()["instances"], 1);
    changes(NOBODY, "").is(404, "template_not_found");
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let server = Running::new();
    for (role, who) in [("admin", "admin"), ("readonly", "readonly"), ("agent", "agent")] {
        let made = server.made("/api/v1/keys", &json!({ "role": role }));
        let pak = text(&made["pak"]);
        let told = server.call(&pak, "POST", "/api/v1/auth/pak").has(200).json();
        assert!(told[who] == true || told[who].is_string(), "{told}");
        let path = format!("/api/v1/keys/{}", text(&made["key"]["id"]));
        server.call(&server.admin, "DELETE", &path).has(204);
        server.call(&pak, "POST", "/api/v1/auth/pak").has(401);
        server.call(&server.admin, "DELETE", &path).is(404, "key_not_found");
    }
    server.send(&server.admin, "POST", "/api/v1/keys", &json!({ "role": "generator" })).is(400, "invalid_role");
    server.send(&server.admin, "POST", "/api/v1/keys", &json!({ "role": "king" })).is(422, "invalid_body");
    let keys = list(&server, "/api/v1/keys");
    assert_eq!(keys.as_array().unwrap().len(), 4);
    assert!(!keys.to_string().contains(server.admin.rsplit('_').next().unwrap()));
}

#[test]
fn probes_and_counters() {
    let server = Running::new();
    assert_eq!(server.request("GET", "/healthz").send().has(200).text(), "OK");
    server.request("GET", "/readyz").send().has(200);
    let (team, template) = (server.team("ci"), server.template(&server.admin, "web"));
    for _ in 0..2 {
        server.instantiate(&team.pak, &team.stack, &template, json!({ "name": "a", "value": "b" })).has(201);
    }
    server.call(&server.admin, "GET", "/api/v1/no/such/route/as-this").has(404);
    server.call(&server.admin, "BREW", "/api/v1/templates").has(405);
    let metrics = server.metrics();
    for line in [
        "dropforge_http_requests_total{method=\"POST\",route=\"/api/v1/templates\",status=\"201\"} 1",
        "dropforge_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"} 1",
        "dropforge_http_requests_total{method=\"other\",route=\"/api/v1/templates\",status=\"405\"} 1",
        "dropforge_renders_total 2",
        "dropforge_renders_under_way 0",
        "dropforge_templates_compiled_total 1",
        "dropforge_http_panics_total 0",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} in\n{metrics}");
    }
    assert!(!metrics.contains("no/such/route"));
}

#[test]
fn a_store_that_is_closed_is_not_ready() {
    let server = Running::new();
    server.wait_for(async { server.catalog.store().close().await });
    server.request("GET", "/readyz").send().is(503, "not_ready");
    server.request("GET", "/healthz").send().has(200);
}

#[test]
fn the_page_is_served_and_loads_nothing_from_elsewhere() {
    let server = Running::new();
    let files =
        [("/page/app.js", "text/javascript"), ("/page/base.css", "text/css"), ("/page/icon.svg", "image/svg+xml")];
    let views = [("/", "text/html"), ("/stacks", "text/html"), ("/templates/any/name", "text/html")];
    for (path, kind) in views.into_iter().chain(files) {
        let file = server.request("GET", path).send();
        assert!(file.has(200).header("content-type").unwrap().starts_with(kind), "{path}");
        let policy = file.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(!file.text().contains("//cdn") && !file.text().contains("https://"), "{path}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    }
    let page = server.request("GET", "/").send();
    assert!(!page.text().contains("<script>") && !page.text().contains(" onclick="));
}

#[test]
fn layers_choose_files_by_the_parameters_of_a_set() {
    let server = Running::new();
    let template =
        server.template_of(&server.admin, "web", "n: {{ n }}-{{ m.a }}-{{ m.b | default(value='none') }}", "{}");
    let path = format!("/api/v1/templates/{template}/stamp");
    let stamped = |layers: Json, sets: Json| {
        let files = json!({
            "base.yaml": "n: 1 # of all\nm: {a: base, b: base}\n",
            "env/prod.yaml": { "n": 2, "m": { "b": null } },
            "env/dev.json": "{\"m\": {\"b\": \"dev\"}}",
            "of/c.yaml": { "n": 3 },
        });
        let body = json!({ "sets": sets, "shared": { "n": 0 }, "layers": layers, "files": files });
        server.send(&server.admin, "POST", &path, &body)
    };
    let sets = json!([
        { "name": "a", "parameters": { "env": "prod.yaml" } },
        { "name": "b", "parameters": { "env": "dev.json", "m": { "a": "own" } } },
        { "name": "c", "parameters": { "env": "prod.yaml" } },
        { "parameters": { "env": "qa.yaml" } },
        { "name": "a", "parameters": {} },
        { "parameters": [1] },
    ]);
    let reply = stamped(json!(["base.yaml", "env/{env}", "of/{cluster}.yaml?"]), sets);
    let lines: Vec<Json> = reply.has(200).text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<&Json> = lines.iter().map(|line| &line["yaml_content"]).collect();
    assert_eq!(
        texts,
        [
            &json!("n: 2-base-none"),
            &json!("n: 1-own-dev"),
            &json!("n: 3-base-none"),
            &Json::Null,
            &Json::Null,
            &Json::Null
        ]
    );
    let said = |at: usize| lines[at]["errors"][0].to_string();
    for (at, parts) in [
        (3, &["invalid_layers", "`files` has no `env/qa.yaml`", "env/{env}"][..]),
        (4, &["invalid_layers", "the cluster has no `env`"]),
    ] {
        assert_eq!(lines[at]["status"], 422);
        parts.iter().for_each(|part| assert!(said(at).contains(part), "no {part} in {}", said(at)));
    }
    // What is wrong for all sets is an error of the request.
    stamped(json!(["env/{env.yaml"]), json!([])).is(422, "invalid_layers");
    let body = json!({ "sets": [], "layers": ["a.yaml"], "files": { "a.yaml": "a: [" } });
    server.send(&server.admin, "POST", &path, &body).is(422, "invalid_layers");
    let body = json!({ "sets": [], "layers": ["a.yaml"], "files": { "a.yaml": [1] } });
    server.send(&server.admin, "POST", &path, &body).is(422, "invalid_layers");
}
