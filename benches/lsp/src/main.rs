//! Latencies of the language server: a client changes one character of a file of 10,000 lines, again and again.
//!
//! ```sh
//! cargo build --profile dist -p dropforge-cli --features lsp
//! cargo run --release -p dropforge-lsp-bench -- target/dist/dropforge [LANGUAGE…]
//! ```
//!
//! A change misspells the name of a function, and the next one mends it. Its latency lasts until the diagnostics of that
//! text are there, with or without the error. Hover and completion follow at the same place. Some changes come at once,
//! others after a pause, in which the server may have begun other work.

mod client;
mod texts;

use std::thread::sleep;
use std::time::{Duration, Instant};

use client::Client;
use texts::{LANGUAGES, Language};

/// Number of places that are changed, twice each.
const PLACES: usize = 100;
/// Pauses before changes, in turns.
const PAUSES: [u64; 5] = [0, 20, 60, 120, 200];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(command) = arguments.next() else { panic!("the first argument is the path of the command `dropforge`") };
    let chosen: Vec<String> = arguments.collect();
    println!("| median, 95th percentile in ms | diagnostics | hover | completion |\n|---|--:|--:|--:|");
    for language in LANGUAGES {
        if chosen.is_empty() || chosen.iter().any(|name| name == language.name) {
            let latencies = measure(&command, &language);
            println!("| {} | {} |", language.name, latencies.map(summary).join(" | "));
        }
    }
}

/// Runs a session. Returns the latencies of diagnostics, hover and completion in milliseconds.
fn measure(command: &str, language: &Language) -> [Vec<f64>; 3] {
    let text = language.text();
    let mut client = Client::start(command, language.files, language.file, &text);
    let mut latencies = [const { Vec::new() }; 3];
    let places = places(&text, language.changed);
    for (turn, at) in places.iter().step_by(places.len().div_ceil(PLACES)).enumerate() {
        let end = at + language.changed.len();
        for (misspelt, removed) in [(true, 0), (false, 1)] {
            sleep(Duration::from_millis(PAUSES[(2 * turn + removed) % PAUSES.len()]));
            let start = Instant::now();
            client.change(end, removed, if misspelt { "x" } else { "" });
            client.wait_for_diagnostics(misspelt);
            latencies[0].push(milliseconds(start));
            let path = client.text().get(end..).and_then(|rest| rest.find(language.path)).expect("a path behind") + end;
            for (latency, method) in latencies[1..].iter_mut().zip(["hover", "completion"]) {
                let start = Instant::now();
                client.ask(method, path + language.path.len());
                latency.push(milliseconds(start));
            }
        }
    }
    latencies
}

/// Returns the places of `part` in a text.
fn places(text: &str, part: &str) -> Vec<usize> {
    text.match_indices(part).map(|(at, _)| at).collect()
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Returns the median and the 95th percentile.
fn summary(mut all: Vec<f64>) -> String {
    all.sort_by(f64::total_cmp);
    let of = |part: usize| all.get(all.len() * part / 100).copied().unwrap_or(f64::NAN);
    format!("{:.1}, {:.1}", of(50), of(95))
}
