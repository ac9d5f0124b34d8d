//! `mcp-conform.toml`.

use std::path::Path;

use super::text::acts;
use mcp_conform::{
    config::{Environment, parse},
    error::{Error, Mistakes},
};

/// A configuration is valid or has mistakes; each of its targets can be used or lacks something.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let config = match parse(Path::new("fuzz.toml"), text.into_owned(), false) {
        Ok(config) => config,
        Err(Error::Config(Mistakes { rendered, short })) => {
            assert!(!short.is_empty() && !rendered.contains(|c| acts(c) && c != '\n'), "{rendered:?}");
            return;
        }
        Err(other) => panic!("{other}"),
    };
    assert!(config.facts.is_object());
    let environment = Environment::from([("A".to_owned(), "a".to_owned()), ("B".to_owned(), "${A}".to_owned())]);
    for name in [None, Some("a"), Some("b")] {
        if let Err(error) = config.target(name, &environment, false) {
            assert!(!error.to_string().is_empty());
        }
    }
}
