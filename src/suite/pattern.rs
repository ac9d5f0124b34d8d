//! Names with `*` in them, which stands for any text.

/// Whether the text fits the pattern.
pub fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => {
            let Some(tail) = text.strip_prefix(head) else { return false };
            tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| fits(rest, &tail[at..]))
        }
    }
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
    }
}
