//! Our own cases and the checks of the house, in one binary.

mod cases;
mod hostile;
mod house;
mod readme;
mod tower;
