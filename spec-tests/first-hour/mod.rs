//! The first hour of a new user: one scenario for each promise.

mod outputs;
