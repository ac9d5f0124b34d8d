//! The document that a read returned for `uri`.
//!
//! `part` is `uri` (an element has the URI), `spelled` (it is spelled as requested), `utf-8` (a blob is base64 of UTF-8),
//! `markup` (it is markup of any kind), `doctype` (markup begins with the doctype of HTML) or `charset` (it declares no
//! other encoding than UTF-8).

use std::borrow::Cow;

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use serde_json::Value;

use crate::checks::{
    Check, Fault, Given, Report,
    files::file_bytes::{about, bytes, decoded},
    resources::same_uri::same,
};

pub const CHECK: Check = Check { name: "app-document", given: &["contents", "uri", "part"], run };

const MARK: char = '\u{feff}';
/// Characters of a document in a message.
const SHOWN: usize = 40;
/// Browsers look for an encoding in the first 1024 bytes; no document has more tokens there.
const HEAD: usize = 100;

fn run(given: &Given) -> Report {
    let (contents, uri) = (given.list("contents"), given.text("uri"));
    let found = match given.text("part") {
        "uri" => Some(other_uri(contents, uri)),
        "spelled" => contents.iter().find_map(|content| respelled(content, uri)),
        part => element(contents, uri).and_then(|content| judged(content, part)),
    };
    let fault = |message| Fault { given: "contents", subject: Some(uri.to_owned()), message, ..Fault::default() };
    found.map_or_else(Report::default, |found| Report::of(found.into_iter().map(fault).collect()))
}

fn wrong(is_wrong: bool, message: impl FnOnce() -> String) -> Vec<String> {
    if is_wrong { vec![message()] } else { Vec::new() }
}

fn other_uri(contents: &[Value], uri: &str) -> Vec<String> {
    let is_meant = |content: &Value| content["uri"].as_str().is_some_and(|other| same(other, uri));
    wrong(!contents.iter().any(is_meant), || {
        let received: Vec<String> = contents.iter().map(|content| content["uri"].to_string()).collect();
        let received = if received.is_empty() { "no element".to_owned() } else { received.join(", ") };
        format!("requested {uri}, received {received}")
    })
}

fn respelled(content: &Value, uri: &str) -> Option<Vec<String>> {
    let other = content["uri"].as_str().filter(|other| same(other, uri))?;
    Some(wrong(other != uri, || format!("requested {uri}, received the other spelling {other}")))
}

/// The element for a URI.
pub fn element<'a>(contents: &'a [Value], uri: &'a str) -> Option<&'a Value> {
    about(contents, uri).next().map(|(_, content)| content)
}

/// The text of an element. Other rules judge those without one, or in another encoding.
pub fn text(content: &Value) -> Option<Cow<'_, str>> {
    match bytes(content)? {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

/// What is wrong; `None` if there is nothing to judge.
fn judged(content: &Value, part: &str) -> Option<Vec<String>> {
    if part == "utf-8" {
        return Some(match decoded(content["blob"].as_str()?) {
            None => vec!["`blob` is not base64".to_owned()],
            Some(bytes) => wrong(std::str::from_utf8(&bytes).is_err(), || "`blob` is not UTF-8".to_owned()),
        });
    }
    let text = text(content)?;
    let begin = first(&text);
    let is_tag = |next: char| next.is_ascii_alphabetic() || next == '!';
    let is_markup = begin.strip_prefix('<').is_some_and(|rest| rest.starts_with(is_tag));
    match part {
        "markup" => Some(wrong(!is_markup, || match begin {
            "" => "the document is empty".to_owned(),
            _ => format!("the document begins with {:?}", begin.chars().take(SHOWN).collect::<String>()),
        })),
        _ if !is_markup => None,
        "doctype" => Some(wrong(!starts_with_word(begin, "<!doctype html"), || {
            "the document does not begin with <!doctype html>".to_owned()
        })),
        _ => charset(&text).map(|charset| {
            let is_utf_8 = ["utf-8", "utf8"].iter().any(|known| charset.eq_ignore_ascii_case(known));
            wrong(!is_utf_8, || format!("the document declares the encoding {charset}, expected UTF-8"))
        }),
    }
}

/// What follows a byte order mark, spaces, comments and the declaration of XML.
fn first(text: &str) -> &str {
    let mut rest = text.trim_start_matches(MARK);
    loop {
        rest = rest.trim_start();
        let end = [("<!--", "-->"), ("<?", "?>")]
            .into_iter()
            .find_map(|(begin, end)| rest.starts_with(begin).then(|| rest.find(end).map(|at| at + end.len())));
        match end {
            Some(Some(end)) => rest = &rest[end..],
            _ => return rest,
        }
    }
}

fn starts_with_word(text: &str, begin: &str) -> bool {
    text.get(..begin.len()).is_some_and(|found| found.eq_ignore_ascii_case(begin))
        && text[begin.len()..].starts_with(|next: char| next == '>' || next.is_ascii_whitespace())
}

/// The encoding in a tag `meta`.
fn charset(text: &str) -> Option<String> {
    tokens(text).take(HEAD).find_map(|token| match token {
        Token::StartTag(tag) if tag.name == b"meta" => attribute(&tag, "charset"),
        _ => None,
    })
}

pub fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    // Scripts and styles are text.
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(text, emitter).map(|Ok(token)| token)
}

pub fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(&value.value).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    const URI: &str = "ui://a/b";

    fn found(part: &str, contents: Value) -> Option<usize> {
        let given = [("contents", contents), ("uri", json!(URI)), ("part", json!(part))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        (report.checked > 0).then_some(report.faults.len())
    }

    fn of(part: &str, text: &str) -> Option<usize> {
        found(part, json!([{ "uri": URI, "text": text }]))
    }

    #[test]
    fn a_document_is_markup() {
        for fine in
            ["<!DOCTYPE html>", "\u{feff} <!-- a\n-->\n<!doctype HTML >", "<?xml version='1.0'?><!doctype html>"]
        {
            assert_eq!((of("markup", fine), of("doctype", fine)), (Some(0), Some(0)), "{fine:?}");
        }
        for odd in ["<html>", "<div>x</div>", "<!doctype svg>", "<!doctypehtml>", "<!DOCTYPE"] {
            assert_eq!((of("markup", odd), of("doctype", odd)), (Some(0), Some(1)), "{odd:?}");
        }
        for other in
            ["", " ", "{}", "# Title", "https://example.com/", "< 3", "<", "<!-- never ends".trim_start_matches("<!")]
        {
            assert_eq!((of("markup", other), of("doctype", other)), (Some(1), None), "{other:?}");
        }
    }

    #[test]
    fn a_blob_is_base64_of_utf_8() {
        let blob = |blob: &str| found("utf-8", json!([{ "uri": URI, "blob": blob }]));
        assert_eq!(blob(&STANDARD.encode("<p>ä")), Some(0));
        assert_eq!((blob(&STANDARD.encode([0xe4])), blob("<p>")), (Some(1), Some(1)));
        assert_eq!(of("utf-8", "<p>"), None);
        let both = json!([{ "uri": URI, "text": "<p>", "blob": STANDARD.encode("<p>") }]);
        assert_eq!(found("utf-8", both), Some(0));
        let page = STANDARD.encode("<!doctype html>");
        assert_eq!(found("doctype", json!([{ "uri": URI, "blob": page }])), Some(0));
    }

    #[test]
    fn an_element_has_the_requested_uri() {
        let uris = |uris: &[&str]| uris.iter().map(|uri| json!({ "uri": uri })).collect::<Value>();
        assert_eq!((found("uri", uris(&["ui://a/c", URI])), found("uri", uris(&["UI://a/./b"]))), (Some(0), Some(0)));
        assert_eq!((found("uri", uris(&[])), found("uri", uris(&["ui://a/b?x"]))), (Some(1), Some(1)));
        assert_eq!((found("spelled", uris(&["UI://a/./b"])), found("spelled", uris(&[URI]))), (Some(1), Some(0)));
        assert_eq!(found("spelled", uris(&["ui://other"])), None);
    }

    #[test]
    fn the_encoding_is_utf_8() {
        assert_eq!(
            (of("charset", "<meta charset=UTF-8>"), of("charset", "<meta charset='latin1'>")),
            (Some(0), Some(1))
        );
        assert_eq!((of("charset", "<p>"), of("charset", "<title><meta charset=latin1></title>")), (None, None));
    }
}
