//! The first hour of a new user: a scenario for each thing that Helm, Kustomize, Argo CD or Terraform users try.

mod copies;
mod csv;
mod deletions;
mod diffs;
mod documents;
mod doors;
mod filters;
mod fleets;
mod folder;
mod foreign;
mod kube_schemas;
mod merge;
mod names;
mod origins;
mod outputs;
mod plan_errors;
mod schema;
mod selectors;
mod unread;
