//! The order of versions of packages from several registries.

use std::cmp::Ordering;

/// Whether a version is at least `from` and before `until`.
pub fn is_within(version: &str, from: Option<&str>, until: Option<&str>) -> bool {
    from.is_none_or(|from| compared(version, from).is_ge())
        && until.is_none_or(|until| compared(version, until).is_lt())
}

/// A version against a bound. What follows the numbers of a version, such as `-beta.1` or `rc1`, counts only if the bound has
/// that too: a version before a release behaves as the release more often than as the one before.
fn compared(version: &str, bound: &str) -> Ordering {
    let by_numbers = numbers(version).cmp(&numbers(bound));
    match (stage(version), stage(bound)) {
        (_, "") => by_numbers,
        ("", _) => by_numbers.then(Ordering::Greater),
        (of_version, of_bound) => by_numbers.then(of_version.cmp(of_bound)),
    }
}

/// What follows the numbers.
fn stage(version: &str) -> &str {
    version.trim_start_matches('v').trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// The numbers of a version.
fn numbers(version: &str) -> Vec<u64> {
    let release = version.trim_start_matches('v');
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    let mut numbers: Vec<u64> = release[..end].split('.').map_while(|part| part.parse().ok()).collect();
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        for (version, from, until, within) in [
            ("1.9.0", Some("1.10"), None, false),
            ("1.10.0", Some("1.10"), None, true),
            ("1.10", Some("1.10.0"), None, true),
            ("1.32.2", None, Some("2.0.0"), true),
            ("2.0.0", None, Some("2"), false),
            ("2.0.0-alpha.1", None, Some("2.0.0"), false),
            ("v0.3.1", Some("0.3.0"), Some("0.4.0"), true),
            ("2.0b1", Some("1.0"), Some("2.1"), true),
            ("2.0.0-preview.3", Some("2.0.0-preview"), Some("2.0.0-rc.9"), true),
            ("2.0.0", None, Some("2.0.0-rc.9"), false),
            ("1.9.0", Some("2.0.0-preview"), None, false),
        ] {
            assert_eq!(is_within(version, from, until), within, "{version} in {from:?} to {until:?}");
        }
    }
}
