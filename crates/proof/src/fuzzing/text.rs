//! Short texts of a server: headers, URIs, formats, and everything that a report shows.

use hyper::{HeaderMap, header::HeaderValue};

use mcp_conform::{
    reference::server::http::{headers::decoded, request::refused},
    report::plain,
    suite::{fits, format::Format},
    wire::{challenge, encoding::header_value},
};

/// Characters that control terminals or are invisible.
pub fn is_hidden(c: char) -> bool {
    acts(c) || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Characters that control terminals.
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

/// Any text: its formats are recognized, patterns end, and its rendering is visible.
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
