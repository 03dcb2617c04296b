//! Definitions, references and renaming.

use serde_json::json;

use super::{CHART, Client, PROJECT, opened};

#[test]
fn tera() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    assert_eq!(client.definition(name, "label("), ["t/m.tera:0:label"]);
    assert_eq!(client.definition(name, "m.tera"), ["t/m.tera:0:"]);
    assert_eq!(client.definition(name, "tag }}"), ["values.yaml:1:\"1.4\""]);
    assert_eq!(client.definition(name, "port.number"), ["t/app.yaml.tera:5:port"]);
    assert_eq!(client.definition(name, "number }}"), ["values.yaml:4:80"]);
    assert_eq!(client.references(name, "zone }}"), ["t/app.yaml.tera:9:zone", "t/app.yaml.tera:9:zone"]);
    assert_eq!(client.references(name, "label("), ["t/app.yaml.tera:8:label", "t/m.tera:0:label"]);
    assert_eq!(client.references(name, "image.tag"), ["t/app.yaml.tera:2:image", "t/app.yaml.tera:3:image"]);
    client.end(0);
}

#[test]
fn tera_renames() {
    let name = "t/app.yaml.tera";
    let mut client = opened(PROJECT, name);
    let files = client.rename(name, "label(", "tag");
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["t/app.yaml.tera", "t/m.tera"]);
    assert!(files[0].1.contains("m::tag(text=name)") && files[1].1.contains("macro tag(text"), "{files:?}");
    let files = client.rename(name, "port.number", "p");
    assert!(files[0].1.contains("for p in ports %}\n- {{ p.number }}"), "{files:?}");
    let position = client.at(name, "image.tag");
    let params = json!({"textDocument": {"uri": client.uri(name)}, "position": position, "newName": "x"});
    let id = client.begin("textDocument/rename", params);
    assert!(client.response(id)["error"]["message"].as_str().unwrap().contains("can be renamed"));
    let position = client.at(name, "zone }}");
    let mut params = json!({"textDocument": {"uri": client.uri(name)}, "position": position});
    let range = client.request("textDocument/prepareRename", params.clone());
    assert_eq!(range["placeholder"], "zone");
    params["newName"] = json!("not a name");
    let id = client.begin("textDocument/rename", params);
    assert!(client.response(id)["error"]["message"].as_str().unwrap().contains("is not a name"));
    client.end(0);
}

#[test]
fn blocks_of_parents_and_children() {
    let files = [
        ("base.tera", "{% block head %}a{% endblock %}\n"),
        ("page.tera", "{% extends \"base.tera\" %}{% block head %}{{ super() }}b{% endblock %}\n"),
    ];
    let mut client = Client::new(&files);
    client.open("page.tera");
    client.codes("page.tera", &[]);
    assert_eq!(client.definition("page.tera", "head"), ["base.tera:0:head", "page.tera:0:head"]);
    let files = client.rename("page.tera", "head", "top");
    assert!(files.len() == 2 && files.iter().all(|(_, text)| text.contains("block top %}")), "{files:?}");
    client.end(0);
}

#[test]
fn charts() {
    let name = "templates/app.yaml";
    let mut client = opened(CHART, name);
    assert_eq!(client.definition(name, "web.name"), ["templates/_helpers.tpl:0:web.name"]);
    assert_eq!(client.definition(name, "tag | quote"), ["values.yaml:1:\"1.4\""]);
    assert_eq!(client.definition(name, "number }}"), ["values.yaml:3:80"]);
    assert_eq!(client.definition(name, "$port.name"), ["templates/app.yaml:5:$port"]);
    assert_eq!(
        client.references(name, "web.name"),
        ["templates/_helpers.tpl:0:web.name", "templates/app.yaml:0:web.name"]
    );
    let files = client.rename(name, "web.name", "web.title");
    assert!(files[0].1.contains("define \"web.title\"") && files[1].1.contains("include \"web.title\""), "{files:?}");
    let files = client.rename(name, "$port.name", "entry");
    assert!(files[0].1.contains("range $i, $entry :=") && files[0].1.contains("{{ $entry.name }}"), "{files:?}");
    client.end(0);
}

#[test]
fn hcl() {
    let files = [
        ("variables.tf", "variable \"region\" {\n  default = \"eu\"\n}\n"),
        ("main.tf", "locals {\n  zone = \"${var.region}-a\"\n}\noutput \"x\" {\n  value = local.zone\n}\n"),
        ("a.tftpl", "%{ for p in ports }${p} ${p}%{ endfor }\n"),
    ];
    let mut client = Client::new(&files);
    client.open("main.tf");
    client.open("a.tftpl");
    assert_eq!(client.definition("main.tf", "region"), ["variables.tf:0:region"]);
    assert_eq!(client.definition("main.tf", "zone\n"), ["main.tf:1:zone"]);
    assert_eq!(client.references("main.tf", "region"), ["main.tf:1:region", "variables.tf:0:region"]);
    let files = client.rename("main.tf", "region", "area");
    assert!(files[0].1.contains("${var.area}-a") && files[1].1.contains("variable \"area\""), "{files:?}");
    let files = client.rename("a.tftpl", "p in", "q");
    assert_eq!(files[0].1, "%{ for q in ports }${q} ${q}%{ endfor }\n");
    client.end(0);
}

#[test]
fn cel_in_yaml() {
    let files = [
        ("a.cel.yaml", "$let:\n  app: ${image}\nb: ${app.tag}\nc: ${app.tag + 'x'}\nd: {$include: part.cel.yaml}\n"),
        ("part.cel.yaml", "x: 1\n"),
        ("v.yaml", "image: {tag: v1}\n"),
        ("a.tower", "${params.x}\n"),
    ];
    let sandbox = crate::support::Sandbox::with(&files);
    let mut client = Client::start(sandbox, json!({"values": ["v.yaml"]}));
    let name = "a.cel.yaml";
    client.open(name);
    client.codes(name, &[]);
    assert_eq!(client.definition(name, "app.tag"), ["a.cel.yaml:1:app"]);
    assert_eq!(client.definition(name, "tag}"), ["v.yaml:0:v1"]);
    assert_eq!(client.definition(name, "part"), ["part.cel.yaml:0:"]);
    let files = client.rename(name, "app.tag", "img");
    assert!(files[0].1.contains("  img: ${image}\nb: ${img.tag}\nc: ${img.tag + 'x'}"), "{files:?}");
    client.open("a.tower");
    assert_eq!(client.references("a.tower", "params"), ["a.tower:0:params"]);
    client.end(0);
}
