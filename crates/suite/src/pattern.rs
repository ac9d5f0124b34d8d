//! Names with `*` in them, which stands for any text.

/// Whether the text fits the pattern.
pub fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let Some((middle, tail)) = rest.rsplit_once('*') else { return text.ends_with(rest) };
    // The earliest match leaves most text for the other parts.
    for part in middle.split('*') {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(fits("sep2093-*", "sep2093-metadata-supported"));
        assert!(fits("*-uri*", "resources-read-uri-required"));
        assert!(fits("a*", "a"));
        assert!(!fits("resources", "resources-list"));
        assert!(fits("a*b*b", "abb") && !fits("a*b*b", "ab") && fits("**", ""));
        assert!(!fits(&"*a".repeat(100), &"a".repeat(99)), "and in good time");
    }
}
