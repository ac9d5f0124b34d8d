//! The SDKs that a server is built on.

use std::path::Path;

use crate::{
    outcome::Sdk,
    target::{Program, Target},
};

/// What the configuration names, and otherwise what is installed for the program that is started.
pub fn of_server(target: &Target) -> Vec<Sdk> {
    let installed = target
        .start
        .program()
        .map(|Program { argv, cwd, .. }| conform_sdks::installed(argv, cwd.as_deref().unwrap_or(Path::new("."))));
    let installed = installed.unwrap_or_default();
    let Some(named) = &target.sdk else { return installed };
    // A name without a version is completed by what is installed.
    let same = installed.into_iter().find(|sdk| named.version.is_none() && sdk.package == named.package);
    vec![same.unwrap_or_else(|| named.clone())]
}
