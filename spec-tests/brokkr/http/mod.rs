//! The service over real connections. Each test has its own server on a port chosen by the system.

mod beyond;
mod client;
mod conditions;
mod description;
mod endpoints;
mod hostile;
mod isolation;
mod lifecycle;
mod load;
mod pages;
mod running;
mod scenarios;
