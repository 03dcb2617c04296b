//! Our own cases and the checks of the house, in one binary.

mod artifacts;
mod cases;
mod cel;
mod codes;
mod coverage;
mod hcl;
mod hcl_bodies;
mod hostile;
mod house;
mod library;
mod limits;
mod readme;
mod tower;
mod yaml_readers;
