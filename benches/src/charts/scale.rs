//! The speed of this machine beside that of the recorded times.

use crate::clock::thread_time;
use crate::engines::{Engine, Minijinja};
use crate::w1;

/// The time of minijinja for W1 `app` on the machine of the recorded times, in seconds.
const MINIJINJA: f64 = 48.6e-6;

/// Renders of minijinja in each sample.
const RUNS: u32 = 20;

/// The least time of minijinja for W1 so far.
pub struct Scale {
    minijinja: Minijinja,
    inputs: <Minijinja as Engine>::Ready,
    text: String,
    best: f64,
}

impl Default for Scale {
    fn default() -> Self {
        let mut minijinja = Minijinja::new(w1::templates::<Minijinja>());
        minijinja.compile();
        let inputs = minijinja.ready(&w1::inputs());
        Self { minijinja, inputs, text: String::new(), best: f64::INFINITY }
    }
}

impl Scale {
    /// Takes a sample.
    pub fn sample(&mut self) {
        let start = thread_time();
        for _ in 0..RUNS {
            self.text.clear();
            self.minijinja.render(0, &self.inputs, &mut self.text);
        }
        self.best = self.best.min((thread_time() - start) / f64::from(RUNS));
    }

    /// Returns the factor of recorded times, and prints it.
    pub fn factor(&self) -> f64 {
        let factor = self.best / MINIJINJA;
        println!("minijinja W1 here ÷ {:.1} µs: {factor:.3}\n", MINIJINJA * 1e6);
        factor
    }
}
