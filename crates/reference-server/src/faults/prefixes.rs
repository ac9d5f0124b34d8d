//! Faults in the comparison of prefixes, for all methods that have them.

use regex::Regex;

use crate::{
    content::Content,
    faults::behaviour::{Behaviour, EVERYWHERE},
};

pub static PREFIXED: &[Behaviour] = &[
    slip("prefix-anywhere", "the prefix matches anywhere in the URI of a resource", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| uri.contains(prefix));
    }),
    Behaviour {
        also: &["prefix-no-implicit-slash", "prefix-whole-uri-as-prefix"],
        ..slip("prefix-of-segments", "the prefix of resources matches whole path segments only", |content| {
            content.slips.resource_prefix = Some(by_segments);
        })
    },
    Behaviour {
        also: &["prefix-list-only-matching", "prefix-no-wildcards"],
        ..slip("prefix-up-to-slash", "the prefix of resources is cut after its last slash", |content| {
            content.slips.resource_prefix = Some(|uri, prefix| {
                uri.starts_with(&prefix[..prefix.rfind('/').map_or(prefix.len(), |slash| slash + 1)])
            });
        })
    },
    Behaviour {
        also: &["prefix-string-semantics", "prefix-whole-uri-as-prefix"],
        ..slip("prefix-with-slash", "a slash is added to the prefix", |content| {
            content.slips.resource_prefix = Some(|uri, prefix| {
                prefix.is_empty() || uri.starts_with(&format!("{}/", prefix.strip_suffix('/').unwrap_or(prefix)))
            });
        })
    },
    Behaviour {
        also: &["prefix-no-implicit-slash"],
        ..slip("prefix-proper", "resources that equal the prefix are not listed", |content| {
            content.slips.resource_prefix = Some(|uri, prefix| uri.starts_with(prefix) && uri != prefix);
        })
    },
    Behaviour {
        also: &["prefix-query-and-nested-urls-literal"],
        ..slip("prefix-one-level", "a prefix lists only one level of the matching resources", |content| {
            content.slips.resource_prefix = Some(|uri, prefix| {
                let rest = uri.strip_prefix(prefix);
                rest.is_some_and(|rest| !prefix.ends_with('/') || !rest.trim_end_matches('/').contains('/'))
            });
        })
    },
    slip("prefix-any-case", "the prefix of resources is compared in lower case", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| uri.to_lowercase().starts_with(&prefix.to_lowercase()));
    }),
    slip("prefix-decoded", "prefix and URI are decoded before they are compared", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| decoded(uri).starts_with(&decoded(prefix)));
    }),
    slip("prefix-decoded-alone", "the prefix is decoded before it is compared", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| uri.as_bytes().starts_with(&decoded(prefix)));
    }),
    slip("prefix-query-dropped", "the query of a URI is ignored", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| before_query(uri).starts_with(prefix));
    }),
    slip("prefix-cut-at-query", "the prefix is compared without its query", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| uri.starts_with(before_query(prefix)));
    }),
    slip("prefix-like", "the prefix of resources is a LIKE pattern", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| by_pattern(uri, prefix, &[('%', ".*"), ('_', ".")]));
    }),
    slip("prefix-glob", "the prefix of resources is a glob pattern", |content| {
        content.slips.resource_prefix = Some(|uri, prefix| by_pattern(uri, prefix, &[('*', ".*"), ('?', ".")]));
    }),
    Behaviour {
        also: &["prefix-query-and-nested-urls-literal"],
        ..slip("prefix-regex", "the prefix of resources is a regular expression", |content| {
            content.slips.resource_prefix = Some(|uri, prefix| {
                Regex::new(&format!("^(?:{prefix})"))
                    .map_or_else(|_| uri.starts_with(prefix), |regex| regex.is_match(uri))
            });
        })
    },
    Behaviour {
        also: &["prefix-templates-no-match-is-empty"],
        ..slip("templates-prefix-any-expression", "templates with an expression match any prefix", |content| {
            content.slips.template_prefix = Some(|uri, prefix| uri.starts_with(prefix) || uri.contains('{'));
        })
    },
    slip("templates-prefix-proper", "templates that equal the prefix are not listed", |content| {
        content.slips.template_prefix = Some(|uri, prefix| uri.starts_with(prefix) && uri != prefix);
    }),
    Behaviour {
        also: &["prefix-templates-string-semantics"],
        ..slip("templates-prefix-before-expression", "templates are compared up to their first expression", |content| {
            content.slips.template_prefix =
                Some(|uri, prefix| uri.split('{').next().unwrap_or(uri).starts_with(prefix));
        })
    },
];

const fn slip(name: &'static str, about: &'static str, prepare: fn(&mut Content)) -> Behaviour {
    Behaviour { prepare: Some(prepare), proposal: Some("sep-prefix"), ..Behaviour::new(name, about, EVERYWHERE) }
}

fn by_segments(uri: &str, prefix: &str) -> bool {
    let rest = uri.strip_prefix(prefix);
    rest.is_some_and(|rest| prefix.is_empty() || prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
}

fn before_query(uri: &str) -> &str {
    &uri[..uri.find(['?', '#']).unwrap_or(uri.len())]
}

fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| after.get(..2)).flatten();
        let digits = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    bytes
}

/// Whether the URI begins with the prefix, in which some characters are wildcards.
fn by_pattern(uri: &str, prefix: &str, signs: &[(char, &str)]) -> bool {
    let sign = |c: char| signs.iter().find(|(sign, _)| *sign == c).map(|(_, meaning)| (*meaning).to_owned());
    let pattern: String = prefix.chars().map(|c| sign(c).unwrap_or_else(|| regex::escape(&c.to_string()))).collect();
    Regex::new(&format!("^{pattern}")).is_ok_and(|regex| regex.is_match(uri))
}
