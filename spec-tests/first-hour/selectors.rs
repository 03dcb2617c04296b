//! Selectors as kubectl has them.

use crate::support::{Outcome, Sandbox};

fn run(selectors: &[&str]) -> (Sandbox, Outcome) {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "x"),
        ("v.yaml", "shared: true\n"),
        ("fleet.csv", "name,env,cluster.tier,legacy\na,prod,large,true\nb,dev,small,\nc,qa,,\n"),
    ]);
    let flags: Vec<&str> = selectors.iter().flat_map(|selector| ["-l", selector]).collect();
    let outcome =
        sandbox.run(&[&["stamp", "t", "--fleet", "fleet.csv", "-f", "v.yaml", "-o", "out"], &flags[..]].concat());
    (sandbox, outcome)
}

#[track_caller]
fn selected(selectors: &[&str]) -> String {
    let (sandbox, outcome) = run(selectors);
    outcome.expect(0);
    let tree = sandbox.tree("out");
    tree.keys().filter_map(|path| path.strip_suffix("/a.yaml")).collect::<Vec<_>>().join(" ")
}

#[test]
fn presence_and_absence() {
    assert_eq!(selected(&["legacy"]), "a");
    assert_eq!(selected(&["!legacy"]), "b c");
    assert_eq!(selected(&["cluster.tier"]), "a b");
    assert_eq!(selected(&["shared,!cluster.tier"]), "c");
}

#[test]
fn equality() {
    assert_eq!(selected(&["env=prod"]), "a");
    assert_eq!(selected(&["env==prod"]), "a");
    assert_eq!(selected(&["cluster.tier!=small"]), "a c");
    assert_eq!(selected(&["legacy!=true"]), "b c");
    assert_eq!(selected(&["env!=dev", "env != qa"]), "a");
}

#[test]
fn sets() {
    assert_eq!(selected(&["env in (prod, qa)"]), "a c");
    assert_eq!(selected(&["env in (prod,qa),!legacy"]), "c");
    assert_eq!(selected(&["env notin (prod,qa)"]), "b");
    assert_eq!(selected(&["cluster.tier notin (small)"]), "a c");
}

#[test]
fn malformed_selectors_are_usage_errors() {
    for selector in ["", "!", "env in", "env in (", "env in ()", "env like (a)", "a b", "env=a,", "!env=a"] {
        run(&[selector]).1.expect(2).says(&["E0921", "invalid selector", "k in (v, w)"]);
    }
}

#[test]
fn a_selector_of_nothing_is_an_error_that_names_the_values() {
    let (sandbox, outcome) = run(&["env=prd"]);
    let all = "`env` is `dev` (1), `prod` (1), `qa` (1)";
    outcome.expect(2).says(&["the selector `env=prd` selects none of 3 clusters", all, "did you mean `env=prod`?"]);
    assert!(!sandbox.path("out").exists());
    run(&["enf=prod"]).1.expect(2).says(&["no cluster has `enf`", "did you mean `env=prod`?"]);
    run(&["!env"]).1.expect(2).says(&[all]);
    run(&["cluster.tier in (medium),env"]).1.expect(2).says(&["`cluster.tier` is `large` (1), `small` (1)"]);
    run(&["env=prod", "cluster.tier=small"]).1.expect(2).says(&["env=prod,cluster.tier=small", "meets all of them"]);
}

#[test]
fn an_empty_fleet_is_no_error() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "x"), ("fleet.csv", "name,env\n")]);
    let empty = sandbox.run(&["stamp", "t", "--fleet", "fleet.csv", "-o", "out", "-l", "env=prod"]);
    empty.expect(0).says(&["no clusters to stamp"]);
}
