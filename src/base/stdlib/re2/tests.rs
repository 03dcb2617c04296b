use super::{Why, parsed, translated};

#[test]
fn differing_syntax_is_rewritten() {
    for (pattern, matches, not) in [
        (r"^\d+$", &["123"][..], &["٣", ""][..]),
        (r"^[\d_]+$", &["1_2"], &["٣"]),
        (r"^[^\D]$", &["1"], &["a", "٣"]),
        (r"^\w$", &["a", "_"], &["é"]),
        (r"^\s$", &[" ", "\t", "\u{c}"], &["\u{b}", "\u{a0}"]),
        (r"\bé", &["aé"], &["é"]),
        (r"^[[a]$", &["[", "a"], &["]"]),
        (r"^[a&&b~-]$", &["&", "a", "~", "-"], &["c"]),
        (r"^[]a]$", &["]", "a"], &["b"]),
        (r"^[^]a]$", &["b"], &["]", "a"]),
        (r"^[+--]$", &["+", ",", "-"], &["."]),
        (r"^[[:alpha:][:^space:]]$", &["a", "1"], &[" "]),
        (r"^a{b{,2}{01}{1$", &["a{b{,2}{01}{1"], &["ab"]),
        (r"^a{2}b{1,}$", &["aab"], &["ab"]),
        (r"^\Qa.b\E.$", &["a.bc"], &["axbc"]),
        (r"^\Qab\E*$", &["abb", "a"], &["abab"]),
        (r"^\Q[", &["["], &["a"]),
        (r"^\<\/\-\_$", &["</-_"], &["a"]),
        (r"(?i)^É$", &["é"], &["e"]),
        (r"^(?)a(?:b)(?is-si:C)$", &["abC"], &["abc"]),
        (r"(?U)^(a+)", &["aa"], &["b"]),
        (r"^a(?i)*b$", &["aaB", "b"], &["Ab"]),
        (r"^(?:ab)(?i)(?s){2}c$", &["ababC"], &["abC"]),
        (r"^\Qa.\E(?i)+$", &["a..."], &["a.a."]),
        (r"^(a(?i)b)(?i)?$", &["", "aB"], &["AB"]),
        (r"^a*(?i)?$", &["", "aa"], &["A"]),
        (r"^a(?U)*(?i)?$", &["", "aa"], &["A"]),
        (r"^[ab](?i)+(?-i)?c$", &["abc", "c"], &["abC"]),
    ] {
        assert_matches(pattern, matches, not);
    }
}

#[test]
fn characters_by_number_and_properties() {
    for (pattern, matches, not) in [
        (r"^\x{e9}\x41\x{0041}$", &["éAA"][..], &["e"][..]),
        (r"^[\x{e9}-\x{ea}\n]$", &["é", "ê", "\n"], &["ë"]),
        (r"^\101\0\07$", &["A\0\u{7}"], &["101"]),
        (r"^\a\v$", &["\u{7}\u{b}"], &["a"]),
        (r"^\p{Lu}\pL\P{Lu}$", &["ÉÉé"], &["ééé"]),
        (r"^\p{Han}\p{Old_Italic}$", &["漢𐌀"], &["a"]),
        (r"^\p{^Greek}\P{^greek}$", &["aω"], &["ωa"]),
        (r"^[\p{Nd}\PL]$", &["٣", "-"], &["a"]),
        (r"^[^\p{Letter}]\p{ASCII}\p{Any}$", &["1aé"], &["aaa"]),
        (r"(?i)^\p{Lu}$", &["é"], &["1"]),
        (r"^([\x{D800}]|\x{DFFF}|a)$", &["a"], &["b"]),
        (r"^[^\x{D800}]$", &["a"], &[""]),
    ] {
        assert_matches(pattern, matches, not);
    }
}

#[test]
fn flags_before_an_operator_decide_whether_it_is_greedy() {
    for (pattern, found) in [
        ("a(?U)*", ""),
        ("a(?U)*?", "aaa"),
        ("a(?i)*", "aaa"),
        ("(?U)a(?-U)+", "aaa"),
        ("(?U:a)(?i)+", "aaa"),
        ("(?U)(a(?-U))(?i)+", "a"),
    ] {
        let regex = regex::Regex::new(&translated(pattern).unwrap()).unwrap();
        assert_eq!(regex.find("aaa").unwrap().as_str(), found, "{pattern}");
    }
}

fn assert_matches(pattern: &str, matches: &[&str], not: &[&str]) {
    let made = translated(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
    let regex = regex::Regex::new(&made).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    assert!(matches.iter().all(|text| regex.is_match(text)), "{pattern} {made}");
    assert!(!not.iter().any(|text| regex.is_match(text)), "{pattern} {made}");
}

#[test]
fn groups_keep_their_names_beside_the_pattern() {
    let made = parsed("(a)(?P<n>b)(?:c)|(?<n>d)(?P<1x>e)").unwrap();
    assert_eq!(made.text, "(a)(b)(?:c)|(d)(e)");
    assert_eq!(made.names, [None, Some("n"), Some("n"), Some("1x")]);
}

#[test]
fn syntax_that_re2_refuses_is_refused() {
    for (pattern, part, why) in [
        ("a**", "**", Why::Nested),
        ("a*+b", "*+", Why::Nested),
        ("(a+?*)", "+?*", Why::Nested),
        ("a??*?", "??*?", Why::Nested),
        ("a(?i)**", "**", Why::Nested),
        ("(?i)*", "*", Why::Nothing),
        ("a|(?i)*", "*", Why::Nothing),
        ("(a{10}(?i){10}){11}", "{11}", Why::Count),
        ("a{2}{3}", "{2}{3}", Why::Nested),
        ("a{2}?*", "{2}?*", Why::Nested),
        ("a+{2,}", "+{2,}", Why::Nested),
        ("*a", "*", Why::Nothing),
        ("a|+?", "+?", Why::Nothing),
        ("({2})", "{2}", Why::Nothing),
        ("a{1,1001}b", "{1,1001}", Why::Count),
        ("a{99999999999}", "{99999999999}", Why::Count),
        ("a{3,2}", "{3,2}", Why::Count),
        ("((a{10}|b){10}c*){11}", "{11}", Why::Count),
        ("[a[:.alpha:]]", "[:.alpha:]", Why::Class),
        ("[[::]]", "[::]", Why::Class),
        ("[a--b]", "a--", Why::Class),
        ("[z-a]", "z-a", Why::Class),
        (r"\p{Alphabetic}", r"\p{Alphabetic}", Why::Class),
        (r"\p{Grek}", r"\p{Grek}", Why::Class),
        (r"\p{gc=L}", r"\p{gc=L}", Why::Class),
        (r"a\p", r"\p", Why::Class),
        (r"\C", r"\C", Why::Escape),
        (r"\u0041", r"\u", Why::Escape),
        (r"\U0001F600", r"\U", Why::Escape),
        (r"\8", r"\8", Why::Escape),
        (r"\1", r"\1", Why::Escape),
        (r"\x{110000}", r"\x", Why::Escape),
        (r"[a\b]", r"\b", Why::Escape),
        (r"[a-\d]", r"\d", Why::Escape),
        (r"\é", r"\é", Why::Escape),
        ("\\", "\\", Why::Backslash),
        ("a[b", "[b", Why::Bracket),
        ("[]", "[]", Why::Bracket),
        ("a(b", "(b", Why::Open),
        ("a)b", ")b", Why::Close),
        ("(?P<n", "(?P<n", Why::Name),
        ("(?P<a b>c)", "(?P<a b>", Why::Name),
        ("(?<>c)", "(?<>", Why::Name),
        ("(?x) a", "(?x", Why::Flags),
        ("(?i-)a", "(?i-)", Why::Flags),
        ("(?=a)", "(?=", Why::Flags),
        ("(?!a)", "(?!", Why::Flags),
    ] {
        let refused = translated(pattern).expect_err(pattern);
        assert_eq!((refused.part, refused.why), (part, why), "{pattern}");
        assert!(!refused.to_string().is_empty());
    }
}

#[test]
fn the_engine_takes_what_re2_takes() {
    for pattern in [
        "a+?",
        "a{2}?",
        "(a*)*",
        "(?:a+)+",
        "(?i)a*",
        "[*+]+",
        "\\**",
        "a*{x",
        "a*{,2}",
        "\\Q**\\E*",
        "a{1000}",
        "((a{10}){10}){10}",
        "(a{0}){1000}",
        "^*",
        "(|a)*",
        "()",
        "[\\]\\[^-]",
        "]}",
        "[[:word:]-]",
        "\\z\\A\\B",
    ] {
        let made = translated(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
        assert!(regex::Regex::new(&made).is_ok(), "{pattern} {made}");
    }
}
