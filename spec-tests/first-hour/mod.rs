//! The first hour of a new user: a scenario for each thing that Helm, Kustomize, Argo CD or Terraform users try.

mod copies;
mod csv;
mod documents;
mod doors;
mod filters;
mod fleets;
mod folder;
mod merge;
mod names;
mod origins;
mod outputs;
mod selectors;
