//! `dropforge why` and states that anyone may have written.

use crate::why_files::{RUNS, sandbox, stamped, why};

#[test]
fn a_state_reads_only_files_of_the_project_and_grants_nothing() {
    let sandbox = stamped();
    std::os::unix::fs::symlink("/etc/passwd", sandbox.path("link.yaml")).unwrap();
    std::os::unix::fs::symlink("/etc", sandbox.path("folder")).unwrap();
    let runs = sandbox.read(RUNS);
    let up = "../".repeat(20);
    let outside = [
        "--values=/etc/passwd".to_owned(),
        format!("--values={up}etc/passwd"),
        "--values=link.yaml".to_owned(),
        "--values=folder/passwd".to_owned(),
        "--values=file:///etc/passwd".to_owned(),
        "--values=/dev/zero".to_owned(),
        "--fleet=/etc/passwd".to_owned(),
        "--fleet=/etc/*".to_owned(),
        "--schema=/etc/passwd".to_owned(),
        "--var-types=/etc/passwd".to_owned(),
        "--set-file=x=/etc/passwd".to_owned(),
        "--include-root=/".to_owned(),
        "--kube-schemas=/etc".to_owned(),
        "/etc/passwd".to_owned(),
    ];
    let grants =
        ["--cache-dir=cache", "--allow=files=.", "--env-prefix=P", "--output=o", "--chdir=t", "--project=p.toml"];
    let refused = outside.iter().map(|one| (one.as_str(), "whose files may be read"));
    for (argument, reason) in refused.chain(grants.map(|one| (one, "it grants or writes something"))) {
        sandbox.write(RUNS, &runs.replace("\"--values=values.yaml\"", &format!("\"{argument}\"")));
        let outcome = why(&sandbox);
        assert!([1, 2].contains(&outcome.code) && outcome.stdout.is_empty(), "{argument}: {}", outcome.stdout);
        assert!(!outcome.stderr.contains("root:"), "{argument}: {}", outcome.stderr);
        let entry = format!("has `{argument}`");
        outcome.says(&[reason, "`arguments` in the state `", &entry, "if you trust it", "eu-1/app.yaml:2 -- stamp "]);
    }
    for name in ["cache", "o"] {
        assert!(!sandbox.path(name).exists());
    }
    sandbox.write(RUNS, &runs.replace("\"folder\": \"..\"", "\"folder\": \"../../..\""));
    why(&sandbox).expect(1).says(&["whose files may be read", "`folder` in the state `"]);
    // By hand, the same files are read.
    let by_hand = ["why", "out/eu-1/app.yaml:2", "--", "stamp", "t", "--fleet", "fleet.csv", "-f", "values.yaml"];
    sandbox.run(&[&by_hand[..], &["--allow", "files=/etc"]].concat()).expect(0);
}

#[test]
fn a_project_is_the_repository_of_its_outputs() {
    let sandbox = sandbox();
    for name in ["t/app.yaml.tera", "t/lib/_m.tera", "fleet.csv"] {
        sandbox.write(&format!("repo/project/{name}"), &sandbox.read(name));
    }
    sandbox.write("repo/shared.yaml", "replicas: 2\n");
    sandbox.write("above.yaml", "replicas: 2\n");
    for (values, code) in [("../shared.yaml", 0), ("../../above.yaml", 1)] {
        std::fs::create_dir_all(sandbox.path("repo/.git")).unwrap();
        let args = ["-C", "repo/project", "stamp", "t", "--fleet", "fleet.csv", "-f", values, "-o", "out"];
        sandbox.run(&args).expect(0);
        sandbox.run(&["why", "repo/project/out/eu-1/app.yaml:2"]).expect(code);
        // Without one, it is the current directory.
        std::fs::remove_dir(sandbox.path("repo/.git")).unwrap();
        sandbox.run(&["why", "repo/project/out/eu-1/app.yaml:2"]).expect(0);
        sandbox.run(&["-C", "repo/project", "why", "out/eu-1/app.yaml:2"]).expect(1);
    }
}

#[test]
fn pipes_are_not_waited_for() {
    let sandbox = stamped();
    sandbox.pipe("out/eu-1/pipe");
    sandbox.pipe("pipe.yaml");
    sandbox.run(&["why", "out/eu-1/pipe:1"]).expect(1).says(&["it is a pipe, not a file"]);
    let runs = sandbox.read(RUNS);
    sandbox.write(RUNS, &runs.replace("--values=values.yaml", "--values=pipe.yaml"));
    why(&sandbox).expect(1).says(&["cannot read `pipe.yaml`: it is a pipe, not a file"]);
}
