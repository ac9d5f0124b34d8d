//! A response does not redirect to this URI.

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "no-redirect", given: &["response", "to"], run };

fn run(given: &Given) -> Report {
    let (response, to) = (given.value("response"), given.text("to"));
    let location = response["headers"]["location"].as_str().unwrap_or_default();
    if response["status"].is_null() {
        return Report::default();
    }
    let leads = location.starts_with(to);
    let fault =
        leads.then(|| Fault { given: "response", message: format!("redirects to {location}"), ..Fault::default() });
    Report::of(fault.into_iter().collect())
}
