//! `catalog` and `serve`: the same commands on a local store and on a service.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::pages::Page;
use crate::support::{Outcome, Sandbox, outcome};

const TEMPLATE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ name }}\ndata:\n  n: \"{{ n }}\"\n";
const SCHEMA: &str = r#"{"required": ["name"], "properties": {"name": {"type": "string"}, "n": {"type": "integer", "maximum": 9, "default": 2}}}"#;

/// A catalog, driven by the command line.
struct Catalog {
    sandbox: Sandbox,
    service: Option<Service>,
}

/// A service that stops at the end of the test.
struct Service {
    child: Child,
    url: String,
    key: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Service {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["serve", "--init", "--listen", "127.0.0.1:0", "--db", "served.db"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let line = |from: &mut dyn std::io::Read| {
            let mut line = String::new();
            BufReader::new(from).read_line(&mut line).unwrap();
            line.trim().to_owned()
        };
        let key = line(child.stdout.as_mut().unwrap());
        let url = line(child.stderr.as_mut().unwrap()).replace("listening on ", "");
        Self { child, url, key }
    }
}

impl Catalog {
    /// Runs a test on a local store, and on a service.
    fn each(test: impl Fn(&Catalog)) {
        for served in [false, true] {
            let sandbox = Sandbox::with(&[("web.tera", TEMPLATE), ("web.schema.json", SCHEMA)]);
            let service = served.then(|| Service::start(&sandbox));
            test(&Catalog { sandbox, service });
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(&[&["catalog"], args].concat());
        if let Some(service) = &self.service {
            command.env("DROPFORGE_SERVER", &service.url).env("DROPFORGE_KEY", &service.key);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args))
    }

    /// Adds the template `web`, which matches stacks in production, and such a stack.
    fn filled(&self) {
        let create = ["create", "web", "web.tera", "--schema", "web.schema.json", "--label", "env=prod"];
        self.run(&create).expect(0);
        self.run(&["generator", "create", "team"]).expect(0);
        self.run(&["stack", "create", "shop", "--generator", "team", "--label", "env=prod"]).expect(0);
    }

    fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.run(&[args, &["--json"]].concat()).expect(0).stdout).unwrap()
    }
}

#[test]
fn a_template_is_created_instantiated_and_verified() {
    Catalog::each(|catalog| {
        catalog.filled();
        let made =
            catalog.run(&["instantiate", "web", "--stack", "shop", "--set", "name=cart", "--set", "n=7"]).expect(0);
        assert!(made.stdout.ends_with("  name: cart\ndata:\n  n: \"7\"\n"), "{}", made.stdout);
        assert!(catalog.run(&["verify", "shop"]).expect(0).stdout.contains(": verified, sha256 "));
        let defaults = ["instantiate", "web@1", "--stack", "shop", "--set", "name=cart", "--defaults"];
        assert!(catalog.run(&defaults).expect(0).stdout.ends_with("  n: \"2\"\n"));
    });
}

#[test]
fn a_line_of_an_object_leads_to_its_template() {
    Catalog::each(|catalog| {
        catalog.filled();
        catalog.run(&["instantiate", "web", "--stack", "shop", "--set", "name=cart", "--defaults"]).expect(0);
        let object = catalog.json(&["why", "shop:6"])["file"].as_str().unwrap().to_owned();
        let told = catalog.run(&["why", "shop:6"]).expect(0).stdout;
        let reason = "written by  n\n              at web@1:6:10\nvalue of    n = `2`\n";
        let wanted =
            format!("{object}:6:7\n    n: \"2\"\n        ^\n{reason}              from a default of the schema\n");
        assert_eq!(told, wanted);
        let told = catalog.run(&["why", &format!("{object}:4:10")]).expect(0).stdout;
        assert!(told.contains("name = `\"cart\"`\n              from the parameters\n"), "{told}");
        catalog.run(&["why", "shop:99"]).expect(1).says(&["line_not_found", "so no line 99"]);
        catalog.run(&["why", "shop"]).expect(2).says(&["write `OBJECT:LINE` or `OBJECT:LINE:COLUMN`"]);
        catalog.run(&["why", "shp:1"]).expect(1).says(&["did you mean `shop`?"]);
    });
}

#[test]
fn all_errors_are_reported_at_once() {
    Catalog::each(|catalog| {
        catalog.filled();
        catalog.run(&["stack", "create", "test", "--generator", "team"]).expect(0);
        let wrong = catalog.run(&["instantiate", "web", "--stack", "test", "--set", "n=10"]).expect(1);
        wrong.says(&[
            "E1001",
            "invalid parameters",
            "\"name\" is a required property",
            "/n: 10 is greater than the maximum of 9",
            "template labels do not match stack",
            "missing labels: env=prod",
            "error[E0201]: the variable `name` is not defined",
            " --> web@1:4:12",
        ]);
        catalog.run(&["show", "wbe"]).expect(1).says(&["template_not_found"]);
        catalog.run(&["show", "web@2"]).expect(1).says(&["unknown version 2 of template `web`", "available: 1"]);
        catalog.run(&["verify", "shp"]).expect(1).says(&["unknown stack `shp`", "did you mean `shop`?"]);
        catalog.run(&["delete", "web"]).expect(2).says(&["use `web@VERSION`"]);
    });
}

#[test]
fn versions_keep_their_rules_and_show_their_changes() {
    Catalog::each(|catalog| {
        catalog.filled();
        catalog.run(&["instantiate", "web", "--stack", "shop", "--set", "name=cart", "--set", "n=1"]).expect(0);
        catalog.sandbox.write("web.tera", &TEMPLATE.replace("n:", "number:"));
        assert!(catalog.run(&["update", "web", "web.tera"]).expect(0).stdout.starts_with("web version 2: "));
        assert_eq!(catalog.run(&["labels", "web"]).expect(0).stdout, "LABEL\nenv=prod\n");
        let change = catalog.run(&["diff", "web"]).expect(3).stdout;
        assert!(change.starts_with("1 instance, 0 unchanged\n"), "{change}");
        assert!(change.contains("-  n: \"1\"\n+  number: \"1\"\n"), "{change}");
        assert_eq!(catalog.run(&["diff", "web@1"]).expect(0).stdout, "1 instance, 1 unchanged\n");
        let texts = catalog.run(&["diff", "web", "--with", "web@1"]).expect(3).stdout;
        assert!(texts.contains("+  number: \"{{ n }}\""), "{texts}");
        let numbers = |rows: &serde_json::Value| -> Vec<i64> {
            rows.as_array().unwrap().iter().map(|row| row["version"].as_i64().unwrap()).collect()
        };
        assert_eq!(numbers(&catalog.json(&["history", "web"])), [2, 1]);
        catalog.run(&["delete", "web@1"]).expect(0);
        assert_eq!(numbers(&catalog.json(&["list", "--all"])), [2]);
        // A deleted version still lists its objects.
        catalog.run(&["verify", "shop"]).expect(0);
    });
}

#[test]
fn marks_and_keys_are_changed() {
    Catalog::each(|catalog| {
        catalog.filled();
        let labels = catalog.run(&["labels", "web", "--add", "a/b", "--remove", "env=prod"]).expect(0).stdout;
        assert_eq!(labels, "LABEL\na/b\n");
        let annotations = catalog.run(&["annotate", "web", "--add", "tier=1", "--add", "zone=eu"]).expect(0).stdout;
        assert_eq!(annotations, "KEY   VALUE\ntier  1\nzone  eu\n");
        catalog.run(&["annotate", "web", "--remove", "tier"]).expect(0);
        catalog.run(&["annotate", "web", "--add", "a b=c"]).expect(1).says(&["invalid_annotation"]);
        let pak = catalog.run(&["key", "create", "--role", "readonly"]).expect(0).stdout;
        assert!(pak.starts_with("brokkr_BR"), "{pak}");
        let id = catalog.json(&["key", "list"]).as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
        catalog.run(&["key", "revoke", &id]).expect(0);
        catalog.run(&["key", "revoke", &id]).expect(1).says(&["key_not_found"]);
        let old = catalog.run(&["generator", "rotate", "team"]).expect(0).stdout;
        assert_ne!(old, catalog.run(&["generator", "rotate", "team"]).expect(0).stdout);
        catalog.run(&["generator", "delete", "team"]).expect(0);
        assert_eq!(catalog.run(&["stack", "list"]).expect(0).stdout, "NAME  ID  GENERATOR_ID  DESCRIPTION\n");
    });
}

#[test]
fn deleted_rows_are_purged() {
    Catalog::each(|catalog| {
        catalog.filled();
        catalog.run(&["instantiate", "web", "--stack", "shop", "--set", "name=cart", "--set", "n=1"]).expect(0);
        catalog.run(&["update", "web", "web.tera"]).expect(0);
        catalog.run(&["delete", "web@1"]).expect(0);
        catalog.run(&["stack", "create", "gone", "--generator", "team", "--label", "env=prod"]).expect(0);
        catalog.run(&["instantiate", "web", "--stack", "gone", "--set", "name=cart", "--set", "n=1"]).expect(0);
        catalog.run(&["delete", "web@2"]).expect(0);
        catalog.run(&["stack", "delete", "gone"]).expect(0);
        let old = catalog.run(&["purge", "--older-than", "30d"]).expect(0).stdout;
        assert_eq!(old, "removed 0 stacks, 0 objects and 0 template versions\n");
        let purged = catalog.run(&["purge", "--older-than", "0s"]).expect(0).stdout;
        let kept = "kept 1 deleted template version, from which objects were rendered\n";
        assert_eq!(purged, format!("removed 1 stack, 2 objects and 1 template version\n{kept}"));
        catalog.run(&["verify", "shop"]).expect(0);
        assert_eq!(catalog.json(&["purge", "--older-than", "0s"])["kept_templates"], 1);
        let trail = catalog.json(&["audit"]);
        let young = catalog.run(&["purge", "--older-than", "30d", "--audit-older-than", "365d"]).expect(0);
        assert!(young.stdout.ends_with("audit entries removed: 0\n"), "{}", young.stdout);
        assert_eq!(catalog.json(&["audit"]), trail);
        let old = catalog.json(&["purge", "--older-than", "30d", "--audit-older-than", "0s"]);
        assert_eq!(old["audit_entries"], trail.as_array().unwrap().len());
        let rest = catalog.json(&["audit"]);
        assert_eq!((rest.as_array().unwrap().len(), &rest[0]["action"]), (1, &"catalog.purge".into()));
        catalog.run(&["purge"]).expect(2).says(&["--older-than"]);
        catalog.run(&["purge", "--older-than", "-1d"]).expect(2);
    });
}

#[test]
fn a_directory_is_imported_once() {
    Catalog::each(|catalog| {
        catalog.sandbox.write("web.labels", "env=prod\n\nteam=a\n");
        catalog.sandbox.write("job.tera.yaml", "a: {{ a | nofilter }}\n");
        let first = catalog.run(&["import", "."]).expect(0);
        first
            .says(&["warning[E0401]: filter `nofilter` not found\n --> ./job.tera.yaml:1:11", "added job version 1"])
            .says(&["added web version 1", "2 new, 0 unchanged"]);
        catalog.run(&["import", "."]).expect(0).says(&["0 new, 2 unchanged"]);
        assert_eq!(catalog.run(&["labels", "web"]).expect(0).stdout, "LABEL\nenv=prod\nteam=a\n");
        catalog.sandbox.write("job.tera.yaml", "b: {{ b | nofilter }}\n");
        catalog.sandbox.write("odd.tera", "{{ }}\n{% if %}");
        catalog.sandbox.write("sound.tera", "c: {{ c }}");
        // All failures are reported, and the other templates are added.
        let strict = catalog.run(&["import", ".", "--strict"]).expect(1);
        strict
            .says(&["error[E0401]", "./job.tera.yaml:1:11", "error[E0101]", "./odd.tera:1:4", "./odd.tera:2:7"])
            .says(&["added sound version 1", "1 new, 1 unchanged"]);
        catalog.run(&["import", "nowhere"]).expect(1).says(&["cannot read `nowhere`"]);
    });
}

#[test]
fn warnings_have_positions() {
    Catalog::each(|catalog| {
        catalog.sandbox.write("odd.tera", "a: {{ nmae }}\nb: {% for p in n %}{{ p }}{% endfor %}{{ 1 | nope }}");
        let create = ["create", "odd", "odd.tera", "--schema", "web.schema.json"];
        let made = catalog.run(&create).expect(0);
        made.says(&["warning[E1003]: `nmae` is read", " --> odd.tera:1:7", "^^^^\n", "did you mean `name`?"])
            .says(&["warning[E0401]: filter `nope` not found", " --> odd.tera:2:"]);
        let strict = catalog.run(&[create.as_slice(), &["--strict"]].concat()).expect(1);
        strict.says(&["error[E1003]: `nmae` is read", " --> odd.tera:1:7"]);
        // JSON errors of a service list the reasons for a refusal.
        let refused = catalog.run(&[create.as_slice(), &["--strict", "--error-format", "json"]].concat()).expect(1);
        refused.says(&["\"refusal\":\"template_review_failed\"", "\"column\":7"]);
        catalog.sandbox.write("bad.json", "{\"type\": 1}");
        let refused = catalog.run(&["create", "odd", "odd.tera", "--schema", "bad.json"]).expect(1);
        refused.says(&["invalid_parameters_schema", "template: odd.tera"]);
        // Warnings about rendered text are included.
        catalog.sandbox.write("text.tera", "a: {{ v }}");
        catalog.run(&["create", "text", "text.tera"]).expect(0);
        catalog.run(&["generator", "create", "team"]).expect(0);
        catalog.run(&["stack", "create", "shop", "--generator", "team"]).expect(0);
        let made = catalog.run(&["instantiate", "text", "--stack", "shop", "--set-string", "v=[1"]).expect(0);
        made.says(&["output.not_yaml", " --> text@1 (rendered):1:"]);
        let many: String = (0..200).map(|n| format!("{{{{ x{n} }}}}")).collect();
        catalog.sandbox.write("many.tera", &many);
        let made = catalog.run(&["create", "many", "many.tera", "--schema", "web.schema.json"]).expect(0);
        made.says(&["`x0` is read", "more findings in `many.tera`"]);
    });
}

#[test]
fn a_service_is_asked_with_a_key_that_it_knows() {
    let catalog = Sandbox::new();
    let service = Service::start(&catalog);
    let list = |key: Option<&str>, url: &str| {
        let mut command = catalog.command(&["catalog", "list", "--server", url]);
        key.map(|key| command.env("DROPFORGE_KEY", key));
        outcome(command)
    };
    list(Some(&service.key), &service.url).expect(0);
    list(Some("nonsense"), &service.url).expect(1).says(&["E1001", "rejected the key"]);
    list(None, &service.url).expect(2).says(&["DROPFORGE_KEY"]);
    list(Some(&service.key), "http://127.0.0.1:1").expect(1).says(&["E1002", "cannot reach"]);
    // The first key is created only once.
    let again = catalog.command(&["catalog", "--db", "served.db", "key", "list", "--json"]);
    let keys: serde_json::Value = serde_json::from_str(&outcome(again).expect(0).stdout).unwrap();
    assert_eq!(keys.as_array().unwrap().len(), 1);
}

#[test]
fn unopenable_catalogs_are_errors() {
    let sandbox = Sandbox::with(&[("text.db", "this is no database, however long it may be, and it stays as it is")]);
    sandbox.run(&["catalog", "--db", "text.db", "list"]).expect(1).says(&["E1002"]);
    sandbox.run(&["serve", "--db", "text.db", "--listen", "127.0.0.1:0"]).expect(1).says(&["E1002", "text.db"]);
    sandbox.run(&["serve", "--rate-limit", "0"]).expect(2).says(&["expected a number greater than 0, or `off`"]);
    sandbox.run(&["serve", "--quota-objects", "x"]).expect(2).says(&["expected a number, or `off`"]);
    sandbox.run(&["serve", "--quota-bytes", "1 mile"]).expect(2).says(&["expected a size"]);
    sandbox.run(&["serve", "--probe-listen", "here"]).expect(2).says(&["--probe-listen"]);
    assert!(sandbox.read("text.db").starts_with("this is no database"));
}

/// A shell runs the commands of the page about the catalog, at a free address.
#[test]
fn the_page_starts_a_service_and_uses_it() {
    let page = Page::read("docs/catalog.md");
    let sandbox = page.sandbox();
    let (_, commands) = page.blocks().find(|(_, block)| block.starts_with("dropforge serve --init")).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let script = commands
        .replace("dropforge serve", &format!("dropforge serve --listen {free}"))
        .replace("127.0.0.1:3000", &free);
    let shell = sandbox.shell("-ec", &format!("{script}\nkill $!"));
    let done = outcome(shell).expect(0);
    assert!(done.stdout.contains("  name: cart\n") && done.stdout.contains(": verified, sha256 "), "{}", done.stdout);
}

#[test]
fn a_packed_chart_is_a_template() {
    Catalog::each(|catalog| {
        catalog.filled();
        let sandbox = &catalog.sandbox;
        sandbox.write("shop/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
        sandbox.write("shop/values.yaml", "port: 80\n");
        sandbox.write("shop/templates/a.yaml", "kind: Service\nname: {{ .Release.Name }}\nport: {{ .Values.port }}\n");
        let pack = |to: &str| {
            let mut tar = Command::new("tar");
            tar.args(["czf", to, "shop"]).current_dir(sandbox.path("."));
            assert!(tar.status().unwrap().success());
        };
        pack("one.tgz");
        catalog.run(&["create", "shop", "shop"]).expect(2).says(&["`shop` is not a packed Helm chart", "helm package"]);
        catalog.run(&["create", "shop", "one.tgz"]).expect(0);
        let made = catalog.run(&["instantiate", "shop", "--stack", "shop", "--set", "port=81"]).expect(0).stdout;
        assert_eq!(made, "---\n# Source: shop/templates/a.yaml\nkind: Service\nname: shop\nport: 81\n");
        catalog.run(&["verify", "shop"]).expect(0);
        let shown = catalog.run(&["show", "shop"]).expect(0).stdout;
        assert!(shown.contains("--- template\npacked Helm chart, SHA-256 "), "{shown}");
        sandbox.write("shop/templates/a.yaml", "kind: Service\n{{ end }}\n");
        pack("two.tgz");
        catalog.run(&["update", "shop", "two.tgz"]).expect(1).says(&["shop/templates/a.yaml:2:"]);
        sandbox.write("shop/templates/a.yaml", "kind: Service\n");
        pack("two.tgz");
        catalog.run(&["update", "shop", "two.tgz"]).expect(0);
        // A directory gives a chart its own name, and nothing new for one that is there.
        fs::create_dir(sandbox.path("all")).unwrap();
        fs::rename(sandbox.path("two.tgz"), sandbox.path("all/shop-1.0.0.tgz")).unwrap();
        catalog.run(&["import", "all"]).expect(0).says(&["0 new, 1 unchanged"]);
        sandbox.write("all/shop.labels", "env=prod\n");
        sandbox.write("shop/values.yaml", "port: 90\n");
        pack("all/shop-1.0.0.tgz");
        catalog.run(&["import", "all"]).expect(0).says(&["added shop version 3", "1 new, 0 unchanged"]);
        assert_eq!(catalog.run(&["labels", "shop"]).expect(0).stdout, "LABEL\nenv=prod\n");
        sandbox.write("all/broken.tgz", "no archive");
        catalog.run(&["import", "all"]).expect(1).says(&["cannot unpack the chart archive", "0 new, 1 unchanged"]);
        let diff = catalog.run(&["diff", "shop", "--with", "shop@1"]).expect(3).stdout;
        assert!(diff.contains("-packed Helm chart, SHA-256 "), "{diff}");
        assert!(catalog.run(&["diff", "shop"]).expect(3).stdout.contains("-port: 81\n"));
    });
}
