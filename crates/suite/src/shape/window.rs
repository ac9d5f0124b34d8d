//! The revisions of a row of a description: `name since 2025-06-18 until 2025-11-25`, or `name in 2025-11-25`.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use conform_model::revision::Revision;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    since: Revision,
    until: Revision,
}

impl Window {
    pub(super) const ALWAYS: Self = Self { since: Revision::ALL[0], until: Revision::NEWEST };

    pub(super) fn holds(self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }
}

/// A text with its window. Before the colon, it is the key of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dated {
    pub(super) text: String,
    pub(super) window: Window,
}

impl FromStr for Dated {
    type Err = String;

    fn from_str(heading: &str) -> Result<Self, String> {
        let mut words: Vec<&str> = heading.split_whitespace().collect();
        let mut window = Window::ALWAYS;
        while let [.., word @ ("since" | "until" | "in"), revision] = words[..] {
            let revision = revision.parse()?;
            if word != "until" {
                window.since = revision;
            }
            if word != "since" {
                window.until = revision;
            }
            words.truncate(words.len() - 2);
        }
        if words.is_empty() {
            return Err(format!("`{heading}` names nothing"));
        }
        if window.since > window.until {
            return Err(format!("`{heading}` ends before it begins"));
        }
        Ok(Self { text: words.join(" "), window })
    }
}

impl<'de> Deserialize<'de> for Dated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revisions(heading: &str) -> Vec<&'static str> {
        let dated: Dated = heading.parse().expect("a heading");
        Revision::ALL.into_iter().filter(|r| dated.window.holds(*r)).map(Revision::as_str).collect()
    }

    #[test]
    fn a_heading_says_when_it_counts() {
        assert_eq!(revisions("title").len(), 5);
        assert_eq!(revisions("icons since 2025-11-25"), ["2025-11-25", "2026-07-28"]);
        assert_eq!(revisions("ping until 2025-03-26"), ["2024-11-05", "2025-03-26"]);
        assert_eq!(revisions("x since 2025-06-18 until 2025-11-25"), ["2025-06-18", "2025-11-25"]);
        assert_eq!(revisions("tasks in 2025-11-25"), ["2025-11-25"]);
        assert_eq!("type is a | b in 2025-11-25".parse::<Dated>().expect("a heading").text, "type is a | b");
    }

    #[test]
    fn a_heading_that_makes_no_sense_is_refused() {
        assert!("x since 2025-06-19".parse::<Dated>().is_err_and(|e| e.contains("unknown protocol revision")));
        assert!("x since 2025-11-25 until 2025-06-18".parse::<Dated>().is_err_and(|e| e.contains("before it begins")));
        assert!("since 2025-11-25".parse::<Dated>().is_err_and(|e| e.contains("names nothing")));
    }
}
