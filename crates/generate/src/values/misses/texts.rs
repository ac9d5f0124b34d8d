//! Texts that are too long or too short by one character, and texts next to a match of a pattern.

use serde_json::{Map, Value};

use super::{Made, types};
use crate::values::texts;

pub const BEYOND_16_BITS: &str = "characters beyond 16 bits";
pub const LINE_BREAK: &str = "a line break at the end";
pub const OTHER_CASE: &str = "letters of the other case";
pub const SPACE: &str = "a space at the end";
/// Maximum length of a text that is only too long; a longer one would be hostile.
const LARGEST: usize = 10_000;

pub fn texts(part: &Map<String, Value>, text: &str, all: &mut Made) {
    let bound = |keyword: &str| part.get(keyword).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    if let Some(least) = bound("minLength").filter(|least| (1..=LARGEST).contains(least)) {
        all.add("minLength", "one character less", texts::of_length(least - 1));
        if least > 1 {
            all.add("minLength", "characters of two bytes", "é".repeat(least - 1));
            all.add("minLength", BEYOND_16_BITS, "😀".repeat(least - 1));
            all.add("minLength", "an empty text", "");
        }
        all.add("minLength", "one character less", text.chars().take(least - 1).collect::<String>());
    }
    if let Some(most) = bound("maxLength").filter(|most| *most < LARGEST) {
        all.add("maxLength", "one character more", texts::of_length(most + 1));
        all.add("maxLength", "characters of two bytes", "é".repeat(most + 1));
        all.add("maxLength", SPACE, texts::of_length(most) + " ");
        let longer: String = text.chars().cycle().take(most + 1).collect();
        all.add("maxLength", "one character more", longer);
    }
    if part.contains_key("pattern") {
        let mut shorter = text.to_owned();
        shorter.pop();
        for (kind, changed) in [
            ("another text", "mcp conform".to_owned()),
            ("more at the end", format!("{text}x")),
            ("more at the end", format!("{text}#")),
            ("more at the start", format!("x{text}")),
            ("more at the start", format!("#{text}")),
            ("more on both sides", format!("#{text}#")),
            ("more lines", format!("#\n{text}\n#")),
            ("a prefix", shorter),
            ("another text", "#".repeat(text.chars().count().max(1))),
            ("another text", "0".repeat(text.chars().count().max(1))),
            ("an empty text", String::new()),
        ] {
            all.add("pattern", kind, changed);
        }
        all.add("pattern", SPACE, format!("{text} "));
        all.add("pattern", LINE_BREAK, format!("{text}\n"));
        all.add("pattern", OTHER_CASE, swapped(text));
    }
}

/// Texts next to one that is named.
pub fn beside(keyword: &'static str, text: &str, all: &mut Made) {
    let mut shorter = text.to_owned();
    shorter.pop();
    all.add(keyword, "a prefix", shorter);
    all.add(keyword, "more at the end", format!("{text}x"));
    all.add(keyword, OTHER_CASE, swapped(text));
    all.add(keyword, SPACE, format!("{text} "));
    all.add(keyword, SPACE, format!(" {text}"));
    all.add(keyword, types::EMPTY_TEXT, "");
}

/// The text with letters of the other case.
fn swapped(text: &str) -> String {
    let upper = text.to_uppercase();
    if upper == text { text.to_lowercase() } else { upper }
}
