//! The first hour of a new user: a scenario for each thing that Helm, Kustomize, Argo CD or Terraform users try.

mod csv;
mod doors;
mod filters;
mod fleets;
mod merge;
mod origins;
mod outputs;
mod selectors;
mod unread;
