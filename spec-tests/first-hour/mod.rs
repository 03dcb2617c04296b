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
mod init;
mod krm;
mod kube_schemas;
mod merge;
mod names;
mod origins;
mod outputs;
mod paths;
mod plan_errors;
mod project;
mod recipes;
mod schema;
mod selectors;
mod unread;
mod variables;
mod watch;
