//! The bytes that a read returned, compared with the digest or the size that was published for the file.
//!
//! `later` has elements of the same form that were received after the read: a file whose element is another one there has
//! changed in between, and is not judged.

use std::borrow::Cow;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report, resources::same_uri::same};

pub const CHECK: Check = Check { name: "file-bytes", given: &["contents", "file", "later?", "part"], run };

fn run(given: &Given) -> Report {
    let file = given.value("file");
    let uri = file["uri"].as_str().unwrap_or_default();
    let (digest, size) = (file["digest"].as_str().unwrap_or_default(), file["size"].as_f64());
    let changed = |later: &Value| later["uri"] == uri && (later["digest"] != digest || later["size"] != file["size"]);
    if given.list("later").iter().any(changed) {
        return Report::default();
    }
    let mut report = Report::default();
    for (index, content) in about(given.list("contents"), uri) {
        let Some(bytes) = bytes(content) else { continue };
        let wrong = match given.text("part") {
            "digest" if is_digest(digest) => wrong_digest(content, &bytes, digest),
            "size" if size.is_some() => wrong_size(&bytes, size.unwrap_or_default()),
            "lossy" if is_digest(digest) => lossy(content, &bytes, digest),
            "utf-8" => std::str::from_utf8(&bytes).is_err().then(|| (None, "the file is not UTF-8".to_owned())),
            _ => continue,
        };
        report.checked += 1;
        report.faults.extend(wrong.map(|(expected, message)| Fault {
            given: "contents",
            pointer: format!("/{index}"),
            subject: Some(uri.to_owned()),
            message,
            expected,
            ..Fault::default()
        }));
    }
    report
}

/// The elements with the URI of the file, or else the only one.
pub fn about<'a>(contents: &'a [Value], uri: &'a str) -> impl Iterator<Item = (usize, &'a Value)> {
    let is_meant = move |content: &Value| content["uri"].as_str().is_some_and(|other| same(other, uri));
    let alone = contents.len() == 1;
    contents.iter().enumerate().filter(move |(_, content)| alone || is_meant(content))
}

/// The bytes of an element. Other rules judge elements with both fields or none, and invalid base64.
pub fn bytes(content: &Value) -> Option<Cow<'_, [u8]>> {
    match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), None) => Some(Cow::Borrowed(text.as_bytes())),
        (None, Some(blob)) => decoded(blob).map(Cow::Owned),
        _ => None,
    }
}

/// The bytes of a `blob`; `None` if it is not base64.
pub fn decoded(blob: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&alphabet::STANDARD, config).decode(blob).ok()
}

fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:").unwrap_or_default();
    hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

fn sha256(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

type Wrong = Option<(Option<Value>, String)>;

fn wrong_digest(content: &Value, bytes: &[u8], published: &str) -> Wrong {
    let received = sha256(bytes);
    if received == published {
        return None;
    }
    let cause = cause(content, bytes, published).map(|cause| format!("; the entry has the digest of {cause}"));
    let count = bytes.len();
    let message = format!(
        "the digest of the {count} received bytes is {received}, the entry has {published}{}",
        cause.unwrap_or_default()
    );
    Some((Some(json!(published)), message))
}

/// What a wrong digest is the digest of, where that is easily found out.
fn cause(content: &Value, bytes: &[u8], published: &str) -> Option<&'static str> {
    let is = |bytes: &[u8]| sha256(bytes) == published;
    if is(content["blob"].as_str().unwrap_or(&STANDARD.encode(bytes)).as_bytes()) {
        return Some("the base64 text");
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let lines = text.replace("\r\n", "\n");
    if is(lines.as_bytes()) || is(lines.replace('\n', "\r\n").as_bytes()) {
        return Some("the file with other line ends");
    }
    if is(text.trim_end().as_bytes()) || is(format!("{text}\n").as_bytes()) {
        return Some("the file with another end");
    }
    is(format!("\u{feff}{text}").as_bytes()).then_some("the file with a byte order mark")
}

fn wrong_size(bytes: &[u8], published: f64) -> Wrong {
    #[expect(clippy::cast_precision_loss, reason = "no file in a message is near 2^52 bytes long")]
    let agrees = (published - bytes.len() as f64).abs() < 0.5;
    let message = || format!("received {} bytes, the entry has `size` {published}", bytes.len());
    (!agrees).then(|| (Some(json!(published)), message()))
}

/// A decoder that replaces what it cannot read leaves this character, and another digest.
fn lossy(content: &Value, bytes: &[u8], published: &str) -> Wrong {
    let replaced = content["text"].as_str().is_some_and(|text| text.contains('\u{fffd}'));
    let wrong = replaced && sha256(bytes) != published;
    wrong.then(|| {
        (None, "`text` has the replacement character U+FFFD, and the digest is that of other bytes".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    const HELLO: &str = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn judged(part: &str, content: Value, file: Value, later: Value) -> (usize, Vec<String>) {
        let given =
            [("contents", Value::Array(vec![content])), ("file", file), ("later", later), ("part", json!(part))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        (report.checked, report.faults.into_iter().map(|fault| fault.message).collect())
    }

    fn file(digest: &str, size: usize) -> Value {
        json!({ "uri": "skill://a/x", "digest": digest, "size": size })
    }

    #[test]
    fn the_bytes_of_text_and_blob_are_compared() {
        let one = |content: Value, digest: &str| judged("digest", content, file(digest, 5), json!([]));
        assert_eq!(one(json!({ "text": "hello" }), HELLO), (1, vec![]));
        assert_eq!(one(json!({ "blob": "aGVsbG8=" }), HELLO), (1, vec![]));
        let (checked, messages) = one(json!({ "text": "hello\n" }), HELLO);
        assert_eq!(checked, 1);
        assert!(messages[0].ends_with("the file with another end"), "{messages:?}");
        let (_, messages) = one(json!({ "text": "hello" }), &sha256(b"aGVsbG8="));
        assert!(messages[0].ends_with("the base64 text"), "{messages:?}");
        assert_eq!(one(json!({ "text": "hello" }), "sha1:00").0, 0);
        assert_eq!(one(json!({ "blob": "!" }), HELLO).0, 0);
    }

    #[test]
    fn sizes_count_bytes() {
        let one = |text: &str, size| judged("size", json!({ "text": text }), file(HELLO, size), json!([])).1.len();
        assert_eq!((one("äö", 4), one("äö", 2), one("", 0)), (0, 1, 0));
    }

    #[test]
    fn a_file_that_changed_in_between_is_not_judged() {
        let text = json!({ "text": "hello, world" });
        assert_eq!(judged("digest", text.clone(), file(HELLO, 5), json!([file(HELLO, 5)])).1.len(), 1);
        assert_eq!(judged("digest", text, file(HELLO, 5), json!([file("sha256:0", 12)])), (0, vec![]));
    }

    #[test]
    fn a_lossy_decoder_shows_in_the_text() {
        let one = |text: &str| judged("lossy", json!({ "text": text }), file(HELLO, 5), json!([])).1.len();
        assert_eq!((one("h\u{fffd}llo"), one("hello")), (1, 0));
    }
}
