//! A first project.

use crate::support::Sandbox;

#[test]
fn every_kind_of_project_works_as_written() {
    for (kind, file, part) in [
        ("tera", "out/eu-1/deployment.yaml", "app.kubernetes.io/instance: shop-eu-1"),
        ("helm", "out/eu-1/ingress.yaml", "host: eu-1.shop.example.com"),
        ("hcl", "out/eu-1/deployment.yaml", "- {name: CLUSTER, value: \"eu-1\"}"),
        ("cel-yaml", "out/eu-1/PodDisruptionBudget-shop.yaml", "maxUnavailable: 1"),
    ] {
        let sandbox = Sandbox::new();
        let wrote = sandbox.run(&["init", "--from", kind]).expect(0);
        assert_eq!(
            (wrote.stdout.as_str(), wrote.stderr.as_str()),
            ("wrote dropforge.toml and what it names; next: dropforge stamp\n", "")
        );
        let stamped = sandbox.run(&["stamp"]).expect(0).says(&["for 2 clusters"]);
        assert_eq!(stamped.stderr.lines().count(), 1, "{kind}: {}", stamped.stderr);
        assert!(sandbox.read(file).contains(part), "{kind}: {}", sandbox.read(file));
        sandbox.run(&["stamp", "--check"]).expect(0);
        let checked = sandbox.run(&["check"]).expect(0).says(&["no errors"]);
        assert!(!checked.stderr.contains("warning"), "{kind}: {}", checked.stderr);
        assert_eq!(sandbox.run(&["values", "--cluster", "eu-1"]).expect(0).stdout.lines().last(), Some("env: prod"));
        let written = sandbox.tree("");
        let deployed: String =
            written.iter().filter(|(path, _)| path.starts_with("out/us-1")).map(|(_, text)| text.as_str()).collect();
        assert!(deployed.contains("nginx:1.5.0-rc.1") && deployed.contains("replicas: 1"), "{kind}: {deployed}");
    }
}

#[test]
fn a_required_value_of_the_project_for_helm_can_be_missing() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--from", "helm"]).expect(0);
    for tag in ["null", "\"\""] {
        sandbox.write("clusters.yaml", &format!("- {{name: eu-1, env: prod, image: {{tag: {tag}}}}}\n"));
        sandbox.run(&["stamp"]).expect(4).says(&["E0404", "set image.tag", "deployment.yaml.tera:", "eu-1"]);
    }
}

#[test]
fn a_folder_of_its_own() {
    let sandbox = Sandbox::new();
    let wrote = sandbox.run(&["init", "a/shop"]).expect(0);
    assert_eq!(wrote.stdout, "wrote a/shop/dropforge.toml and what it names; next: dropforge -C a/shop stamp\n");
    let next = wrote.stdout.split("next: ").nth(1).unwrap();
    crate::support::outcome(sandbox.shell("-c", next)).expect(0);
    assert!(sandbox.path("a/shop/out/us-1/service.yaml").is_file());
}

#[test]
fn nothing_is_overwritten() {
    let sandbox = Sandbox::with(&[("values.yaml", "mine: 1\n"), ("templates/service.yaml.tera", "mine")]);
    let refused = sandbox.run(&["init"]).expect(2);
    let refused = refused.says(&["`values.yaml` exists", "`templates/service.yaml.tera` exists", "dropforge init DIR"]);
    assert_eq!(refused.stderr.matches("error[E0921]").count(), 2);
    assert_eq!(sandbox.tree("").len(), 2, "nothing is written");
    sandbox.run(&["init", "values.yaml/x"]).expect(1).says(&["cannot write"]);
    sandbox.run(&["init", "--from", "jsonnet"]).expect(2).says(&["helm", "cel-yaml"]);
    // A link that leads nowhere is there, too.
    std::os::unix::fs::symlink("nowhere", sandbox.path("link")).unwrap();
    sandbox.run(&["init", "link"]).expect(1).says(&["cannot write `link/dropforge.toml`"]);
}
