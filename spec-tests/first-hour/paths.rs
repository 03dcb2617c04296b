//! Errors name templates by the path from the current directory, which an editor or a terminal can open.

use crate::support::Sandbox;

#[test]
fn errors_name_the_path_of_a_template() {
    let sandbox = Sandbox::with(&[
        ("site/app.yaml.tera", "{% include 'parts/_image.tera' %}"),
        ("site/parts/_image.tera", "image:\n  {{ tag }}\n"),
        ("site/bad.yaml.tera", "{% if %}"),
    ]);
    let parts = "--> site/parts/_image.tera:2:6";
    sandbox.run(&["check", "site"]).expect(1).says(&["--> site/bad.yaml.tera:1:7"]);
    // Compiled, and then loaded from the cache.
    for origin in ["compiled", "loaded from the cache"] {
        let render = ["render", "site/app.yaml.tera", "-I", "site", "--cache-dir", "cache", "-v"];
        sandbox.run(&render).expect(1).says(&[origin, parts]);
    }
    let json = ["render", "site/app.yaml.tera", "-I", "site", "--error-format", "json"];
    sandbox.run(&json).expect(1).says(&[r#""file":"site/parts/_image.tera""#]);
    sandbox.run(&["-C", "site", "render", "app.yaml.tera"]).expect(1).says(&["--> parts/_image.tera:2:6"]);
    // An artifact is the same wherever it was compiled, and so are its names.
    sandbox.run(&["compile", "site/app.yaml.tera", "-I", "site", "-o", "x.mpk"]).expect(0);
    sandbox.run(&["render", "x.mpk"]).expect(1).says(&["--> parts/_image.tera:2:6"]);
}
