//! The files in `deploy/`: stamped manifests are current, and every file agrees with the service.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::service::{KEY, Service};
use crate::support::Sandbox;

fn deploy(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(deploy(name)).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { fs::copy(entry.path(), to).map(|_| ()).unwrap() }
    }
}

/// A sandbox with the project of the manifests.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    copy(&deploy("kubernetes"), &sandbox.path(""));
    sandbox
}

/// The documents of a YAML file, as dropforge's own reader sees them.
fn documents(text: &str) -> Vec<Json> {
    let parts = text.split("\n---\n").map(|part| {
        let sandbox = Sandbox::with(&[("value.yaml", part)]);
        let shown = sandbox.run(&["values", "-f", "value.yaml", "--output-format", "json"]);
        serde_json::from_str(&shown.expect(0).stdout).unwrap()
    });
    parts.collect()
}

#[test]
fn the_manifests_are_what_dropforge_stamps() {
    let sandbox = project();
    sandbox.run(&["stamp", "--check"]).expect(0);
    let values = sandbox.read("values.yaml").replace("replicas: 2", "replicas: 4");
    sandbox.write("values.yaml", &values);
    sandbox.run(&["stamp", "--check"]).expect(3);
}

/// Fields of a manifest that the service depends on.
#[test]
fn the_manifests_fit_the_service() {
    for cluster in ["staging", "production"] {
        let documents = documents(&read(&format!("kubernetes/out/{cluster}/catalog.yaml")));
        let of_kind = |kind: &str| documents.iter().find(|one| one["kind"] == kind).unwrap();
        let kinds: Vec<_> =
            documents.iter().map(|one| (one["apiVersion"].as_str().unwrap(), one["kind"].as_str().unwrap())).collect();
        let expected = [
            ("v1", "ConfigMap"),
            ("apps/v1", "Deployment"),
            ("v1", "Service"),
            ("policy/v1", "PodDisruptionBudget"),
            ("networking.k8s.io/v1", "Ingress"),
        ];
        assert_eq!(kinds, expected);
        let pod = &of_kind("Deployment")["spec"]["template"];
        let labels = &pod["metadata"]["labels"];
        for selector in [
            &of_kind("Deployment")["spec"]["selector"]["matchLabels"],
            &of_kind("Service")["spec"]["selector"],
            &of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        ] {
            assert_eq!(selector, labels);
        }
        let container = &pod["spec"]["containers"][0];
        let (port, probes) = (&container["ports"][0], &container["ports"][1]);
        assert_eq!(of_kind("Service")["spec"]["ports"][0]["targetPort"], port["name"]);
        let mounted: Vec<_> = container["volumeMounts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        let volumes: Vec<_> = pod["spec"]["volumes"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(mounted, volumes);

        // The service starts with this configuration, and answers these probes.
        let config = of_kind("ConfigMap")["data"]["serve.toml"].as_str().unwrap();
        let listen = format!("listen = \"0.0.0.0:{}\"", port["containerPort"]);
        assert!(config.contains(&listen), "{config}");
        let sandbox = Sandbox::with(&[("admin.key", KEY)]);
        let path = sandbox.path("admin.key").display().to_string();
        let probe_listen = format!("probe-listen = \"0.0.0.0:{}\"", probes["containerPort"]);
        assert!(config.contains(&probe_listen), "{config}");
        let config = config.replace(&probe_listen, "").replace(&listen, "listen = \"127.0.0.1:0\"");
        let config = config.replace("/secrets/admin.key", &path);
        sandbox.write("serve.toml", &config);
        let args: Vec<_> = container["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        assert_eq!(args, ["serve", "--config", "/config/serve.toml"]);
        let mut command = sandbox.command(&["serve", "--config", "serve.toml"]);
        command.env(container["env"][0]["name"].as_str().unwrap(), "catalog.db");
        let service = Service::of(command);
        service.catalog(&sandbox, &["list"]).expect(0);
        for probe in ["readinessProbe", "livenessProbe"] {
            assert_eq!(container[probe]["httpGet"]["port"], probes["name"]);
            let url = format!("{}{}", service.url, container[probe]["httpGet"]["path"].as_str().unwrap());
            assert_eq!(ureq::get(&url).call().unwrap().status().as_u16(), 200, "{url}");
        }
        service.stop();
    }
}

/// Renders the Jobs of a sharded fleet in a copy of their example.
fn fleet_job(more: &[&str]) -> crate::support::Outcome {
    let sandbox = Sandbox::of_example("fleet-job");
    sandbox.run(&[&["render", "fleet-job.yaml.tera", "-f", "values.yaml"], more].concat())
}

#[test]
fn the_jobs_of_a_fleet_are_what_dropforge_renders() {
    let manifest = read("kubernetes/fleet-job.yaml");
    assert_eq!(fleet_job(&[]).expect(0).stdout, manifest);
    let jobs = documents(&manifest);
    let [stamp, finish] = jobs.as_slice() else { panic!("{}", jobs.len()) };
    let (shards, spec) = (&stamp["spec"]["completions"], &stamp["spec"]);
    assert_eq!((spec["completionMode"].as_str(), shards.as_u64()), (Some("Indexed"), Some(16)));
    assert!(spec["backoffLimitPerIndex"].is_u64() && spec["maxFailedIndexes"].is_u64());
    let args = |job: &Json| {
        let args = job["spec"]["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
        args.iter().map(|arg| arg.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (stamping, finishing) = (args(stamp), args(finish));
    // Both read and write the same files.
    assert_eq!(stamping[..8], finishing[..8]);
    assert_eq!(stamping[8..], ["--shards", &shards.to_string()]);
    assert_eq!(finishing[8..], ["--finish", &shards.to_string(), "--prune"]);
    for job in &jobs {
        let pod = &job["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        assert_eq!((&pod["restartPolicy"], &pod["automountServiceAccountToken"]), (&"Never".into(), &false.into()));
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(container["env"][0]["value"], container["volumeMounts"][2]["mountPath"]);
        let rules = &job["spec"]["podFailurePolicy"]["rules"];
        assert_eq!(rules[1]["onExitCodes"]["values"], serde_json::json!([2, 4]));
        assert_eq!(rules[1]["onExitCodes"]["containerName"], container["name"]);
    }
}

#[test]
fn the_jobs_of_a_fleet_fit_the_published_schema() {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let schemas = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(target).join("kubernetes-schemas/schemas");
    if !schemas.exists() {
        assert!(std::env::var_os("CI").is_none(), "spec-tests/kubernetes/install was not run");
        eprintln!("skipped: spec-tests/kubernetes/install was not run");
        return;
    }
    let schemas = schemas.display().to_string();
    fleet_job(&["--strict", "--kube-schemas", &schemas]).expect(0);
    let wrong = ["--kube-schemas", &schemas, "--set-string", "shards=many"];
    fleet_job(&wrong).expect(1).says(&["`spec.completions` does not fit the schema of `batch/v1` `Job`"]);
}

#[test]
fn the_options_of_the_compose_file_and_the_image_exist() {
    let compose = &documents(&read("compose.yaml"))[0];
    let service = &compose["services"]["catalog"];
    let words = |value: &Json| -> Vec<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let help = Sandbox::new().run(&["serve", "--help"]).expect(0).stdout;
    for option in words(&service["command"]).iter().filter(|word| word.starts_with("--")) {
        assert!(help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")), "{option}");
    }
    let secrets = compose["secrets"].as_object().unwrap();
    for user in compose["services"].as_object().unwrap().values() {
        assert!(words(&user["secrets"]).iter().all(|name| secrets.contains_key(name)));
    }
    let image = read("Dockerfile");
    for variable in image.split([' ', '\n']).filter_map(|word| word.split_once('=')).map(|(name, _)| name) {
        assert!(!variable.starts_with("DROPFORGE_") || help.contains(&format!("[env: {variable}")), "{variable}");
    }
    assert!(deploy(service["build"]["dockerfile"].as_str().unwrap().trim_start_matches("deploy/")).exists());
}

#[test]
fn the_unit_and_its_configuration_are_sound() {
    let sandbox = Sandbox::with(&[("admin.key", KEY)]);
    let config = read("systemd/serve.toml").replace("127.0.0.1:3000", "127.0.0.1:0").replace("/var/lib/dropforge/", "");
    sandbox.write("serve.toml", &config);
    let service = Service::start(&sandbox, &["--config", "serve.toml"]);
    service.catalog(&sandbox, &["list"]).expect(0);
    service.stop();

    let unit = read("systemd/dropforge.service").replace("/usr/local/bin/dropforge", env!("CARGO_BIN_EXE_dropforge"));
    sandbox.write("dropforge.service", &unit);
    let verify =
        Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(sandbox.path("dropforge.service")).output();
    let Ok(verify) = verify else {
        assert!(std::env::var_os("CI").is_none(), "systemd-analyze is missing");
        eprintln!("skipped: there is no systemd-analyze here");
        return;
    };
    let said = String::from_utf8_lossy(&verify.stderr);
    let about_it: Vec<_> = said.lines().filter(|line| line.contains("dropforge.service")).collect();
    assert_eq!(about_it, Vec::<&str>::new(), "{said}");
}
