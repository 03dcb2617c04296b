//! The `dropforge` command.

fn main() {}
