//! The service over real connections: each test has a server of its own on a port that the system chooses.

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
