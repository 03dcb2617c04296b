//! The first hour of a new user: a scenario for each thing that Helm, Kustomize, Argo CD or Terraform users try.

mod csv;
mod deletions;
mod diffs;
mod doors;
mod filters;
mod fleets;
mod foreign;
mod init;
mod krm;
mod merge;
mod origins;
mod outputs;
mod plan_errors;
mod project;
mod recipes;
mod selectors;
mod watch;
