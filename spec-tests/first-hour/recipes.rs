//! The recipes for Argo CD, Flux and kustomize.

use std::process::Command;

use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Data, yaml};

use crate::support::{Outcome, Sandbox, outcome};

fn read(sandbox: &Sandbox, name: &str) -> Data {
    yaml::read_data(&Source::new(name, sandbox.read(name)), &Limits::default()).unwrap()
}

fn words(list: Option<&Data>) -> Vec<String> {
    (0..).map_while(|at| list?.index(at)?.as_str().map(str::to_owned)).collect()
}

/// Runs a shell script in a folder of examples with these environment variables.
fn shell(sandbox: &Sandbox, script: &str, variables: &[(&str, &str)]) -> Outcome {
    let mut shell: Command = sandbox.shell("-c", script);
    shell.env("DROPFORGE_CACHE", "").envs(variables.iter().copied());
    outcome(shell)
}

#[test]
fn argo_cd_runs_the_plugin() {
    let sandbox = Sandbox::of_example("argocd");
    let plugin = read(&sandbox, "plugin.yaml");
    let generate = plugin.at_path("spec.generate").unwrap();
    let command = [words(generate.get("command")), words(generate.get("args"))].concat().join(" ");
    let page = include_str!("../../docs/argocd.md");
    assert!(page.contains(&format!("```sh\n{command}\n```")), "{command}");
    let discovered = plugin.at_path("spec.discover.fileName").and_then(Data::as_str).unwrap();
    assert!(sandbox.path(discovered).is_file());
    // Argo CD puts its prefix before the names of the application.
    let application = read(&sandbox, "application.yaml");
    let env = application.at_path("spec.source.plugin.env").unwrap();
    let set = (0..).map_while(|at| env.index(at)).map(|one| {
        let text = |key: &str| one.get(key).and_then(Data::as_str).unwrap().to_owned();
        (format!("ARGOCD_ENV_{}", text("name")), text("value"))
    });
    let set: Vec<_> = set.collect();
    let variables: Vec<_> = set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let rendered = shell(&sandbox, &command, &variables).expect(0);
    assert!(
        rendered.stdout.contains("cart:1.4.2\n") && rendered.stdout.contains("replicas: 3\n"),
        "{}",
        rendered.stdout
    );
    assert_eq!(rendered.stderr, "");
    let plain = shell(&sandbox, &command, &[]).expect(0);
    assert!(plain.stdout.contains("cart:1.4.0\n"), "{}", plain.stdout);
}

#[test]
fn ci_pushes_rendered_manifests_to_a_branch() {
    let sandbox = Sandbox::of_example("flux");
    if Command::new("git").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "git is missing");
        return eprintln!("skipped: git is missing");
    }
    let identity = [
        ("GIT_AUTHOR_NAME", "ci"),
        ("GIT_AUTHOR_EMAIL", "ci@example.com"),
        ("GIT_COMMITTER_NAME", "ci"),
        ("GIT_COMMITTER_EMAIL", "ci@example.com"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ];
    let run = |script: &str| shell(&sandbox, script, &identity).expect(0).stdout;
    run("git init -q --bare origin.git && printf 'origin.git\\nclone*\\n' > .gitignore && git init -q -b main . && \
         git add . && git commit -qm first && git remote add origin origin.git && git push -q origin main");
    run("git clone -q -b main origin.git clone1 && cd clone1 && sh render.sh");
    let files = "git --git-dir origin.git ls-tree -r --name-only rendered";
    assert_eq!(
        run(files),
        ".dropforge/clusters/eu-1.state\n.dropforge/clusters/us-1.state\n.dropforge/runs\neu-1/app.yaml\nus-1/app.yaml\n"
    );
    let app = "git --git-dir origin.git show rendered:eu-1/app.yaml";
    assert!(run(app).contains("replicas: 3\n"), "{}", run(app));
    let count = "git --git-dir origin.git rev-list --count rendered";
    assert_eq!(run(count), "2\n");
    // Without a change there is no commit; a cluster that is gone takes its file along.
    run("git clone -q -b main origin.git clone2 && cd clone2 && sh render.sh");
    assert_eq!(run(count), "2\n");
    sandbox.write("clusters.yaml", "- name: eu-1\n  replicas: 4\n- name: ap-1\n");
    run("git commit -qam second && git push -q origin main && git clone -q -b main origin.git clone3 && cd clone3 && \
         sh render.sh");
    assert_eq!(
        run(files),
        ".dropforge/clusters/ap-1.state\n.dropforge/clusters/eu-1.state\n.dropforge/runs\nap-1/app.yaml\neu-1/app.yaml\n"
    );
    assert!(run(app).contains("replicas: 4\n"), "{}", run(app));
    assert_eq!(run(count), "3\n");
    // A template with an error stops the script before anything is pushed.
    sandbox.write("templates/app.yaml.tera", "{{ app | uper }}\n");
    let broken = "git commit -qam third && git push -q origin main && git clone -q -b main origin.git clone4 && cd \
                  clone4 && sh render.sh";
    shell(&sandbox, broken, &identity).expect(1).says(&["E04", "did you mean `upper`?"]);
    assert_eq!(run(count), "3\n");
    let cluster = yaml::read(&Source::new("cluster.yaml", sandbox.read("cluster.yaml")), &Limits::default()).unwrap();
    assert_eq!(cluster[1].to_data().at_path("spec.path").and_then(Data::as_str), Some("./eu-1"));
}

/// kustomize puts the configuration into a list of resources and runs the file that it names.
#[test]
fn kustomize_runs_the_function() {
    let sandbox = Sandbox::of_example("kustomize");
    let config = read(&sandbox, "dropforge.yaml");
    let function =
        config.get("metadata").and_then(|metadata| metadata.get("annotations")?.get("config.kubernetes.io/function"));
    assert_eq!(function.and_then(Data::as_str), Some("exec: {path: ./dropforge-krm}\n"));
    let indented: String = sandbox.read("dropforge.yaml").lines().map(|line| format!("  {line}\n")).collect();
    sandbox.write(
        "list",
        &format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\nfunctionConfig:\n{indented}"),
    );
    let made = shell(&sandbox, "sh ./dropforge-krm < list", &[]).expect(0);
    assert!(made.stdout.contains("      - port: 443\n") && made.stdout.contains("kind: Service"), "{}", made.stdout);
}
