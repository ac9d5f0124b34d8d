//! Small texts that a server writes: headers, URIs, formats, and whatever a report shows.

use hyper::{HeaderMap, header::HeaderValue};

use crate::{
    reference::http::{headers::decoded, request::refused},
    report::plain,
    suite::{fits, format::Format},
    wire::{challenge, encoding::header_value},
};

/// What terminals act on or readers cannot see.
pub fn is_hidden(c: char) -> bool {
    acts(c) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// What a terminal acts on.
pub fn acts(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Values of headers, on either side.
pub fn headers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let value = header_value(&text);
    assert!(value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && value.trim() == value);
    assert_eq!(decoded(&value).ok().as_deref(), Some(&*text), "what is encoded can be decoded");
    for challenge in challenge::parse(&text) {
        assert!(challenge["scheme"].is_string());
    }
    if let Ok(value) = HeaderValue::from_bytes(bytes) {
        let names = ["accept", "content-type", "origin"].map(hyper::header::HeaderName::from_static);
        let headers = HeaderMap::from_iter(names.map(|name| (name, value.clone())));
        refused(&headers);
    }
}

/// Any text: which formats it has is told, patterns end, and what is shown of it is visible.
pub fn texts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for format in Format::ALL {
        format.fits(&text);
    }
    let shown = plain(&text);
    assert!(!shown.contains(is_hidden), "{shown:?}");
    assert_eq!(plain(&shown), shown, "what is visible stays as it is");
    if let Some((pattern, text)) = text.split_once('\n') {
        assert!(fits(text, text) && fits("*", text));
        fits(pattern, text);
    }
}
