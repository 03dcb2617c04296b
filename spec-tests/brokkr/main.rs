//! Tests of the template catalog: stores, operations, service.

mod clients;
mod databases;
mod http;
mod page;
mod store;
