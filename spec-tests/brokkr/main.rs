//! Tests of the template catalog: its stores, its operations, its service.

mod clients;
mod databases;
mod http;
mod page;
mod store;
