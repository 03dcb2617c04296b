//! The compile cache on the command line.

use std::fs;
use std::process::Command;

use crate::support::{Sandbox, outcome};

fn sandbox() -> Sandbox {
    Sandbox::with(&[("a.tera", "{% include \"b.tera\" %}{{ n }}"), ("b.tera", "b"), ("f.csv", "name,n\nc,1\n")])
}

/// Returns the line of a run that tells where the template came from.
fn origin(command: Command) -> String {
    let outcome = outcome(command).expect(0);
    let line = outcome.stderr.lines().find(|line| line.starts_with("a.tera: ")).unwrap_or("").to_owned();
    line.trim_start_matches("a.tera: ").to_owned()
}

const RENDER: &[&str] = &["render", "a.tera", "--set", "n=1", "-v"];

fn render(sandbox: &Sandbox, more: &[&str]) -> String {
    origin(sandbox.command(&[RENDER, more].concat()))
}

#[test]
fn a_second_run_does_not_parse() {
    let sandbox = sandbox();
    let cached = ["--cache-dir", "cache"];
    assert_eq!(render(&sandbox, &cached), "compiled");
    assert_eq!(render(&sandbox, &cached), "loaded from the cache");
    let stamp = ["stamp", "a.tera", "--fleet", "f.csv", "-o", "out", "-v", "--cache-dir", "cache"];
    assert_eq!(origin(sandbox.command(&stamp)), "loaded from the cache");
    sandbox.write("b.tera", "B");
    assert_eq!(render(&sandbox, &cached), "compiled");
    assert_eq!(render(&sandbox, &cached), "loaded from the cache");
    assert_eq!(render(&sandbox, &["--no-cache"]), "compiled");
    sandbox.run(&[RENDER, &["--no-cache", "--cache-dir", "x"]].concat()).expect(2);
}

#[test]
fn the_environment_names_the_place_and_empty_means_none() {
    let sandbox = sandbox();
    let by = |env: &[(&str, &str)]| {
        let mut command = sandbox.command(RENDER);
        command.env_remove("DROPFORGE_CACHE").env("HOME", sandbox.path("home")).env_remove("XDG_CACHE_HOME");
        command.envs(env.iter().copied());
        origin(command)
    };
    let (there, xdg) = (sandbox.path("there").display().to_string(), sandbox.path("xdg").display().to_string());
    assert_eq!(by(&[("DROPFORGE_CACHE", &there)]), "compiled");
    assert_eq!(by(&[("DROPFORGE_CACHE", &there)]), "loaded from the cache");
    assert_eq!(by(&[("DROPFORGE_CACHE", "")]), "compiled");
    // Small templates are not cached by default: parsing is as fast as a lookup.
    by(&[]);
    assert!(!sandbox.path("home/.cache/dropforge").exists());
    sandbox.write("b.tera", &"{{ n }} and {% if n %}more{% endif %}\n".repeat(1_000));
    assert_eq!(by(&[]), "compiled");
    assert_eq!(by(&[]), "loaded from the cache");
    assert!(sandbox.path("home/.cache/dropforge").exists());
    assert_eq!(by(&[("XDG_CACHE_HOME", &xdg)]), "compiled");
    assert_eq!(by(&[("XDG_CACHE_HOME", &xdg)]), "loaded from the cache");
    assert_eq!(by(&[("XDG_CACHE_HOME", "relative")]), "loaded from the cache");
    assert!(!sandbox.path("relative").exists());
}

#[test]
fn killed_writers_and_a_spoilt_cache_do_no_harm() {
    let sandbox = sandbox();
    let args = [RENDER, &["--cache-dir", "cache"]].concat();
    for _ in 0..40 {
        let mut children: Vec<_> = (0..3).map(|_| sandbox.command(&args).spawn().unwrap()).collect();
        children.iter_mut().for_each(|child| drop(child.kill()));
        children.iter_mut().for_each(|child| drop(child.wait()));
        let stdout = sandbox.run(&args).expect(0).stdout;
        assert_eq!(stdout, "b1");
        let _ = fs::remove_dir_all(sandbox.path("cache"));
    }
    sandbox.run(&args).expect(0);
    for name in sandbox.tree("cache").into_keys() {
        fs::write(sandbox.path("cache").join(name), "spoilt").unwrap();
    }
    assert_eq!(render(&sandbox, &["--cache-dir", "cache"]), "compiled");
    assert_eq!(render(&sandbox, &["--cache-dir", "cache"]), "loaded from the cache");
}

#[test]
fn a_pipe_in_the_cache_is_no_artifact() {
    let sandbox = sandbox();
    let args = [RENDER, &["--cache-dir", "cache"]].concat();
    sandbox.run(&args).expect(0);
    for name in sandbox.tree("cache").into_keys() {
        fs::remove_file(sandbox.path("cache").join(&name)).unwrap();
        sandbox.pipe(&format!("cache/{name}"));
    }
    assert_eq!(sandbox.run(&args).expect(0).stdout, "b1");
}
