//! Stamps a generated fleet into a stream that goes nowhere and prints, in bytes, the most memory the process had
//! and the text of the fleet that it holds. `fleet FOLDER THREADS`.

use dropforge_benches::bulk::Bulk;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, threads] = arguments.as_slice() else { panic!("fleet FOLDER THREADS") };
    let bulk = Bulk::new(folder.as_ref());
    bulk.stream(threads.parse().expect("a number of threads"), &mut std::io::sink());
    println!("{} {}", peak(), bulk.text_bytes());
}

/// The most memory this process had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line of Linux");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
