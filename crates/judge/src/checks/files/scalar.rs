//! What a plain scalar of YAML stands for, as JSON: in version 1.2, and in version 1.1.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// Numbers of YAML 1.2, besides octal and hexadecimal ones.
static NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$").ok());
/// Numbers of YAML 1.1 may have underscores, and may be written to the base of 60.
static SIXTIES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$").ok());
static NO_NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$").ok());
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}($|[Tt ])").ok());

/// Every JSON value that a plain scalar stands for in either version. Infinity and "not a number" have none.
pub fn readings(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return vec![Value::Null];
    }
    match text {
        "true" | "True" | "TRUE" => return vec![json!(true)],
        "false" | "False" | "FALSE" => return vec![json!(false)],
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y" => found.push(json!(true)),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n" | "N" => found.push(json!(false)),
        _ => {}
    }
    if fits(&NO_NUMBER, text) {
        return Vec::new();
    }
    let decimal = fits(&NUMBER, text);
    if decimal {
        found.extend(number(text));
    }
    found.extend(other_bases(text));
    let plain = text.replace('_', "");
    if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) && plain != text && fits(&NUMBER, &plain) {
        found.extend(number(&plain));
    }
    found.extend(sixties(&plain).filter(|_| fits(&SIXTIES, text)));
    // YAML 1.1 needs a dot in a number with an exponent: elsewhere it is a text there.
    if !decimal || text.contains(['e', 'E']) {
        found.push(json!(text));
    }
    found
}

/// Whether a text of JSON stands for this date. Implementations write one in several forms.
pub fn is_same_date(text: &str, other: &str) -> bool {
    fits(&DATE, text) && (other.starts_with(text) || other.get(..10) == text.get(..10) && other.is_ascii())
}

/// Whether two numbers have the same value.
pub fn is_same_number(one: &Value, other: &Value) -> bool {
    one == other || one.is_number() && one.as_f64().is_some_and(|number| other.as_f64() == Some(number))
}

fn fits(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn number(text: &str) -> Option<Value> {
    let text = text.strip_prefix('+').unwrap_or(text);
    text.parse::<i64>().map(Value::from).ok().or_else(|| text.parse::<f64>().ok().map(Value::from))
}

fn other_bases(text: &str) -> Vec<Value> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.replace('_', "");
    let read =
        |prefix: &str, base| digits.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, base).ok());
    let bases = [read("0x", 16), read("0o", 8), read("0b", 2), read("0", 8)];
    bases.into_iter().flatten().map(|number| json!(sign * number)).collect()
}

fn sixties(text: &str) -> Option<Value> {
    let digits = text.trim_start_matches(['-', '+']);
    let value = digits.split(':').try_fold(0.0, |sum: f64, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))?;
    Some(json!(if text.starts_with('-') { -value } else { value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_read_some_scalars_differently() {
        assert_eq!(readings("plain text"), [json!("plain text")]);
        assert_eq!(readings("true"), [json!(true)]);
        assert_eq!(readings("on"), [json!(true), json!("on")]);
        assert_eq!(readings("3"), [json!(3)]);
        assert_eq!(readings("1.0"), [json!(1.0)]);
        assert_eq!(readings("-0.5"), [json!(-0.5)]);
        assert_eq!(readings("1e3"), [json!(1000.0), json!("1e3")]);
        assert_eq!(readings("017"), [json!(17), json!(15)]);
        assert_eq!(readings("0o17"), [json!(15), json!("0o17")]);
        assert_eq!(readings("1_000"), [json!(1000), json!("1_000")]);
        assert_eq!(readings("1:30"), [json!(90.0), json!("1:30")]);
        assert_eq!(readings("1.2.3"), [json!("1.2.3")]);
        assert_eq!(readings(".nan"), [] as [Value; 0]);
        assert_eq!(readings("~"), [Value::Null]);
    }

    #[test]
    fn a_date_has_several_forms() {
        assert!(is_same_date("2026-09-13", "2026-09-13T00:00:00.000Z"));
        assert!(is_same_date("2026-09-13", "2026-09-13"));
        assert!(!is_same_date("2026-09-13", "2026-09-14"));
        assert!(!is_same_date("2026", "2026-09-13"));
        assert!(is_same_number(&json!(1), &json!(1.0)) && !is_same_number(&json!(1), &json!("1")));
    }
}
