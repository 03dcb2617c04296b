//! A platform in one run: layers of values, many releases, and what is checked across them.

mod example;
mod kustomize;
mod layers;
mod one_cluster;
mod patches;
mod releases;
mod repeated;
mod tests;
