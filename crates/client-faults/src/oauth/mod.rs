//! Faults in OAuth.

mod authorizing;
mod discovery;
mod sent;
mod tokens;

use conform_reference_client::{
    behaviour::{Behaviour, HTTP, decisions::Scene, memory::Memory},
    oauth::{
        errand::{Errand, Step},
        ways::Ways,
    },
};

pub static OAUTH: &[&[Behaviour]] = &[discovery::FAULTS, authorizing::FAULTS, tokens::FAULTS, sent::FAULTS];

/// Another decision.
const fn decides(name: &'static str, about: &'static str, ways: Ways) -> Behaviour {
    Behaviour { oauth: ways, ..Behaviour::new(name, about, HTTP) }
}

/// Another request.
const fn sends(name: &'static str, about: &'static str, errand: fn(&mut Memory, &Scene, &mut Errand)) -> Behaviour {
    Behaviour { errand: Some(errand), ..Behaviour::new(name, about, HTTP) }
}

fn origin(url: &str) -> String {
    url.split('/').take(3).collect::<Vec<_>>().join("/")
}

fn is_token(errand: &Errand) -> bool {
    matches!(errand.step, Step::Token | Step::Refresh)
}
