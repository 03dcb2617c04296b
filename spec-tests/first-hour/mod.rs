//! The first hour of a new user: a scenario for each thing that Helm, Kustomize, Argo CD or Terraform users try.

mod csv;
mod deletions;
mod diffs;
mod doors;
mod filters;
mod fleets;
mod foreign;
mod merge;
mod origins;
mod outputs;
mod plan_errors;
mod selectors;
