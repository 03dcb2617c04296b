//! `push`, `pull` and references in place of templates, on a real registry.

use std::process::{Command, Output};

use dropforge::diagnostics::Code;
use dropforge::remote::oci::{self, Reference};
use tempfile::TempDir;

use crate::proxy::{Fault, Proxy, read_request};
use crate::servers::{Server, request};

/// A directory with an artifact, and the command in it.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().expect("a directory") };
        let write = |name: &str, text: &str| std::fs::write(world.dir.path().join(name), text).expect("a file");
        std::fs::create_dir(world.dir.path().join("t")).expect("a directory");
        write("t/a.yaml.tera", "name: {{ name }}\n");
        write("t/b.yaml.tera", "kind: {{ name | upper }}\n");
        write("one.tera", "hi {{ name }}\n");
        world.ok(&["compile", "t", "-o", "t.mpk"]);
        world.ok(&["compile", "one.tera", "-o", "one.mpk"]);
        world
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        command
            .current_dir(self.dir.path())
            .args(args)
            .env("DROPFORGE_CACHE", "")
            .env("DOCKER_CONFIG", self.dir.path());
        command.output().expect("the command runs")
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    #[track_caller]
    fn fails(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).expect("UTF-8")
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.dir.path().join(name)).expect("a file")
    }
}

#[test]
fn an_artifact_is_pushed_pulled_and_rendered() {
    let (world, server) = (World::new(), Server::registry(false));
    let tagged = format!("oci://{}/acme/templates:v1", server.address);
    let digested = world.ok(&["push", "t.mpk", &tagged]);
    let digested = digested.trim();
    assert!(digested.starts_with(&format!("{tagged}@sha256:")), "{digested}");
    assert_eq!(world.ok(&["push", "t.mpk", &tagged]).trim(), digested, "the same bytes have the same digest");
    for url in [tagged.as_str(), digested] {
        world.ok(&["pull", url, "-o", "pulled.mpk"]);
        assert!(world.read("pulled.mpk") == world.read("t.mpk"));
    }
    let rendered = world.ok(&["render", digested, "--template", "a.yaml.tera", "--set", "name=x"]);
    assert_eq!(rendered, "name: x\n");
    world.ok(&["check", &tagged]);
    assert!(world.ok(&["inspect", &tagged]).contains("a.yaml.tera"));

    let reference: Reference = tagged["oci://".len()..].parse().expect("a reference");
    let pulled = oci::pull(&reference, 1 << 20).expect("pulled");
    assert!(pulled.annotations[oci::TEMPLATES].starts_with("{\"a.yaml.tera\":\""), "{:?}", pulled.annotations);
    assert_eq!(pulled.annotations[oci::DIGEST].len(), 32);
}

#[test]
fn digests_are_checked() {
    let (world, server) = (World::new(), Server::registry(false));
    let url = format!("oci://{}/acme/t", server.address);
    world.ok(&["push", "t.mpk", &format!("{url}:v1")]);
    world.ok(&["push", "one.mpk", &format!("{url}:v2")]);
    let wrong = format!("{url}@sha256:{}", "0".repeat(64));
    assert!(world.fails(&["pull", &wrong, "-o", "x"]).contains("does not exist"));
    assert!(world.fails(&["push", "t.mpk", &wrong]).contains("push to a tag"));
    assert!(world.fails(&["pull", &format!("{url}:none"), "-o", "x"]).contains("does not exist"));
    // A registry that serves another manifest for the digest.
    let reference: Reference = format!("{}/acme/t:v2", server.address).parse().expect("a reference");
    let other = oci::pull(&reference, 1 << 20).expect("pulled").digest;
    let lying = lying_registry(server.address, "/manifests/");
    let wrong: Reference = format!("{lying}/acme/t:v1@{other}").parse().expect("a reference");
    assert_eq!(oci::pull(&wrong, 1 << 20).map_err(|error| error.code), Err(Code::WrongDigest));
    let lying = lying_registry(server.address, "/blobs/");
    let wrong: Reference = format!("{lying}/acme/t:v1").parse().expect("a reference");
    assert_eq!(oci::pull(&wrong, 1 << 20).map_err(|error| error.code), Err(Code::WrongDigest));
    assert!(!world.dir.path().join("x").exists());
}

/// Serves a registry, with one character changed in the bodies of the resources whose path contains `part`.
fn lying_registry(server: std::net::SocketAddr, part: &'static str) -> std::net::SocketAddr {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten().take(20) {
            let mut head = [0; 8_192];
            let read = client.read(&mut head).unwrap_or(0);
            let text = String::from_utf8_lossy(&head[..read]).into_owned();
            let Some(line) = text.lines().next().map(str::to_owned) else { continue };
            let accept = "Accept: application/vnd.oci.image.manifest.v1+json";
            let lied = line.replace(line.split("/manifests/").nth(1).unwrap_or("\0"), "v1 HTTP/1.1");
            let reply = request(server, &format!("{lied}\r\nHost: {server}\r\n{accept}\r\n"));
            let (reply_head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
            let body = if line.contains(part) { body.replacen("dropforge", "dropforgE", 1) } else { body.to_owned() };
            let body = if line.contains("/blobs/") { body.replace('\u{fffd}', "?") } else { body };
            let kept: Vec<_> = reply_head.lines().filter(|one| !one.starts_with("Content-Length")).collect();
            let _ = write!(client, "{}\r\nContent-Length: {}\r\n\r\n{body}", kept.join("\r\n"), body.len());
        }
    });
    address
}

#[test]
fn credentials_come_from_the_configuration() {
    let (world, server) = (World::new(), Server::registry(true));
    let url = format!("oci://{}/acme/t:v1", server.address);
    let denied = world.fails(&["push", "t.mpk", &url]);
    assert!(denied.contains("denies access without credentials") && denied.contains("docker login"), "{denied}");
    let config = |auth: &str| {
        let json = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"{auth}\"}}}}}}", server.address);
        std::fs::write(world.dir.path().join("config.json"), json).expect("a configuration");
    };
    // me:wrong
    config("bWU6d3Jvbmc=");
    let denied = world.fails(&["push", "t.mpk", &url]);
    assert!(denied.contains("denies access with the credentials") && !denied.contains("wrong"), "{denied}");
    // me:secret
    config("bWU6c2VjcmV0");
    world.ok(&["push", "t.mpk", &url]);
    world.ok(&["pull", &url, "-o", "pulled.mpk"]);
    assert!(world.read("pulled.mpk") == world.read("t.mpk"));
}

/// Passes requests with a token on to a registry, and gives tokens for `me:secret`.
fn token_registry(server: std::net::SocketAddr) -> std::net::SocketAddr {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten().take(100) {
            let Ok(Some(bytes)) = read_request(&mut client) else { continue };
            let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
            let asks_token = text.starts_with("get /token?service=s%26t&scope=repository%3aacme ");
            if asks_token && text.contains("authorization: basic bwu6c2vjcmv0") {
                let _ = write!(client, "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{{\"token\":\"tok\"}}");
            } else if text.contains("authorization: bearer tok\r\n") {
                let mut upstream = std::net::TcpStream::connect(server).expect("the registry");
                upstream.write_all(&bytes).expect("sent");
                let mut reply = Vec::new();
                upstream.read_to_end(&mut reply).expect("a reply");
                let _ = client.write_all(&reply);
            } else {
                let challenge =
                    format!("Bearer realm=\"http://{address}/token\",service=\"s&t\",scope=\"repository:acme\"");
                let _ = write!(client, "HTTP/1.1 401 No\r\nWWW-Authenticate: {challenge}\r\nContent-Length: 0\r\n\r\n");
            }
        }
    });
    address
}

#[test]
fn tokens_are_asked_for() {
    let (world, server) = (World::new(), Server::registry(false));
    let address = token_registry(server.address);
    let url = format!("oci://{address}/acme/t:v1");
    assert!(world.fails(&["push", "t.mpk", &url]).contains("denies access"));
    let json = format!("{{\"auths\": {{\"http://{address}/v2/\": {{\"auth\": \"bWU6c2VjcmV0\"}}}}}}");
    std::fs::write(world.dir.path().join("config.json"), json).expect("a configuration");
    world.ok(&["push", "t.mpk", &url]);
    world.ok(&["pull", &url, "-o", "pulled.mpk"]);
    assert!(world.read("pulled.mpk") == world.read("t.mpk"));
}

#[test]
fn faults_on_the_way_are_mended() {
    let (world, server) = (World::new(), Server::registry(false));
    let proxy = Proxy::start(server.address, |number, _| match number % 4 {
        0 => [Fault::Busy, Fault::Reset, Fault::Cut, Fault::Slow, Fault::ResetAfter][number / 4 % 5],
        _ => Fault::None,
    });
    for name in 0..8 {
        // Names of their own: each has to upload.
        let url = format!("oci://{}/acme/t{name}:v", proxy.address);
        world.ok(&["push", "t.mpk", &url]);
        world.ok(&["pull", &url, "-o", "pulled.mpk"]);
        assert!(world.read("pulled.mpk") == world.read("t.mpk"));
    }
    assert!(proxy.faulty() > 8);
}

#[test]
fn other_content_and_urls_are_refused() {
    let (world, server) = (World::new(), Server::registry(false));
    for (args, part) in [
        (vec!["push", "one.tera", "oci://localhost:1/a:b"], "not an artifact"),
        (vec!["push", "t.mpk", "s3://bucket/a"], "not a URL of an OCI registry"),
        (vec!["push", "t.mpk", "oci://a:b"], "names no registry"),
        (vec!["pull", "r.io/a:b", "-o", "x"], "not a URL of an OCI registry"),
    ] {
        let error = world.fails(&args);
        assert!(error.contains(part), "{args:?}: {error}");
    }
    // An image, which is no artifact of ours.
    let manifest = "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":\"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\"size\":2},\"layers\":[]}";
    world.ok(&["push", "t.mpk", &format!("oci://{}/acme/t:v1", server.address)]);
    let head = format!(
        "PUT /v2/acme/t/manifests/image HTTP/1.1\r\nHost: {}\r\nContent-Type: application/vnd.oci.image.manifest.v1+json\r\nContent-Length: {}\r\n",
        server.address,
        manifest.len()
    );
    let reply = send(server.address, &head, manifest);
    assert!(reply.contains("201 Created"), "{reply}");
    let error = world.fails(&["pull", &format!("oci://{}/acme/t:image", server.address), "-o", "x"]);
    assert!(error.contains("is not an artifact of dropforge"), "{error}");
    // Too long for the limit.
    let url = format!("oci://{}/acme/t:v1", server.address);
    assert!(world.fails(&["--max-input", "10", "pull", &url, "-o", "x"]).contains("too long"));
}

fn send(address: std::net::SocketAddr, head: &str, body: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("a connection");
    write!(stream, "{head}Connection: close\r\n\r\n{body}").expect("sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    reply
}
