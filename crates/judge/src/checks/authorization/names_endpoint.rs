//! The `resource` in the metadata is the endpoint, or a URL that the endpoint is below.

use iri_string::types::{UriAbsoluteStr, UriStr};

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "names-endpoint", given: &["resource", "endpoint"], run };

fn run(given: &Given) -> Report {
    let (resource, endpoint) = (given.text("resource"), given.text("endpoint"));
    let why = if UriStr::new(resource).is_err() {
        "is not an absolute URI"
    } else if resource.contains('#') {
        "has a fragment"
    } else if !covers(resource, endpoint) {
        "is neither the URL of this server nor one above it"
    } else {
        return Report::of(Vec::new());
    };
    let message = format!("`resource` {why}");
    let (expected, received) = (Some(endpoint.into()), Some(given.value("resource").clone()));
    Report::of(vec![Fault { given: "resource", message, expected, received, ..Fault::default() }])
}

/// Whether scheme, host and port are equal, and the endpoint's path starts with that of the resource.
fn covers(resource: &str, endpoint: &str) -> bool {
    let parts = |url: &str| {
        let url = UriAbsoluteStr::new(url.split('#').next()?).ok()?;
        let authority = url.authority_components()?;
        let host = match authority.host().to_ascii_lowercase().as_str() {
            "127.0.0.1" | "[::1]" => "localhost".to_owned(),
            host => host.to_owned(),
        };
        let scheme = url.scheme_str().to_ascii_lowercase();
        let usual = if scheme == "https" { "443" } else { "80" };
        let port = authority.port().filter(|port| !port.is_empty()).unwrap_or(usual).to_owned();
        Some(((scheme, host, port), format!("{}/", url.path_str().trim_end_matches('/'))))
    };
    let (Some((place, above)), Some((known, path))) = (parts(resource), parts(endpoint)) else { return false };
    place == known && path.starts_with(&above)
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_resource_is_the_endpoint_or_above_it() {
        let endpoint = "https://Host/a/mcp";
        for good in ["https://host/a/mcp", "https://host:443/a/mcp/", "HTTPS://host/a", "https://host", "https://host/"]
        {
            assert!(covers(good, endpoint), "{good}");
        }
        for bad in ["http://host/a/mcp", "https://other/a/mcp", "https://host/a/mc", "https://host:8443/a/mcp"] {
            assert!(!covers(bad, endpoint), "{bad}");
        }
        assert!(covers("http://localhost:3000/mcp", "http://127.0.0.1:3000/mcp"));
    }
}
