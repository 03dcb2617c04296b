//! Our own cases and the checks of the house, in one binary.

mod house;
mod readme;
mod tower;
