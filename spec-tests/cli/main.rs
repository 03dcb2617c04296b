//! The command line, end to end: each test runs the real binary in a directory of its own.

mod allow;
mod artifacts;
mod atomic;
mod bombs;
mod bounds;
mod cache;
mod catalog;
mod cel;
mod cel_yaml;
mod deploy;
mod documents;
mod examples;
#[path = "../first-hour/mod.rs"]
mod first_hour;
mod hcl;
mod hcl_decode;
mod hcl_fmt;
mod helm;
mod helm_errors;
mod helm_fleet;
mod helm_gotmpl;
mod helm_hostile;
mod hostile;
mod intent;
mod modes;
mod operations;
mod output;
mod render;
mod replicas;
mod serve;
mod service;
mod shards;
mod stamp;
mod stream;
mod support;
mod values;
