//! Stamps a generated fleet into a discarded stream. Prints the peak memory of the process and the size of the fleet's
//! text in bytes. `fleet FOLDER THREADS`.

use dropforge_benches::bulk::Bulk;
use dropforge_benches::processes::peak;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, threads] = arguments.as_slice() else { panic!("fleet FOLDER THREADS") };
    let bulk = Bulk::new(folder.as_ref());
    bulk.stream(threads.parse().expect("a number of threads"), &mut std::io::sink());
    println!("{} {}", peak(), bulk.text_bytes());
}
