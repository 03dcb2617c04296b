//! The cost of searching with a regular expression. The engine is linear in the text, but each byte may touch every state
//! of the compiled pattern, and counted repetitions multiply states.

/// Maximum number of states of a pattern within its size limit.
const MOST_STATES: u64 = 1 << 16;

/// Returns the steps of a search in `bytes` of text: one per byte and 64 states, at least one per byte.
///
/// `search_steps("^a.c$", 100)` is 100; `search_steps("(a{100}){100}", 100)` is over 10,000.
pub fn search_steps(pattern: &str, bytes: usize) -> u64 {
    steps_per_byte(pattern).saturating_mul(bytes as u64)
}

/// Returns the steps of a search for each byte of text.
pub fn steps_per_byte(pattern: &str) -> u64 {
    states(pattern) / 64 + 1
}

/// Returns a rough upper bound of the number of states: the length of the pattern (Unicode classes are large) times all
/// counts.
fn states(pattern: &str) -> u64 {
    let classes = pattern.matches(['\\', '.', '[']).count() as u64 * 8;
    let counts = pattern.split('{').skip(1).map(largest_count);
    let states = counts.fold(pattern.len() as u64 + classes, u64::saturating_mul);
    states.min(MOST_STATES)
}

/// Returns the largest count before the closing brace, or 1.
fn largest_count(repetition: &str) -> u64 {
    let (counts, _) = repetition.split_once('}').unwrap_or(("", ""));
    counts.split(',').filter_map(|count| count.trim().parse().ok()).fold(1, u64::max)
}

#[cfg(test)]
mod tests {
    use super::search_steps;

    #[test]
    fn plain_patterns_cost_the_text_and_counted_ones_more() {
        assert_eq!(search_steps("^[a-z]+$", 10), 10);
        assert_eq!(search_steps("", 10), 10);
        assert!(search_steps(r"\d{4}-\d{2}", 10) < 100);
        assert!(search_steps("((a{10}){10,100}){10}", 1) > 1_000);
        assert!(search_steps("a{99999999999999999999}{", 1) >= 1);
        assert_eq!(search_steps("a{60000}{60000}{60000}{60000}{60000}", usize::MAX), u64::MAX);
    }
}
