//! The headers of a page forbid other sites to show it in a frame.

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "not-framed", given: &["headers"], run };

fn run(given: &Given) -> Report {
    let headers = given.value("headers");
    let header = |name: &str| headers[name].as_str().unwrap_or_default().to_ascii_lowercase();
    let options = header("x-frame-options");
    let is_denied = options.split(',').any(|option| matches!(option.trim(), "deny" | "sameorigin"));
    let policy = header("content-security-policy");
    let named = policy.split([';', ',']).any(|directive| directive.trim_start().starts_with("frame-ancestors"));
    let fault = (!is_denied && !named).then(|| Fault {
        given: "headers",
        message: "neither `X-Frame-Options` nor `frame-ancestors` in `Content-Security-Policy` forbids frames"
            .to_owned(),
        ..Fault::default()
    });
    Report::of(fault.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use conform_model::revision::Revision;
    use serde_json::json;

    use super::*;

    #[test]
    fn one_of_two_headers_is_enough() {
        let faults = |headers| crate::checks::tried(&CHECK, Revision::NEWEST, [("headers", headers)]).faults.len();
        assert_eq!(faults(json!({ "x-frame-options": "SAMEORIGIN" })), 0);
        assert_eq!(faults(json!({ "content-security-policy": "default-src 'self'; frame-ancestors 'none'" })), 0);
        assert_eq!(faults(json!({ "content-security-policy": "default-src 'self'" })), 1);
        assert_eq!(faults(json!({ "x-frame-options": "allow-from https://a" })), 1);
    }
}
