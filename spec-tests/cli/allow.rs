//! `--allow`: access to files, the clock, randomness and the environment.

use crate::support::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("in/a.txt", "text\n"),
        ("in/item.tftpl", "- ${name}\n"),
        ("secret.txt", "secret"),
        (
            "t/list.txt.tftpl",
            "%{ for n in names }${templatefile(\"item.tftpl\", { name = n })}%{ endfor }${file(\"a.txt\")}",
        ),
        ("v.hcl", "names = [\"x\", \"y\"]\n"),
        ("fleet.hcl", "cluster \"eu\" {\n  names = [\"p\"]\n}\ncluster \"us\" {\n  names = []\n}\n"),
    ])
}

#[test]
fn files_are_read_where_it_is_allowed_and_nowhere_else() {
    let sandbox = sandbox();
    let render = ["render", "t/list.txt.tftpl", "-f", "v.hcl"];
    let closed = sandbox.run(&render).expect(1);
    closed.says(&["E0405", "`templatefile`", "`file`", "list.txt.tftpl:1:22", "needs the capability files", "--allow"]);
    let allow = ["--allow", "files=in"];
    assert_eq!(sandbox.run(&[&render[..], &allow].concat()).expect(0).stdout, "- x\n- y\ntext\n");
    sandbox.run(&["compile", "t/list.txt.tftpl", "-o", "a.mpk"]).expect(0);
    let artifact = ["render", "a.mpk", "-f", "v.hcl"];
    sandbox.run(&artifact).expect(1).says(&["E0405"]);
    assert_eq!(sandbox.run(&[&artifact[..], &allow].concat()).expect(0).stdout, "- x\n- y\ntext\n");
    let check = ["check", "t/list.txt.tftpl"];
    sandbox.run(&check).expect(1).says(&["E0405", "`templatefile`", "`file`"]);
    sandbox.run(&[&check[..], &allow].concat()).expect(0);

    let stamp = ["stamp", "t", "--fleet", "fleet.hcl", "-o", "out"];
    sandbox.run(&stamp).expect(4).says(&["E0405"]);
    sandbox.run(&[&stamp[..], &allow].concat()).expect(0);
    assert_eq!(
        (sandbox.read("out/eu/list.txt"), sandbox.read("out/us/list.txt")),
        ("- p\ntext\n".into(), "text\n".into())
    );
}

#[test]
fn expressions_use_allowed_capabilities() {
    let sandbox = sandbox();
    let eval = |text: &str, more: &[&str]| sandbox.run(&[&["eval", text][..], more].concat());
    assert_eq!(eval("file(\"a.txt\")", &["--allow", "files=in"]).expect(0).stdout, "\"text\\n\"\n");
    eval("file(\"../secret.txt\")", &["--allow", "files=in"]).expect(1).says(&["leads out", "<expression>:1:7"]);
    assert_eq!(
        eval("fileset(\".\", \"**\")", &["--allow", "files=in"]).expect(0).stdout,
        "[\"a.txt\",\"item.tftpl\"]\n"
    );
    eval("[timestamp(), uuid()]", &["--allow", "clock"]).expect(1).says(&["`uuid`", "capability random"]);
    let both = eval("length(timestamp()) + length(uuid())", &["--allow", "clock", "--allow", "random"]);
    assert_eq!(both.expect(0).stdout, "56\n");
    assert_eq!(eval("try(pathexpand(\"~\"), \"no\")", &[]).expect(0).stdout, "\"no\"\n");
    let mut home = sandbox.command(&["eval", "pathexpand(\"~/a/../b\")", "--allow", "environment"]);
    home.env("HOME", "/home/x");
    assert_eq!(crate::support::outcome(home).expect(0).stdout, "\"/home/x/b\"\n");
}

#[test]
fn invalid_capabilities_are_errors() {
    let sandbox = sandbox();
    for what in ["network", "files", "files=", "clock=1", ""] {
        sandbox.run(&["eval", "1", "--allow", what]).expect(2).says(&["files=DIR"]);
    }
    for dir in ["files=none", "files=secret.txt"] {
        sandbox.run(&["eval", "1", "--allow", dir]).expect(1).says(&["cannot be read"]);
        sandbox.run(&["render", "t/list.txt.tftpl", "--allow", dir]).expect(1).says(&["cannot be read"]);
    }
}
