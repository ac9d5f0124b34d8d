//! The declared size, compared with the number of bytes received.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::json;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "size-matches", given: &["size", "content"], run };

fn run(given: &Given) -> Report {
    let Some(size) = given.value("size").as_f64() else { return Report::default() };
    let content = given.value("content");
    let bytes = match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), None) => text.len(),
        (None, Some(blob)) => match decoded_length(blob) {
            Some(length) => length,
            None => return Report::default(),
        },
        _ => return Report::default(),
    };
    #[expect(clippy::cast_precision_loss, reason = "no content in a message is near 2^52 bytes long")]
    let agrees = (size - bytes as f64).abs() < 0.5;
    let fault = Fault {
        given: "size",
        message: format!("`size` is {size}, but the content has {bytes} bytes"),
        expected: Some(json!(bytes)),
        received: Some(given.value("size").clone()),
        ..Fault::default()
    };
    Report::of(if agrees { Vec::new() } else { vec![fault] })
}

/// The number of bytes in a base64 text. Another rule judges the padding.
fn decoded_length(blob: &str) -> Option<usize> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, config).decode(blob).ok().map(|bytes| bytes.len())
}
