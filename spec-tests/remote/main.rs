//! Object stores and registries, on real servers. `spec-tests/remote/install` installs them.

mod charts;
mod charts_certificates;
mod charts_like_helm;
mod charts_schemas;
mod charts_slow;
mod inputs;
mod liars;
mod outputs;
mod proxy;
mod registry;
mod servers;
mod stores;
mod web;
mod why;
