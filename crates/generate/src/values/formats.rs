//! Texts of a format: usual ones, and rare ones that programs often reject.

use fastrand::Rng;

/// A text of this format, if the format is known.
pub fn of_format(rng: &mut Rng, format: &str) -> Option<String> {
    let mut number = |below: u32| rng.u32(..below);
    Some(match format {
        "date" => format!("20{:02}-{:02}-{:02}", number(40), 1 + number(12), 1 + number(28)),
        "time" => format!("{:02}:{:02}:{:02}Z", number(24), number(60), number(60)),
        "date-time" => {
            format!(
                "20{:02}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                number(40),
                1 + number(12),
                1 + number(28),
                number(24),
                number(60),
                number(60)
            )
        }
        "duration" => format!("PT{}M", 1 + number(59)),
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => format!("https://example.com/{}", number(100)),
        "uri-template" => "https://example.com/{id}".to_owned(),
        "email" | "idn-email" => format!("nobody{}@example.com", number(100)),
        "hostname" | "idn-hostname" => "example.com".to_owned(),
        "ipv4" => format!("192.0.2.{}", 1 + number(254)),
        "ipv6" => format!("2001:db8::{:x}", 1 + number(255)),
        "uuid" => format!("{:08x}-0000-4000-8000-{:012x}", number(u32::MAX), number(u32::MAX)),
        "regex" => "^[a-z]+$".to_owned(),
        "json-pointer" => "/a/b".to_owned(),
        "relative-json-pointer" => "0/a".to_owned(),
        "byte" | "base64" => "bWNw".to_owned(),
        _ => return None,
    })
}

/// Values that the format allows and that few programs expect. A server may reject them.
pub const fn rare(format: &str) -> &'static [&'static str] {
    match format.as_bytes() {
        b"date-time" => &[
            "2016-12-31T23:59:60Z",
            "2024-02-29T23:59:59.999999999+14:00",
            "2026-01-01t00:00:00z",
            "0001-01-01T00:00:00-12:00",
            "9999-12-31T23:59:59Z",
        ],
        b"date" => &["2024-02-29", "0001-01-01", "9999-12-31"],
        b"time" => &["23:59:60Z", "00:00:00.000001-12:00", "12:00:00z"],
        b"duration" => &["P1Y2M3DT4H5M6S", "P3W", "PT0S", "P9999Y"],
        b"email" | b"idn-email" => &["a+b@example.com", "\"a@b\"@example.com", "a@[192.0.2.1]", "a@b"],
        b"uri" | b"url" | b"iri" | b"uri-reference" | b"iri-reference" => &[
            "urn:isbn:0451450523",
            "mailto:nobody@example.com",
            "http://[2001:db8::1]:8080/",
            "https://nobody:secret@example.com:443/?a=%00&a#b",
            "http://example.com",
            "data:,a",
            "a:",
        ],
        b"hostname" | b"idn-hostname" => &["a", "xn--bcher-kva.example", "192.0.2.1"],
        b"ipv4" => &["0.0.0.0", "255.255.255.255"],
        b"ipv6" => &["::", "::ffff:192.0.2.1", "2001:DB8:0:0:0:0:0:1"],
        b"uuid" => &["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"],
        b"regex" => &["", "(", "[[:alpha:]]", "(?<=a)b\\1"],
        b"json-pointer" => &["", "/", "/a~0~1/0"],
        b"byte" | b"base64" => &["", "AA==", "/+8="],
        _ => &[],
    }
}
