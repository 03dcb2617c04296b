//! `deps` with the certificates in Helm's list of repositories.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
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

/// A server with TLS for the files in the current folder. It wants a certificate of its clients, and prints its port.
const SERVER: &str = "
import http.server, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('../server.crt', '../server.key')
context.load_verify_locations('../ca.crt')
context.verify_mode = ssl.CERT_REQUIRED
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
";

/// A running server, and its port.
struct Tls(Child, u16);

impl Tls {
    fn start(world: &World) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", SERVER]).current_dir(world.path("served"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("python3");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        Self(child, line.trim().parse().expect("a port"))
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

fn has_python() -> bool {
    let has = Command::new("python3").args(["-c", "import ssl"]).status().is_ok_and(|status| status.success());
    if !has {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing");
        eprintln!("skipped: there is no python3 here");
    }
    has
}

#[test]
fn a_registry_gets_the_certificate_in_the_folder_of_docker() {
    if !has_python() {
        return;
    }
    let world = World::new();
    write_certificates(&world);
    let archive = world.packed("web", "1.2.0");
    let blob = |kind: &str, bytes: &[u8]| {
        let digest = format!("sha256:{}", hex(bytes));
        world.write(&format!("served/v2/charts/web/blobs/{digest}"), bytes);
        serde_json::json!({ "mediaType": kind, "digest": digest, "size": bytes.len() })
    };
    let config = blob("application/vnd.cncf.helm.config.v1+json", b"{}");
    let layer = blob("application/vnd.cncf.helm.chart.content.v1.tar+gzip", &archive);
    let manifest = serde_json::json!({ "schemaVersion": 2, "config": config, "layers": [layer] });
    world.write("served/v2/charts/web/manifests/1.2.0", manifest.to_string());
    let tls = Tls::start(&world);
    let (host, folder) =
        (format!("127.0.0.1:{}", tls.1), world.path("docker/certs.d").join(format!("127.0.0.1:{}", tls.1)));
    world.depends("web", "1.2.0", &format!("oci://{host}/charts"));
    let give = |entries: &[(&str, &str)]| {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        for (to, from) in entries {
            std::fs::copy(world.path(from), folder.join(to)).expect("copied");
        }
    };
    let (ca, certificate, key) = (("ca.crt", "ca.crt"), ("client.cert", "client.crt"), ("client.key", "client.key"));
    give(&[ca, certificate, key]);
    world.ok(&["deps", "update", "top"]);
    assert!(world.path("top/charts/web-1.2.0.tgz").is_file());
    for (entries, part) in [
        (&[ca][..], "E11"),
        (&[certificate, key], "not signed by an authority that is trusted"),
        (&[("ca.crt", "other.crt"), certificate, key], "not signed by an authority that is trusted"),
        (&[ca, certificate], "has no key"),
        (&[ca, certificate, ("client.key", "server.key")], "the key of another one"),
        (&[("ca.crt", "ca.key"), certificate, key], "no certificate in PEM form"),
    ] {
        give(entries);
        let error = world.fails(&["deps", "update", "top", "--timeout", "2s"]);
        assert!(error.contains(part) && !error.contains("PRIVATE"), "{entries:?}: {error}");
    }
}

#[test]
fn a_repository_gets_the_certificate_of_its_client() {
    if !has_python() {
        return;
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
