//! Random runs of two projects in one output directory, compared with a plain model of who owns what.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::Sandbox;

/// The number of cases, and the steps of each.
const CASES: u64 = 8;
const STEPS: usize = 25;

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one<'a, T>(&mut self, of: &'a BTreeSet<T>) -> &'a T {
        of.iter().nth(self.below(of.len())).unwrap()
    }
}

/// A project, and its files in the output directory.
struct Project {
    name: &'static str,
    clusters: BTreeSet<String>,
    templates: BTreeSet<char>,
    files: BTreeSet<String>,
}

impl Project {
    fn path(&self, cluster: &str, template: char) -> String {
        format!("{cluster}/{}/{template}.yaml", self.name)
    }

    fn planned(&self) -> BTreeSet<String> {
        let of = |cluster| self.templates.iter().map(move |template| self.path(cluster, *template));
        self.clusters.iter().flat_map(|cluster| of(cluster)).collect()
    }
}

struct World {
    sandbox: Sandbox,
    projects: Vec<Project>,
    random: Random,
    /// The texts that files of the state had.
    former: BTreeMap<String, Vec<String>>,
    /// What was done, for messages.
    done: Vec<String>,
}

impl World {
    fn new(seed: u64) -> Self {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path(".git")).unwrap();
        let projects = ["web", "api"].map(|name| {
            let layout = format!("layout = \"{{cluster}}/{name}/{{template}}\"\n");
            let head = if name == "web" { "id = \"web\"\n" } else { "" };
            let text = format!(
                "{head}templates = [\"templates\"]\nfleet = [\"f.yaml\"]\n[output]\ndir = \"../out\"\n{layout}"
            );
            sandbox.write(&format!("{name}/dropforge.toml"), &text);
            let clusters = (0..4).map(|nth| format!("c{nth}")).collect();
            Project { name, clusters, templates: ['a', 'b'].into(), files: BTreeSet::new() }
        });
        sandbox.write("out/c1/web/notes.md", "mine\n");
        let world = Self {
            sandbox,
            projects: projects.into(),
            random: Random(seed),
            former: BTreeMap::new(),
            done: Vec::new(),
        };
        (0..2).for_each(|at| world.write(at));
        world
    }

    /// Writes the fleet and the templates of a project.
    fn write(&self, at: usize) {
        let Project { name, clusters, templates, .. } = &self.projects[at];
        let fleet: String = clusters.iter().map(|cluster| format!("- {{name: {cluster}}}\n")).collect();
        self.sandbox.write(&format!("{name}/f.yaml"), &fleet);
        let _ = std::fs::remove_dir_all(self.sandbox.path(&format!("{name}/templates")));
        for template in templates {
            let text = format!("of: {name}\nn: {{{{ name }}}}\n");
            self.sandbox.write(&format!("{name}/templates/{template}.yaml.tera"), &text);
        }
    }

    fn stamp(&mut self, at: usize, more: &[&str], code: i32) {
        let args = [&["-C", self.projects[at].name, "stamp"], more].concat();
        self.done.push(args.join(" "));
        let outcome = self.sandbox.run(&args);
        assert_eq!(outcome.code, code, "{:#?}\n{}{}", self.done, outcome.stdout, outcome.stderr);
    }

    /// Stamps one cluster, or all.
    fn stamp_some(&mut self, at: usize, prune: bool) {
        let one = self.random.below(2) == 0;
        let cluster = self.random.one(&self.projects[at].clusters).clone();
        let selector = format!("name={cluster}");
        let mut args = if one { vec!["-l", &selector] } else { Vec::new() };
        if prune {
            args.extend(["--prune", "--prune-force"]);
        }
        self.stamp(at, &args, 0);
        let project = &mut self.projects[at];
        let planned = project.planned();
        if prune {
            project.files.retain(|file| planned.contains(file));
        }
        let start = format!("{cluster}/");
        project.files.extend(planned.into_iter().filter(|file| !one || file.starts_with(&start)));
    }

    /// Renames a cluster, or removes or adds a template.
    fn change(&mut self, at: usize) {
        let (pick, template) = (self.random.below(3), ['a', 'b', 'c'][self.random.below(3)]);
        let (cluster, new) =
            (self.random.one(&self.projects[at].clusters).clone(), format!("c{}", self.random.below(9)));
        let project = &mut self.projects[at];
        match pick {
            0 => _ = project.clusters.remove(&cluster) && project.clusters.insert(new),
            1 => _ = project.templates.insert(template),
            _ if project.templates.len() > 1 => _ = project.templates.remove(&template),
            _ => {}
        }
        self.done.push(format!("{} has {:?} {:?}", project.name, project.clusters, project.templates));
        self.write(at);
    }

    /// Returns the files of the state by name.
    fn state(&self) -> BTreeMap<String, String> {
        crate::support::tree(&self.sandbox.path("out/.dropforge"))
    }

    /// Leaves what a run leaves that is killed when it has written some files of the state. The next run completes it.
    fn kill(&mut self, at: usize) {
        let before = self.state();
        let known: String = before.values().cloned().collect();
        self.stamp(at, &[], 0);
        let planned = self.projects[at].planned();
        let lines = planned.iter().filter(|file| !known.contains(&format!("{file} ")));
        let record: String = lines.map(|file| format!("{file}\n")).collect();
        for (name, _) in self.state() {
            let path = format!("out/.dropforge/{name}");
            match before.get(&name) {
                Some(old) if name == "runs" => self.sandbox.write(&path, &both(old, &self.sandbox.read(&path))),
                Some(old) if self.random.below(2) == 0 => self.sandbox.write(&path, old),
                None if name != "runs" && self.random.below(2) == 0 => {
                    std::fs::remove_file(self.sandbox.path(&path)).unwrap()
                }
                _ => {}
            }
        }
        self.sandbox.write("out/.dropforge/unfinished", &record);
        self.done.push(format!("{} was killed", self.projects[at].name));
        self.projects[at].files.extend(planned);
        self.compare();
        self.stamp(at, &[], 0);
    }

    /// Leaves the conflict of a merge with a former state in the file of a cluster.
    fn conflict(&mut self) {
        let files: BTreeSet<String> = self.state().into_keys().filter(|name| name.ends_with(".state")).collect();
        if files.is_empty() {
            return;
        }
        let name = self.random.one(&files).clone();
        let Some(former) = self.former.get(&name) else { return };
        let (ours, theirs) = (self.state()[&name].clone(), &former[self.random.below(former.len())]);
        let text = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> b\n");
        self.sandbox.write(&format!("out/.dropforge/{name}"), &text);
        self.done.push(format!("a conflict in {name}"));
    }

    fn check(&mut self, at: usize) {
        let project = &self.projects[at];
        let code = if project.planned() == project.files { 0 } else { 3 };
        let before = self.sandbox.tree("out");
        self.stamp(at, &["--check"], code);
        assert!(self.sandbox.tree("out") == before, "{:#?}", self.done);
    }

    /// Compares the output directory with the model.
    fn compare(&mut self) {
        let mut expected: BTreeSet<String> = self.projects.iter().flat_map(|project| project.files.clone()).collect();
        expected.insert("c1/web/notes.md".to_owned());
        let found: BTreeSet<String> = self.sandbox.outputs("out").into_keys().collect();
        assert_eq!(found, expected, "{:#?}", self.done);
        for (name, text) in self.state().into_iter().filter(|(_, text)| !text.contains("<<<<<<<")) {
            self.former.entry(name).or_default().push(text);
        }
    }
}

/// Returns the runs of two files: a run that is killed leaves both.
fn both(old: &str, new: &str) -> String {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (old, mut new) = (parse(old), parse(new));
    for (id, run) in old["runs"].as_object().unwrap() {
        new["runs"].as_object_mut().unwrap().entry(id).or_insert_with(|| run.clone());
    }
    new.to_string()
}

#[test]
fn nothing_of_others_is_deleted_and_nothing_stale_survives() {
    let cases = if std::env::var("DROPFORGE_CASES").is_ok_and(|cases| cases == "all") { CASES * 20 } else { CASES };
    for seed in 1..=cases {
        let mut world = World::new(seed * 7_919);
        for _ in 0..STEPS {
            let at = world.random.below(2);
            match world.random.below(8) {
                0 | 1 => world.stamp_some(at, false),
                2 => world.stamp_some(at, true),
                3 | 4 => world.change(at),
                5 => world.kill(at),
                6 => world.conflict(),
                _ => world.check(at),
            }
            world.compare();
        }
        for at in [0, 1] {
            world.stamp(at, &["--prune", "--prune-force"], 0);
            let planned = world.projects[at].planned();
            world.projects[at].files = planned;
            world.compare();
        }
        (0..2).for_each(|at| world.check(at));
        assert!(world.state().values().all(|text| !text.contains("<<<<<<<")), "{:#?}", world.done);
    }
}
