//! The first hour of a new user: a scenario for each thing that Helm, Kustomize, Argo CD or Terraform users try.

mod csv;
mod doors;
mod filters;
mod fleets;
mod kube_schemas;
mod merge;
mod origins;
mod outputs;
mod schema;
mod selectors;
mod variables;
