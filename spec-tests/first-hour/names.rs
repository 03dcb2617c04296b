//! The names of outputs are those of their templates without the language.

use crate::support::Sandbox;

#[test]
fn text_gets_no_extension() {
    let sandbox = Sandbox::with(&[
        ("t/Dockerfile.tera", "FROM {{ name }}\n"),
        ("t/motd.tftpl", "hello ${name}\n"),
        ("t/bin/run.tower", "echo ${params.x}\n"),
        ("t/app.yaml.tera", "name: {{ name }}\n"),
        ("fleet.ndjson", "{\"name\": \"eu\", \"params\": {\"x\": 1}}\n"),
    ]);
    sandbox.stamp(&[]).expect(0);
    assert_eq!(sandbox.read("out/eu/Dockerfile"), "FROM eu\n");
    assert_eq!(sandbox.read("out/eu/motd"), "hello eu\n");
    assert_eq!(sandbox.read("out/eu/bin/run"), "echo 1\n");
    assert_eq!(sandbox.read("out/eu/app.yaml"), "name: eu\n");
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    sandbox.run(&["stamp", "t.mpk", "--fleet", "fleet.ndjson", "-o", "from"]).expect(0);
    assert_eq!(sandbox.tree("from"), sandbox.tree("out"));
}

#[test]
fn documents_keep_the_extension_of_their_format() {
    let sandbox = Sandbox::with(&[
        ("t/a.cel", "{'a': name}"),
        ("t/b.cel.yaml", "a: ${name}\n"),
        ("fleet.ndjson", "{\"name\": \"eu\"}\n"),
    ]);
    sandbox.stamp(&[]).expect(0);
    assert_eq!(sandbox.read("out/eu/a.json"), "{\"a\":\"eu\"}\n");
    assert_eq!(sandbox.read("out/eu/b.yaml"), "a: eu\n");
}
