//! The formats that a suite can require of a string (`format: uri`).
//!
//! Every format follows its RFC strictly: a lenient parser would hide the faults that we report. Lenient variants are
//! formats of their own (`base64-any`, `iso8601`).

use std::sync::LazyLock;

use base64::{
    Engine,
    alphabet::STANDARD as ALPHABET,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use iri_string::{
    spec::UriSpec,
    template::{
        UriTemplateStr,
        simple_context::{SimpleContext, Value as Filling},
    },
    types::UriStr,
};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use regex::Regex;

/// Declares the formats with the name that suites use and the words of a message.
macro_rules! formats {
    ($($(#[$about:meta])* $variant:ident = $name:literal, $words:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$about])* $variant,)*
        }

        impl Format {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The wording in a message, after "expected".
            pub const fn words(self) -> &'static str {
                match self { $(Self::$variant => $words,)* }
            }
        }
    };
}

formats! {
    /// An absolute URI, strictly RFC 3986.
    Uri = "uri", "an absolute URI (RFC 3986)";
    /// A URI template, RFC 6570.
    UriTemplate = "uri-template", "a URI template (RFC 6570)";
    /// Base64 with the standard alphabet and padding, without line breaks: RFC 4648 section 4.
    Base64 = "base64", "standard base64 with padding (RFC 4648)";
    /// Base64 in any common variant: URL-safe, unpadded, with line breaks.
    Base64Any = "base64-any", "base64 of some variant";
    /// A date and time with offset, RFC 3339.
    DateTime = "date-time", "a date and time (RFC 3339)";
    /// A date, or a date and time, in any form of ISO 8601.
    Iso8601 = "iso8601", "a date or date and time (ISO 8601)";
    /// A media type: type, subtype and parameters.
    Mime = "mime", "a media type";
    /// The text of a JSON value.
    Json = "json", "JSON text";
    /// At least one character.
    NonEmpty = "non-empty", "a string that is not empty";
    /// No line break.
    SingleLine = "single-line", "a single line";
    /// Visible ASCII and inner spaces: valid in an HTTP header without encoding.
    HeaderValue = "header-value", "an HTTP header value";
    /// A token of RFC 9110, as header names are.
    Token = "token", "an HTTP token (RFC 9110)";
    /// Visible ASCII without spaces, at least one character.
    VisibleAscii = "visible-ascii", "visible ASCII characters";
    /// A key of `_meta`: an optional prefix of labels and a slash, then a name.
    MetaKey = "meta-key", "a key of `_meta`";
}

impl Format {
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::Uri => UriStr::new(text).is_ok(),
            // Outside of expressions, a template may have characters beyond ASCII, which the parser does not support.
            Self::UriTemplate => template(&text.replace(|c: char| !c.is_ascii() && !c.is_control(), "-")).is_some(),
            Self::Base64 => STANDARD.decode(text).is_ok(),
            Self::Base64Any => is_some_base64(text),
            Self::DateTime => is_date_time(text),
            Self::Iso8601 => is_iso_8601(text),
            Self::Mime => mediatype::MediaType::parse(text).is_ok(),
            Self::Json => serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
            Self::NonEmpty => !text.is_empty(),
            Self::SingleLine => !text.contains(['\n', '\r']),
            Self::HeaderValue => {
                !text.is_empty()
                    && text.trim() == text
                    && text.chars().all(|c| c.is_ascii_graphic() || " \t".contains(c))
            }
            Self::Token => {
                !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
            }
            Self::VisibleAscii => !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic()),
            Self::MetaKey => is_meta_key(text),
        }
    }
}

/// Parses the text as a URI template.
pub fn template(text: &str) -> Option<&UriTemplateStr> {
    let hex = |at: usize| text.as_bytes().get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    // The parser panics if a percent sign precedes a character that is not ASCII.
    text.match_indices('%').all(|(at, _)| hex(at)).then(|| UriTemplateStr::new(text).ok())?
}

/// The URI that a template makes of these values; `None` if it is no template, or they make none.
pub fn expanded<'v>(text: &str, values: impl Iterator<Item = (&'v str, Filling)>) -> Option<String> {
    let template = template(text)?;
    let expressions: Vec<&str> = text.split('{').skip(1).collect();
    let is_reserved = |expression: &&str| expression.starts_with(['+', '#']);
    let reserved = expressions.iter().any(is_reserved);
    let all_reserved = expressions.iter().all(is_reserved);
    let mut context = SimpleContext::new();
    for (name, value) in values {
        let texts = match &value {
            Filling::String(text) => std::slice::from_ref(text),
            Filling::List(texts) => texts,
            _ => &[],
        };
        let is_ascii = texts.iter().all(|text| text.is_ascii());
        // Where reserved characters stay, the parser panics at those that are not ASCII. What is encoded already stays too.
        let value = match value {
            value if is_ascii || !reserved => value,
            _ if !all_reserved => return None,
            Filling::String(text) => Filling::String(encoded(&text)),
            Filling::List(texts) => Filling::List(texts.iter().map(|text| encoded(text)).collect()),
            _ => return None,
        };
        context.insert(name, value);
    }
    Some(template.expand::<UriSpec, _>(&context).ok()?.to_string())
}

/// The text with its characters beyond ASCII percent-encoded.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, CONTROLS).to_string()
}

fn is_some_base64(text: &str) -> bool {
    const FORGIVING: GeneralPurpose = GeneralPurpose::new(
        &ALPHABET,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let standard = |c| match c {
        '-' => '+',
        '_' => '/',
        other => other,
    };
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).map(standard).collect();
    FORGIVING.decode(text).is_ok()
}

fn is_date_time(text: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$",
        )
    });
    FORM.captures(text).is_some_and(|parts| is_calendar_date(&parts[1]))
}

fn is_iso_8601(text: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r"^(?:(?P<calendar>\d{4}-\d\d-\d\d|\d{8})|\d{4}(?:-(?:0[1-9]|1[0-2]))?|",
            r"\d{4}-?W(?:0[1-9]|[1-4]\d|5[0-3])(?:-?[1-7])?|\d{4}-?(?:00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6]))",
            r"(?:[Tt](?:[01]\d|2[0-4])(?::?[0-5]\d(?::?(?:[0-5]\d|60))?)?(?:[.,]\d+)?",
            r"(?:[Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$"
        ))
    });
    FORM.captures(text).is_some_and(|parts| parts.name("calendar").is_none_or(|date| is_calendar_date(date.as_str())))
}

fn is_calendar_date(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number = |range| digits.get(range).and_then(|part: &str| part.parse::<i16>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(4..6), number(6..8)) else { return false };
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else { return false };
    jiff::civil::Date::new(year, month, day).is_ok()
}

fn is_meta_key(text: &str) -> bool {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        let label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
        let name = "(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?";
        pattern(&format!(r"^(?:{label}(?:\.{label})*/)?{name}$"))
    });
    !text.is_empty() && FORM.is_match(text)
}

/// Compiles a pattern from this file; the tests compile them all.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of this file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(format.fits(text), "{text:?} is {}", format.words());
        }
        for text in bad {
            assert!(!format.fits(text), "{text:?} is not {}", format.words());
        }
    }

    #[test]
    fn uris_are_absolute_and_strict() {
        let good = ["file:///a/b", "test://x?q=1#f", "urn:isbn:1", "https://[::1]:80/", "a:", "file:///%C3%A9"];
        let bad = ["", "/a/b", "a b:c", "file:///a b", "ui://é", "test://x/%zz", "http://[::1", "x:{y}", "file:///a\n"];
        check(Format::Uri, &good, &bad);
        check(
            Format::UriTemplate,
            &["file:///{path}", "a{?x,y*}", "plain", "{+a}", "%2F{%41}"],
            &["a{", "{!x}", "{a b}", "}", "a%é", "%", "%2", "{%é}"],
        );
    }

    #[test]
    fn templates_are_expanded_with_any_text() {
        let of = |template: &str, value: &str| expanded(template, [("x", value.into())].into_iter());
        for (template, value, uri) in [
            ("a:{x}", "é/%", "a:%C3%A9%2F%25"),
            ("a:{+x}", "é/b", "a:%C3%A9/b"),
            ("a:{+x}", "日本%41", "a:%E6%97%A5%E6%9C%AC%41"),
            ("a:b{#x}", "é 1", "a:b#%C3%A9%201"),
        ] {
            assert_eq!(of(template, value).as_deref(), Some(uri), "{template} with {value}");
        }
        assert_eq!(of("a:{x}/{+x}", "é"), None);
        // The parser panics at some of these if they reach it as they are.
        for value in ["%", "%é", "é%", "%e", "%%é", "\u{0}%é", "😀%4", "%4é"] {
            for template in ["a:{x}", "a:{+x}", "a:{#x}", "a:{x}{+x}", "a:{+x:3}", "a:{x:1}", "a:{+x*}"] {
                assert!(of(template, value).is_none_or(|uri| uri.is_ascii()), "{template} with {value}");
            }
        }
    }

    #[test]
    fn base64_is_padded_and_standard_unless_any_will_do() {
        check(Format::Base64, &["", "Zg==", "Zm9v", "+/+/"], &["Zg", "Zg=", "-_-_", "Zm9v\n", "Zh==", "Zm9v!"]);
        check(Format::Base64Any, &["", "Zg", "Zg==", "-_-_", "Zm9v\nZm9v\n", "Zh=="], &["Z", "Zm9v!", "Z===", "é"]);
    }

    #[test]
    fn times_follow_rfc_3339() {
        let good = ["2025-01-12T15:00:58Z", "2025-01-12t15:00:58.123456789012+01:30", "2016-12-31T23:59:60Z"];
        let bad = [
            "2025-01-12",
            "2025-01-12 15:00:58Z",
            "2025-01-12T15:00:58",
            "2025-02-30T15:00:58Z",
            "2025-01-12T24:00:00Z",
            "2025-01-12T15:00:58Z[UTC]",
            "20250112T150058Z",
        ];
        check(Format::DateTime, &good, &bad);
        check(
            Format::Iso8601,
            &good,
            &["", "yesterday", "2025-13", "2025-02-30", "2025-W54", "25-01-01", "2025-01-12T"],
        );
        let looser = ["2025", "2025-01", "20250112T150058Z", "2025-W03-7", "2025-012", "2025-01-12T15:00,5+01"];
        check(Format::Iso8601, &looser, &[]);
    }

    #[test]
    fn the_small_ones() {
        check(Format::Mime, &["text/plain", "a/b+c; charset=utf-8"], &["", "text", "text/", "a b/c"]);
        check(Format::Json, &["1", " {\"a\":[]} "], &["", "{", "{} {}"]);
        check(Format::NonEmpty, &[" "], &[""]);
        check(Format::SingleLine, &["", "a b"], &["a\n", "a\rb"]);
        check(Format::HeaderValue, &["a", "a b\tc"], &["", " a", "a ", "a\nb", "é"]);
        check(Format::Token, &["X-A_b"], &["", "a b", "a:b", "é"]);
        check(Format::VisibleAscii, &["a-~!"], &["", "a b", "\u{7f}", "é"]);
        let good = ["a", "A.b_c-1", "com.example/x", "io.modelcontextprotocol/protocolVersion", "a/"];
        check(Format::MetaKey, &good, &["", "/a", "1.com/a", "a-.b/c", "-a", "a_", "a b", "a/b/c"]);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Format::ALL.len());
    }
}
