//! An empty program, to measure the cost of starting a process of this build.

fn main() {}
