//! Sources that no person would write.

use crate::syntax::{Options, parse};
use dropforge_base::text::Source;

/// Runs on a stack of 256 KiB.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread");
    thread.join().expect("it ends");
}

#[test]
fn hostile_sources_end_in_an_error_or_are_read() {
    on_a_small_stack(|| {
        let nested = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
        let mut wrong = Vec::new();
        for (text, limit) in [
            (nested("(", ")", 250), None),
            (nested("(", ")", 251), Some("limit.depth")),
            (nested("[", "]", 249), None),
            (nested("[", "]", 250), Some("limit.depth")),
            (nested("f(", ")", 33_000), Some("limit.depth")),
            ("(".repeat(100_000), Some("limit.depth")),
            (format!("a{}", "||a".repeat(33_000)), None),
            (format!("a{}", "&&a".repeat(33_000)), None),
            (format!("a{}", "+a".repeat(249)), None),
            (format!("a{}", "+a".repeat(49_000)), Some("limit.depth")),
            (format!("a{}", ".a".repeat(49_000)), Some("limit.depth")),
            (format!("a{}", "[1]".repeat(33_000)), Some("limit.depth")),
            (format!("{}a", "a?a:".repeat(24_000)), Some("limit.depth")),
            (format!("{}a", "!".repeat(99_999)), None),
            (format!("{}a", "-".repeat(99_999)), None),
            (format!("a{}", ".optMap(a,a)".repeat(30)), Some("limit.code")),
            (format!("a{}", ".map(a,a)".repeat(200)), None),
            (format!("[{}]", "1,".repeat(49_000)), None),
            (format!("a{}", " ".repeat(99_999)), None),
            (format!("a//{}", "/".repeat(99_000)), None),
            ("a".repeat(100_000), None),
            ("a".repeat(100_001), Some("limit.source_bytes")),
            (format!("'{}'", "é".repeat(99_998)), None),
            (format!("'{}'", r"\n".repeat(49_998)), None),
            (format!("'''{}", "'' ".repeat(33_000)), Some("syntax.unexpected_token")),
            ("1".repeat(100_000), Some("syntax.number_out_of_range")),
            (format!("{}1", "0".repeat(99_000)), None),
            ("a b ".repeat(25_000), Some("syntax.unexpected_token")),
            ("(a b),".repeat(16_000), Some("syntax.unexpected_token")),
            (")".repeat(100_000), Some("syntax.unexpected_token")),
            ("]}".repeat(50_000), Some("syntax.unexpected_token")),
            ("'\n".repeat(50_000), Some("syntax.unterminated")),
        ] {
            let shown: String = text.chars().take(20).collect();
            let read = parse(&Source::new("e", text), &Options::default());
            let code = read.as_ref().err().and_then(|errors| errors.first()).map(|error| error.code.name());
            if code != limit {
                wrong.push(format!("{shown}: {code:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// Whatever is wrong is said once, in the order of the source, within it.
fn ends_well(text: &str) {
    let source = Source::new("e", text);
    let Err(errors) = parse(&source, &Options::default()) else { return };
    let spans: Vec<_> = errors.iter().map(|error| error.primary().expect("a place").span).collect();
    assert!((1..=30).contains(&spans.len()), "{text}: {errors}");
    assert!(spans.is_sorted(), "{text}: {errors}");
    for (at, span) in spans.iter().enumerate() {
        assert!(text.get(span.range()).is_some(), "{text}: {span:?}");
        assert!(!spans.iter().skip(at + 1).any(|other| other == span), "{text}: {errors}");
    }
}

#[test]
fn every_truncation_and_substitution_ends_in_a_tree_or_in_errors() {
    const TEXT: &str = "a.?b[?'k\\n'] ? [1, ?-2u,].all(i, x, x < 1.5e3) : {b'\\xff': !.c, ?d: A.b{`e-f`: --1}} || \
                        has(g.`h`) && '''q''' in l.map(y, y + 0x1F) // é\n && cel.bind(z, null, z.f(as, true))";
    on_a_small_stack(|| {
        let chars: Vec<char> = TEXT.chars().collect();
        for at in 0..chars.len() {
            let (before, behind) = chars.split_at(at);
            let joined = |middle: &str, skip: usize| -> String {
                let before: String = before.iter().collect();
                before + middle + &behind.iter().skip(skip).collect::<String>()
            };
            ends_well(&before.iter().collect::<String>());
            ends_well(&behind.iter().collect::<String>());
            ends_well(&joined("", 1));
            for other in
                ["(", ")", "[", "]", "{", "}", ",", ".", "?", ":", "-", "!", "'", "`", "#", "=", "é", " ", "\n"]
            {
                ends_well(&joined(other, 1));
                ends_well(&joined(other, 0));
            }
        }
    });
}
