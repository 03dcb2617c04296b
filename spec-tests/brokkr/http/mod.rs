//! The service over real connections. Each test has its own server on a free port.

mod audit;
mod charts;
mod client;
mod conditions;
mod connections;
mod description;
mod endpoints;
mod extensions;
mod fair;
mod fair_load;
mod hostile;
mod isolation;
mod keys;
mod lifecycle;
mod load;
mod outages;
mod pages;
mod probes;
mod quotas;
mod repeats;
mod scenarios;
mod server;
mod size;
