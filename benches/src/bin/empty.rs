//! Nothing: what the system takes to start a process of this build.

fn main() {}
