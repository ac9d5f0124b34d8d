//! Text as an HTTP header value, by the rule of revision 2026-07-28 for `Mcp-Name` and `Mcp-Param-*`.

use base64::prelude::{BASE64_STANDARD, Engine as _};

const OPENING: &str = "=?base64?";
const CLOSING: &str = "?=";

/// Plain text if that is safe, otherwise Base64 of the UTF-8 bytes between the markers.
pub fn header_value(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { format!("{OPENING}{}{CLOSING}", BASE64_STANDARD.encode(text)) }
}

fn is_plain(text: &str) -> bool {
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    visible && !text.starts_with(' ') && !text.ends_with(' ') && !resembles_encoded(text)
}

/// Plain text that a server would decode as an encoded value.
fn resembles_encoded(text: &str) -> bool {
    text.get(..OPENING.len()).is_some_and(|start| start.eq_ignore_ascii_case(OPENING)) && text.ends_with(CLOSING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_visible_ascii_alone() {
        for text in ["", "get_weather", "file:///a%20b", "us west 1", "=?base64?", "?="] {
            assert_eq!(header_value(text), text);
        }
    }

    #[test]
    fn encodes_what_a_header_cannot_carry() {
        for (text, encoded) in [
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(header_value(text), encoded);
        }
    }
}
