//! `deps` with the certificates in Helm's list of repositories.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::charts::{World, hex};
use crate::web::Web;

/// Makes an authority, a certificate of a server on this machine and one of a client, each with its key.
const SECRET: &str = r#"{{- $ca := genCA "authority" 30 -}}
{{- $other := genCA "other" 30 -}}
{{- $server := genSignedCert "server" (list "127.0.0.1") nil 30 $ca -}}
{{- $client := genSignedCert "client" nil nil 30 $ca -}}
{{- $stranger := genSignedCert "stranger" nil nil 30 $other -}}
made: {{ dict "ca" $ca "other" $other "server" $server "client" $client "stranger" $stranger | toJson }}
"#;

/// A server with TLS for files in a folder. It wants a certificate of its clients.
struct Tls(Child, u16);

impl Tls {
    fn start(world: &World) -> Self {
        let mut command = Command::new("openssl");
        command.args(["s_server", "-accept", "127.0.0.1:0", "-cert", "../server.crt", "-key", "../server.key", "-WWW"]);
        command.args(["-CAfile", "../ca.crt", "-Verify", "1", "-verify_return_error"]);
        command.current_dir(world.path("served")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("openssl");
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        let (mut line, mut port) = (String::new(), None);
        while port.is_none() && lines.read_line(&mut line).expect("a line") > 0 {
            port = line.trim().strip_prefix("ACCEPT ").and_then(|at| at.rsplit(':').next()?.parse().ok());
            line.clear();
        }
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        Self(child, port.expect("a port"))
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn write_certificates(world: &World) {
    world.write("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    world.write("c/templates/secret.yaml", SECRET);
    let text = world.ok(&["render", "c", "--allow", "random"]);
    let line = text.lines().find_map(|line| line.strip_prefix("made: ")).expect("a line");
    let made: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(line).expect("JSON");
    for (name, pair) in &made {
        world.write(&format!("{name}.crt"), &pair["Cert"]);
        world.write(&format!("{name}.key"), &pair["Key"]);
    }
}

/// Writes the entry of the repository `mine`.
fn configure(world: &World, url: &str, entries: &[(&str, &str)]) {
    let path = |(key, value): &(&str, &str)| match *key {
        "insecure_skip_tls_verify" => format!("  {key}: {value}\n"),
        _ => format!("  {key}: {}\n", world.path(value).display()),
    };
    let entries: String = entries.iter().map(path).collect();
    world.write("helm/repositories.yaml", format!("repositories:\n- name: mine\n  url: {url}\n{entries}"));
}

#[test]
fn a_repository_gets_the_certificate_of_its_client() {
    if !Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("CI").is_none(), "openssl is missing");
        return eprintln!("skipped: there is no openssl here");
    }
    let world = World::new();
    write_certificates(&world);
    let archive = world.packed("web", "1.2.0");
    let elsewhere = Web::files([("/web-1.2.0.tgz".to_owned(), archive.clone())].into());
    let index = |url: &str| {
        let digest = hex(&archive);
        format!("entries:\n  web:\n  - {{name: web, version: 1.2.0, digest: {digest}, urls: ['{url}']}}\n")
    };
    world.write("served/web-1.2.0.tgz", &archive);
    world.write("served/index.yaml", index("web-1.2.0.tgz"));
    let tls = Tls::start(&world);
    let url = format!("https://127.0.0.1:{}", tls.1);
    world.depends("web", "^1", "@mine");
    let (ca, certificate, key) = (("caFile", "ca.crt"), ("certFile", "client.crt"), ("keyFile", "client.key"));
    let insecure = ("insecure_skip_tls_verify", "true");
    for entries in [&[ca, certificate, key][..], &[insecure, certificate, key]] {
        configure(&world, &url, entries);
        world.ok(&["deps", "update", "top"]);
        assert!(world.path("top/charts/web-1.2.0.tgz").is_file());
        std::fs::remove_dir_all(world.path("top/charts")).expect("removed");
    }
    // Archives elsewhere are fetched as well.
    world.write("served/index.yaml", index(&format!("{}/web-1.2.0.tgz", elsewhere.url())));
    configure(&world, &url, &[insecure, certificate, key]);
    world.ok(&["deps", "update", "top"]);
    for (entries, part) in [
        (&[ca][..], "E11"),
        (&[ca, ("certFile", "stranger.crt"), ("keyFile", "stranger.key")], "E11"),
        (&[certificate, key], "not signed by an authority that is trusted"),
        (&[ca, certificate], "`certFile` without `keyFile`"),
        (&[ca, key], "`keyFile` without `certFile`"),
        (&[ca, certificate, ("keyFile", "server.key")], "cannot be used with its certificate"),
        (&[ca, certificate, ("keyFile", "client.crt")], "no key in PEM form"),
        (&[ca, ("certFile", "client.key"), key], "no certificate in PEM form"),
        (&[("caFile", "client.key"), certificate, key], "no certificate in PEM form"),
        (&[ca, certificate, ("keyFile", "none.key")], "none.key"),
    ] {
        configure(&world, &url, entries);
        let error = world.fails(&["deps", "update", "top", "--timeout", "2s"]);
        assert!(error.contains(part) && !error.contains("PRIVATE"), "{entries:?}: {error}");
    }
}
