//! The service over real connections. Each test has its own server on a free port.

mod audit;
mod client;
mod conditions;
mod description;
mod endpoints;
mod extensions;
mod fair;
mod fair_load;
mod hostile;
mod isolation;
mod lifecycle;
mod load;
mod pages;
mod probes;
mod quotas;
mod scenarios;
mod server;
mod size;
