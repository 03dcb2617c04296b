//! Several projects in one output directory: none overwrites, prunes or reports the files of another.

use crate::support::Sandbox;

/// A repository with two projects of the same relative paths, which write to one directory.
fn two_projects(web: &str, api: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path(".git")).unwrap();
    for (name, head) in [("web", web), ("api", api)] {
        project(&sandbox, name, name, head);
    }
    sandbox
}

/// Writes a project to `folder` with two outputs for each of two clusters, in a directory `name` of each cluster.
fn project(sandbox: &Sandbox, folder: &str, name: &str, head: &str) {
    let layout = format!("layout = \"{{cluster}}/{name}/{{template}}\"\n");
    let file = format!("{head}templates = [\"templates\"]\nfleet = [\"f.yaml\"]\n[output]\ndir = \"../out\"\n{layout}");
    sandbox.write(&format!("{folder}/dropforge.toml"), &file);
    sandbox.write(&format!("{folder}/f.yaml"), "- {name: eu}\n- {name: us}\n");
    for template in ["a", "b"] {
        sandbox.write(&format!("{folder}/templates/{template}.yaml.tera"), "n: {{ name }}\n");
    }
}

/// Returns the number of outputs.
fn count(sandbox: &Sandbox) -> usize {
    sandbox.tree("out").keys().filter(|name| !name.starts_with(".dropforge")).count()
}

#[test]
fn pruning_keeps_the_files_of_another_project() {
    for head in ["", "id = \"same\"\n"] {
        let sandbox = two_projects(head, head);
        sandbox.run(&["-C", "web", "stamp"]).expect(0);
        sandbox.run(&["-C", "api", "stamp", "--prune"]).expect(0).says(&["4 new"]);
        sandbox.run(&["-C", "web", "stamp", "--prune", "--prune-force"]).expect(0).says(&["4 unchanged"]);
        sandbox.run(&["-C", "web", "stamp", "--check"]).expect(0);
        std::fs::remove_file(sandbox.path("web/templates/b.yaml.tera")).unwrap();
        let outcome = sandbox.run(&["-C", "web", "stamp", "--check"]).expect(3);
        assert!(outcome.stdout.contains("out/eu/web/b.yaml") && !outcome.stdout.contains("api"), "{}", outcome.stdout);
        sandbox.run(&["-C", "web", "stamp", "--prune"]).expect(0).says(&["2 deleted"]);
        sandbox.run(&["-C", "api", "stamp", "--check"]).expect(0);
        assert_eq!(count(&sandbox), 6);
    }
}

#[test]
fn templates_on_the_command_line_have_the_place_of_the_run() {
    let sandbox = two_projects("", "");
    let stamp = |folder: &str, more: &[&str]| {
        let layout = format!("--layout={{cluster}}/{folder}/{{template}}");
        let all = ["-C", folder, "stamp", "--no-project", "templates", "--fleet=f.yaml", "-o", "../out", &layout];
        sandbox.run(&[&all, more].concat())
    };
    stamp("web", &[]).expect(0);
    stamp("api", &[]).expect(0);
    stamp("web", &["--prune", "--prune-force"]).expect(0).says(&["4 unchanged"]);
    // A project file in the same folder is the same project.
    sandbox.run(&["-C", "web", "stamp", "--prune"]).expect(0).says(&["4 unchanged"]);
    assert_eq!(count(&sandbox), 8);
}

#[test]
fn a_file_of_another_project_is_not_overwritten() {
    let sandbox = two_projects("", "");
    project(&sandbox, "api", "web", "");
    sandbox.run(&["-C", "web", "stamp"]).expect(0);
    let says = "4 files in the output directory would be overwritten, but the project in `web` wrote them";
    sandbox.run(&["-C", "api", "stamp"]).expect(2).says(&["error[E0922]", says, "files: eu/web/a.yaml"]);
    sandbox.run(&["-C", "api", "stamp", "--layout={cluster}/web/{kind}/{template}", "--prune"]).expect(4);
    sandbox.write("api/templates/a.yaml.tera", "m: {{ name }}\n");
    sandbox.run(&["-C", "api", "stamp", "--check"]).expect(3).says(&["a run needs `--force`"]);
    sandbox.run(&["-C", "web", "stamp", "--check"]).expect(0);
    // By force it takes the files over.
    sandbox.run(&["-C", "api", "stamp", "--force"]).expect(0).says(&["2 changed"]);
    sandbox.run(&["-C", "web", "stamp"]).expect(2).says(&["the project in `api` wrote them"]);
}

#[test]
fn documents_of_another_project_are_not_overwritten() {
    let sandbox = two_projects("", "");
    for name in ["web", "api"] {
        let text = "kind: Service\nmetadata: {name: {{ name }}}\n";
        sandbox.write(&format!("{name}/templates/a.yaml.tera"), text);
        std::fs::remove_file(sandbox.path(&format!("{name}/templates/b.yaml.tera"))).unwrap();
    }
    let layout = "--layout={cluster}/{kind}.yaml";
    sandbox.run(&["-C", "web", "stamp", layout]).expect(0);
    sandbox.run(&["-C", "api", "stamp", layout]).expect(2).says(&["error[E0922]", "the project in `web` wrote them"]);
    sandbox.run(&["-C", "web", "stamp", layout]).expect(0).says(&["2 unchanged"]);
}

#[test]
fn a_project_with_an_id_may_move_and_its_copy_is_another_one() {
    let sandbox = two_projects("id = \"web\"\n", "");
    sandbox.run(&["-C", "web", "stamp"]).expect(0);
    std::fs::rename(sandbox.path("web"), sandbox.path("moved")).unwrap();
    std::fs::remove_file(sandbox.path("moved/templates/b.yaml.tera")).unwrap();
    sandbox.run(&["-C", "moved", "stamp", "--prune"]).expect(0).says(&["2 deleted, 2 unchanged"]);
    project(&sandbox, "copy", "web", "id = \"web\"\n");
    sandbox.run(&["-C", "copy", "stamp"]).expect(2).says(&["the project `web` in `moved` wrote them", "another `id`"]);
    // Without an id the place is what tells projects apart.
    sandbox.run(&["-C", "api", "stamp"]).expect(0);
    std::fs::rename(sandbox.path("api"), sandbox.path("far")).unwrap();
    sandbox.run(&["-C", "far", "stamp"]).expect(2).says(&["the project in `api` wrote them"]);
    sandbox.run(&["-C", "far", "stamp", "--force"]).expect(0).says(&["4 unchanged"]);
    sandbox.run(&["-C", "far", "stamp"]).expect(0);
}

#[test]
fn templates_that_the_project_renames_leave_nothing() {
    let sandbox = two_projects("", "");
    sandbox.run(&["-C", "web", "stamp"]).expect(0);
    std::fs::rename(sandbox.path("web/templates"), sandbox.path("web/manifests")).unwrap();
    std::fs::remove_file(sandbox.path("web/manifests/b.yaml.tera")).unwrap();
    let file = sandbox.read("web/dropforge.toml").replace("\"templates\"", "\"manifests\"");
    sandbox.write("web/dropforge.toml", &file);
    let outcome = sandbox.run(&["-C", "web", "stamp", "--check"]).expect(3);
    assert_eq!(outcome.stdout, "delete ../out/eu/web/b.yaml\ndelete ../out/us/web/b.yaml\n");
    // Templates of the command line are judged by their paths, so those of the project stay.
    sandbox.write("web/more/c.yaml.tera", "n: {{ name }}\n");
    sandbox.run(&["-C", "web", "stamp", "more", "--prune"]).expect(0).says(&["2 new"]);
    sandbox.run(&["-C", "web", "stamp", "--prune"]).expect(0).says(&["2 deleted, 2 unchanged"]);
    assert_eq!(count(&sandbox), 4);
}

#[test]
fn a_chart_of_another_version_leaves_nothing() {
    let sandbox = two_projects("", "");
    let version = |number: u32, templates: &[&str]| {
        let chart = format!("web/charts/web-1.{number}.0");
        let text = format!("apiVersion: v2\nname: web\nversion: 1.{number}.0\n");
        sandbox.write(&format!("{chart}/Chart.yaml"), &text);
        templates.iter().for_each(|name| sandbox.write(&format!("{chart}/templates/{name}.yaml"), "a: 1\n"));
        let file =
            format!("templates = [\"charts/web-1.{number}.0\"]\nfleet = [\"f.yaml\"]\n[output]\ndir = \"../out\"\n");
        sandbox.write("web/dropforge.toml", &file);
    };
    version(4, &["a", "b"]);
    sandbox.run(&["-C", "web", "stamp"]).expect(0).says(&["4 new"]);
    version(5, &["a"]);
    sandbox.run(&["-C", "web", "stamp", "--check"]).expect(3).says(&["2 deleted"]);
    sandbox.run(&["-C", "web", "stamp", "--prune"]).expect(0).says(&["2 deleted, 2 unchanged"]);
}

#[test]
fn an_output_directory_outside_of_the_repository_tells_projects_apart() {
    let sandbox = two_projects("", "");
    let outside = Sandbox::new();
    let out = outside.path("out");
    let stamp = |folder: &str, more: &[&str]| {
        sandbox.run(&[&["-C", folder, "stamp", "-o", out.to_str().unwrap()], more].concat())
    };
    stamp("web", &[]).expect(0);
    stamp("api", &[]).expect(0);
    stamp("web", &["--prune"]).expect(0).says(&["4 unchanged"]);
    assert_eq!(count(&outside), 8);
}
