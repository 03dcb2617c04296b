//! `deps` with servers that do not answer, or drip.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::charts::{World, hex};
use crate::proxy::read_request;

/// What a server does with a request.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    Silent,
    Dripping,
}

/// Maximum time of a command that gives up after a second, or is interrupted.
const BOUND: Duration = Duration::from_secs(20);

/// Serves files, but the one at `slow` at a pace. Returns the URL. The threads end with the process.
fn serve(files: BTreeMap<String, Vec<u8>>, slow: &'static str, pace: Pace) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = files.clone();
            thread::spawn(move || answer(stream, &files, slow, pace));
        }
    });
    url
}

fn answer(mut stream: TcpStream, files: &BTreeMap<String, Vec<u8>>, slow: &str, pace: Pace) -> Option<()> {
    let head = String::from_utf8(read_request(&mut stream).ok()??).ok()?;
    let path = head.split(' ').nth(1)?;
    let body = files.get(path)?;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    if path != slow {
        return stream.write_all(&[head.as_bytes(), body].concat()).ok();
    }
    if pace == Pace::Dripping {
        stream.write_all(head.as_bytes()).ok()?;
        for byte in body {
            stream.write_all(&[*byte]).and_then(|()| stream.flush()).ok()?;
            thread::sleep(Duration::from_millis(500));
        }
    }
    thread::sleep(Duration::from_secs(600));
    Some(())
}

/// Writes a chart and a project that depend on a chart of a slow server. Returns the URL of the server.
fn slow_world(world: &World, slow: &'static str, pace: Pace) -> String {
    let archive = world.packed("web", "1.2.0");
    let index = format!(
        "apiVersion: v1\nentries:\n  web:\n  - {{name: web, version: 1.2.0, digest: {}, urls: [web-1.2.0.tgz]}}\n",
        hex(&archive)
    );
    let files = [("/index.yaml", index.into_bytes()), ("/web-1.2.0.tgz", archive)];
    let url = serve(files.map(|(path, bytes)| (path.to_owned(), bytes)).into(), slow, pace);
    world.depends("web", "^1", &url);
    world.write("top/Chart.lock", "dependencies: []\ndigest: old\ngenerated: \"2020-01-01T00:00:00Z\"\n");
    world.write("top/charts/web-0.9.0.tgz", world.packed("web", "0.9.0"));
    let project = format!(
        "fleet = [\"fleet.yaml\"]\n[repositories]\nr = \"{url}\"\n[[release]]\nname = \"web\"\nchart = \"r/web\"\nversion = \"^1\"\n"
    );
    world.write("project/dropforge.toml", project);
    world.write("project/dropforge.lock", "");
    world.write("cache/charts/old", "old");
    url
}

fn state(world: &World) -> Vec<BTreeMap<String, Vec<u8>>> {
    ["top", "project", "cache"].map(|folder| world.files(folder)).to_vec()
}

#[test]
fn a_server_without_progress_is_given_up_and_named() {
    for (slow, step) in
        [("/index.yaml", "cannot read the index of charts"), ("/web-1.2.0.tgz", "cannot fetch the chart")]
    {
        for pace in [Pace::Silent, Pace::Dripping] {
            let world = World::new();
            let url = slow_world(&world, slow, pace);
            let before = state(&world);
            for folder in ["top", "project"] {
                let began = Instant::now();
                let error = world.fails(&["deps", "update", folder, "--timeout", "1s"]);
                assert!(began.elapsed() < BOUND, "{folder}{slow}: {:?}", began.elapsed());
                let named = format!("{url}{slow}");
                assert!(error.contains("E1101") && error.contains(step) && error.contains(&named), "{folder}: {error}");
                assert!(state(&world) == before, "{folder}{slow}");
            }
        }
    }
}

#[test]
fn waiting_for_a_server_can_be_interrupted() {
    for slow in ["/index.yaml", "/web-1.2.0.tgz"] {
        let world = World::new();
        slow_world(&world, slow, Pace::Dripping);
        let before = state(&world);
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        world.set(&mut command);
        let mut child = command.args(["deps", "update", "top"]).stderr(Stdio::null()).spawn().expect("it starts");
        thread::sleep(Duration::from_millis(800));
        assert!(child.try_wait().expect("a state").is_none(), "{slow}: it has ended");
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupt.is_ok_and(|status| status.success()));
        let began = Instant::now();
        while child.try_wait().expect("a state").is_none() {
            assert!(began.elapsed() < BOUND, "{slow}: it does not end");
            thread::sleep(Duration::from_millis(20));
        }
        assert!(state(&world) == before, "{slow}");
    }
}
