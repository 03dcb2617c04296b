//! Hover.

use serde_json::json;

use super::{CHART, Client, PROJECT, opened};

#[test]
fn values_in_the_chosen_cluster_with_type_and_place() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    let text = client.hover("t/app.yaml.tera", "tag }}");
    for part in ["`image.tag` = `\"1.4\"`", "cluster `eu-1`", "type: string", "The tag to run.", "from values.yaml:2:8"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let params = json!({"command": "dropforge.selectCluster", "arguments": ["us-1"]});
    client.request("workspace/executeCommand", params);
    client.codes("t/app.yaml.tera", &[]);
    let text = client.hover("t/app.yaml.tera", "tag }}");
    assert!(text.contains("`\"1.5\"`") && text.contains("fleet.ndjson:2"), "{text}");
    let params = json!({"command": "dropforge.listClusters", "arguments": [client.uri("t/app.yaml.tera")]});
    assert_eq!(client.request("workspace/executeCommand", params), json!(["eu-1", "us-1"]));
    client.end(0);
}

#[test]
fn maps_items_secrets_and_variables() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    let text = client.hover("t/app.yaml.tera", "image.pull");
    assert!(text.contains("```yaml\ntag:") && text.contains("pull: Always"), "{text}");
    let text = client.hover("t/app.yaml.tera", "number }}");
    assert!(text.contains("`ports[…].number` = `80`"), "{text}");
    let text = client.hover("t/app.yaml.tera", "token }}");
    assert!(text.contains("secret") && !text.contains("abc"), "{text}");
    let text = client.hover("t/app.yaml.tera", "zone }}");
    assert!(text.contains("`name` = `\"eu-1\"`"), "{text}");
    client.end(0);
}

#[test]
fn variables_have_what_they_are_set_to() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    client.replace(
        name,
        "{{ zone }}",
        "{{ zone }}{% set x = image.tag ~ \"-a\" %}{{ x }}{% set t = token ~ 1 %}{{ t }}{% set q = '%}=' ~ name %}{{ q }}\
         {% for w in [name, 'a %}'] %}{{ w }}{% endfor %}{% macro m(d='e') %}{{ d }}{% endmacro %}",
    );
    client.hints_with(name, "{{ x = 1.4-a");
    for part in ["x }}", "x = image"] {
        let text = client.hover(name, part);
        assert!(text.contains("variable `x` = `\"1.4-a\"`"), "{part}: {text}");
    }
    let text = client.hover(name, "t }}");
    assert!(text.contains("`t` = `token ~ 1`") && !text.contains("abc"), "{text}");
    let text = client.hover(name, "q }}");
    assert!(text.contains("variable `q` = `\"%}=eu-1\"`"), "{text}");
    let text = client.hover(name, "w }}");
    assert!(text.contains("variable `w`, an item of `[name, 'a %}']`"), "{text}");
    let text = client.hover(name, "d }}");
    assert!(text.contains("variable `d`") && !text.contains('='), "{text}");
    let text = client.hover("t/app.yaml.tera", "zone }}");
    assert!(text.contains("`name` = `\"eu-1\"`"), "{text}");
    client.end(0);

    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    client.replace(name, "tag: {{", "{{- $v := printf \"%s!\" .Values.image.tag }}\nx: {{ $v }}\ntag: {{");
    client.hints_with(name, "x: {{ $v = 1.4!");
    let text = client.hover(name, "$v }}");
    assert!(text.contains("variable `$v` = `\"1.4!\"`"), "{text}");
    client.end(0);
}

#[test]
fn variables_of_templates_in_yaml_have_what_they_are_set_to() {
    let name = "t/app.cel.yaml";
    let project = "templates = [\"t\"]\nvalues = [\"values.yaml\"]\n";
    let template = "$let: {app: \"${name + '!'}\"}\nname: ${app}\n";
    let mut client = opened(&[("dropforge.toml", project), ("values.yaml", "name: eu\n"), (name, template)], name);
    client.hints_with(name, "name: ${app = \"eu!\"");
    for part in ["app}", "app:"] {
        let text = client.hover(name, part);
        assert!(text.contains("variable `app` = `\"eu!\"`"), "{part}: {text}");
    }
    client.end(0);
}

#[test]
fn a_cluster_that_there_is_not() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    let select = |client: &mut Client, name: serde_json::Value| {
        let params = json!({"command": "dropforge.selectCluster", "arguments": [name]});
        let id = client.begin("workspace/executeCommand", params);
        client.response(id)
    };
    assert!(select(&mut client, json!("us-1")).get("error").is_none());
    client.codes("t/app.yaml.tera", &[]);
    let message = select(&mut client, json!("us1"))["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "no cluster is named `us1`; available: eu-1, us-1; did you mean `us-1`?");
    assert!(client.hover("t/app.yaml.tera", "tag }}").contains("`\"1.5\"`"));
    assert!(select(&mut client, json!(null)).get("error").is_none());
    client.end(0);
}

#[test]
fn documentation_of_functions_and_macros() {
    let mut client = opened(PROJECT, "t/app.yaml.tera");
    let text = client.hover("t/app.yaml.tera", "lower }}");
    assert!(text.contains("filter `lower`") && text.contains("Examples:"), "{text}");
    let text = client.hover("t/app.yaml.tera", "label(");
    assert!(text.contains("macro `label(text, kind=\"x\")`") && text.contains("m.tera:1"), "{text}");
    let text = client.hover("t/app.yaml.tera", "m.tera");
    assert_eq!(text, "file `m.tera`");
    let nothing = client.ask("hover", "t/app.yaml.tera", "pull: ", 1);
    assert!(nothing.is_null());
    client.end(0);
}

#[test]
fn tags_actions_and_directives() {
    let files = [
        ("a.tera", "{% for x in [1] %}{% if x %}{{ x }}{% else %}if{% endif %}{% endfor %}\n"),
        ("a.gotmpl", "{{- with .x }}{{ . }}{{ else if .y }}if{{ end }}\n"),
        ("a.tftpl", "%{ for p in [1] ~}\n${p}\n%{ endfor ~}\n"),
        ("a.cel.yaml", "a:\n  - $for: 'x in [1]'\n    $do: { $if: 'true', $then: '$if' }\n"),
    ];
    let mut client = Client::start(crate::support::Sandbox::with(&files), json!({}));
    files.iter().for_each(|(name, _)| client.open(name));
    for (name, part, title) in [
        ("a.tera", "for x", "**tag `for` (tera)**"),
        ("a.tera", "else", "**tag `else` (tera)**"),
        ("a.tera", "endfor", "**tag `endfor` (tera)**"),
        ("a.gotmpl", "with", "**action `with` (helm)**"),
        ("a.gotmpl", "if .y", "**action `if` (helm)**"),
        ("a.gotmpl", "end }}", "**action `end` (helm)**"),
        ("a.tftpl", "for p", "**directive `for` (hcl)**"),
        ("a.tftpl", "endfor", "**directive `endfor` (hcl)**"),
        ("a.cel.yaml", "$for", "**directive `$for` (cel-yaml)**"),
        ("a.cel.yaml", "$do", "**directive `$do` (cel-yaml)**"),
        ("a.cel.yaml", "$if", "**directive `$if` (cel-yaml)**"),
    ] {
        let text = client.hover(name, part);
        assert!(text.starts_with(title), "{name}, {part}: {text}");
    }
    for (name, part) in [("a.tera", "if{%"), ("a.gotmpl", "if{{"), ("a.cel.yaml", "$if' }")] {
        assert!(client.ask("hover", name, part, 1).is_null(), "{name}, {part}");
    }
    client.end(0);
}

#[test]
fn charts() {
    let mut client = opened(CHART, "templates/app.yaml");
    let text = client.hover("templates/app.yaml", "tag | quote");
    for part in ["`Values.image.tag` = `\"1.4\"`", "type: string", "The tag to run.", "values.yaml:2:8"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(client.hover("templates/app.yaml", "number }}").contains("= `80`"));
    assert!(client.hover("templates/app.yaml", "name }}").contains("= `\"http\"`"));
    assert!(client.hover("templates/app.yaml", "Name }}").contains("release-name"));
    let text = client.hover("templates/app.yaml", "password }}");
    assert!(text.contains("secret") && !text.contains("`\"secret\"`"), "{text}");
    let text = client.hover("templates/app.yaml", "tag | quote");
    assert!(text.contains("\n\nfrom values.yaml:2:8"), "{text}");
    client.replace(
        "templates/app.yaml",
        "name: {{",
        "x: {{ (.Files.Glob \"*\").AsConfig | quote }}\ny: {{ .Files.Lines \"a\" | toJson }}\nname: {{",
    );
    client.codes("templates/app.yaml", &[]);
    let text = client.hover("templates/app.yaml", "Glob");
    assert!(text.contains("files whose paths match") && !text.contains("no value"), "{text}");
    assert!(client.hover("templates/app.yaml", "Lines").contains("lines of a file"));
    assert!(client.hover("templates/app.yaml", "quote").contains("function `quote`"));
    assert!(client.hover("templates/app.yaml", "web.name").contains("_helpers.tpl:1"));
    client.end(0);
}

#[test]
fn other_languages() {
    let files = [
        ("a.tftpl", "%{ for p in ports }${upper(p.name)}%{ endfor }\n"),
        ("main.tf", "variable \"region\" {\n  default = \"eu\"\n}\nlocals {\n  a = lower(var.region)\n}\n"),
        ("a.cel.yaml", "$let:\n  app: ${image}\nb: ${app.tag + string(size(ports))}\n"),
        ("a.cel", "ports.map(p, p.name)\n"),
        ("a.tower", "${params.x}\n"),
        ("a.gotmpl", "{{ .image.tag | upper }}\n"),
        ("v.yaml", "image: {tag: v1}\nports: [{name: http}]\nparams: {x: 5}\n"),
    ];
    let sandbox = crate::support::Sandbox::with(&files);
    let mut client = Client::start(sandbox, json!({"values": ["v.yaml"]}));
    files.iter().take(6).for_each(|(name, _)| client.open(name));
    let mut says = |name: &str, part: &str, wanted: &str| {
        let text = client.hover(name, part);
        assert!(text.contains(wanted), "{name} {part}: {text}");
    };
    says("a.tftpl", "name)", "= `\"http\"`");
    says("a.tftpl", "upper(", "function `upper`");
    says("main.tf", "region)", "variable \"region\" {\n  default = \"eu\"");
    says("main.tf", "lower(", "function `lower`");
    says("a.cel.yaml", "tag +", "`image.tag` = `\"v1\"`");
    says("a.cel.yaml", "size(", "function `size`");
    says("a.cel", "name)", "= `\"http\"`");
    says("a.tower", "x}", "`params.x` = `5`");
    says("a.gotmpl", "tag |", "= `\"v1\"`");
    says("a.gotmpl", "upper }}", "function `upper`");
    client.end(0);
}

#[test]
fn sensitive_variables() {
    let files = [
        ("dropforge.toml", "templates = [\"t\"]\nvalues = [\"v.yaml\"]\n[checks]\nvar-types = \"variables.tf\"\n"),
        ("variables.tf", "variable \"token\" {\n  sensitive = true\n}\nvariable \"port\" {}\n"),
        ("v.yaml", "token: hunter2\nport: 80\n"),
        ("t/a.tftpl", "${token} ${port}\n"),
    ];
    let mut client = super::opened(&files, "t/a.tftpl");
    let token = client.hover("t/a.tftpl", "token}");
    assert!(token.contains("token") && !token.contains("hunter2"), "{token}");
    let port = client.hover("t/a.tftpl", "port}");
    assert!(port.contains("= `80`"), "{port}");
    client.end(0);
}

#[test]
fn layers_of_the_chosen_cluster_give_values() {
    let name = "t/app.yaml.tera";
    let project = "templates = [\"t\"]\nfleet = [\"fleet.yaml\"]\nlayers = [\"base.yaml\", \"env/{env}.yaml\"]\n";
    let mut client = opened(
        &[
            ("dropforge.toml", project),
            ("fleet.yaml", "- {name: eu, env: prod}\n- {name: us, env: dev}\n"),
            ("base.yaml", "size: 1\nzone: all\n"),
            ("env/prod.yaml", "size: 5\n"),
            ("env/dev.yaml", "size: 2\n"),
            (name, "a: {{ size }}\nb: {{ zone }}\n"),
        ],
        name,
    );
    client.hints_with(name, "size = 5");
    let text = client.hover(name, "size }}");
    assert!(text.contains("`size` = `5`") && text.contains("from env/prod.yaml:1:7"), "{text}");
    let text = client.hover(name, "zone }}");
    assert!(text.contains("from base.yaml:2:7"), "{text}");
    let params = json!({"command": "dropforge.selectCluster", "arguments": ["us"]});
    client.request("workspace/executeCommand", params);
    client.hints_with(name, "size = 2");
    assert_eq!(client.definition(name, "size }}"), ["base.yaml:0:1", "env/dev.yaml:0:2"]);
    // A layer that is not saved counts, and so does a mistake in it.
    client.open("env/dev.yaml");
    client.replace("env/dev.yaml", "size: 2", "size: 3");
    client.hints_with(name, "size = 3");
    client.replace("env/dev.yaml", "size: 3", "siz: 3");
    client.diagnostics("env/dev.yaml", |found| found.iter().any(|one| one["code"] == "E0809"));
    client.end(0);
}
