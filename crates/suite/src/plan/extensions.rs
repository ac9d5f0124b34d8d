//! Extensions: which ones suites are about, which ones a run judges, and which ones it has only seen.

use crate::Suite;
use conform_model::{error::Error, evidence::RunContext};

/// The prefix of official extensions. Users may leave it out.
const OFFICIAL: &str = "io.modelcontextprotocol/";
/// The field with the extensions in the capabilities of a server.
const DECLARED: &str = "extensions";
/// Identifiers in the note about other extensions.
const SHOWN: usize = 10;

/// The extensions that are judged even if the server does not declare them, by their identifiers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extensions(Vec<String>);

impl Extensions {
    /// Parses the option: identifiers, or names without the official prefix, of extensions that suites are about.
    pub fn new(terms: &[String], suites: &[Suite]) -> Result<Self, Error> {
        let known = gated(suites);
        let of = |term: &String| {
            let found = known.iter().find(|id| *id == term || short(id) == term);
            found.map(|id| (*id).to_owned()).ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|id| short(id)).collect();
                Error::usage(format!("unknown extension `{term}`; known: {}", names.join(", ")))
            })
        };
        terms.iter().map(of).collect::<Result<_, _>>().map(Self)
    }

    /// The extensions to judge: the named ones, and those that suites are about and the server declares.
    pub fn judged(&self, suites: &[Suite], context: &RunContext) -> Vec<String> {
        let mut judged = self.0.clone();
        for id in gated(suites) {
            if declares(context, id) && !judged.iter().any(|named| named == id) {
                judged.push(id.to_owned());
            }
        }
        judged
    }
}

/// The name of an official extension, and the whole identifier of any other.
pub fn short(id: &str) -> &str {
    id.strip_prefix(OFFICIAL).unwrap_or(id)
}

/// The note on extensions: those that were judged, and those that the server declares and no suite is about.
pub fn seen(suites: &[Suite], context: &RunContext) -> Option<String> {
    let by_capability = mentioned(suites).filter(|id| declares(context, id));
    let mut judged: Vec<&str> = context.extensions.iter().map(String::as_str).collect();
    for id in by_capability {
        if !judged.contains(&id) {
            judged.push(id);
        }
    }
    let declared = context.server["capabilities"][DECLARED].as_object();
    let others: Vec<&str> =
        declared.into_iter().flatten().map(|(id, _)| id.as_str()).filter(|id| !judged.contains(id)).collect();
    let named = |ids: &[&str]| {
        let more = ids.len().saturating_sub(SHOWN);
        let first = ids.iter().take(SHOWN).map(|id| id.escape_debug().to_string()).collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{first} and {more} more") } else { first }
    };
    let parts = [("judged", &judged), ("declared and not judged", &others)];
    let parts = parts.into_iter().filter(|(_, ids)| !ids.is_empty());
    let parts: Vec<String> = parts.map(|(what, ids)| format!("{what}: {}", named(ids))).collect();
    (!parts.is_empty()).then(|| format!("extensions {}", parts.join("; ")))
}

fn declares(context: &RunContext, id: &str) -> bool {
    context.server["capabilities"][DECLARED].get(id).is_some_and(serde_json::Value::is_object)
}

/// The extensions on which suites depend by `extension`.
fn gated(suites: &[Suite]) -> Vec<&str> {
    let mut found = Vec::new();
    for suite in suites {
        let of_rules = suite.rules.iter().map(|rule| &rule.applies);
        for applies in std::iter::once(&suite.applies).chain(of_rules) {
            found.extend(applies.extension.as_deref().filter(|id| !found.contains(id)));
        }
    }
    found
}

/// The extensions on which suites depend by a capability.
fn mentioned(suites: &[Suite]) -> impl Iterator<Item = &str> {
    let paths = suites.iter().flat_map(|suite| &suite.applies.server);
    paths.filter_map(|path| path.strip_prefix(DECLARED)?.strip_prefix('.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Known, Origin, load};
    use conform_model::{
        evidence::{Side, Transport},
        revision::Revision,
    };

    fn suites() -> Vec<Suite> {
        let suite = |name: &str, applies: &str| {
            let text = format!(
                "suite: {name}\nabout: x.\napplies: {applies}\nrules:\n  - id: {name}-x\n    may: The server MAY do x\n    \
                 source: a#b\n    observe: [$server.info]\n"
            );
            (format!("{name}.yaml"), text)
        };
        let files = [
            suite("one", "{ extension: io.modelcontextprotocol/skills }"),
            suite("two", "{ server: [extensions.io.modelcontextprotocol/tasks] }"),
        ];
        load(&files, &Known::default(), Origin::User).unwrap_or_else(|mistakes| panic!("{}", mistakes[0]))
    }

    fn context(extensions: &serde_json::Value) -> RunContext {
        let mut context = RunContext::new(Revision::NEWEST, Side::Server, Transport::Stdio);
        context.server = json!({ "capabilities": { "extensions": extensions } });
        context
    }

    #[test]
    fn an_extension_is_judged_where_it_is_declared_or_named() {
        let (suites, skills) = (suites(), "io.modelcontextprotocol/skills".to_owned());
        let judged = |terms: &[&str], declared| {
            let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
            Extensions::new(&terms, &suites).map(|named| named.judged(&suites, &context(&declared)))
        };
        assert_eq!(judged(&[], json!({})).ok(), Some(vec![]));
        assert_eq!(judged(&[], json!({ &skills: true })).ok(), Some(vec![]));
        assert_eq!(judged(&[], json!({ &skills: {} })).ok(), Some(vec![skills.clone()]));
        assert_eq!(judged(&["skills"], json!({ &skills: {} })).ok(), Some(vec![skills.clone()]));
        assert_eq!(judged(&[&skills], json!(null)).ok(), Some(vec![skills.clone()]));
        assert!(judged(&["spells"], json!(null)).is_err());
    }

    #[test]
    fn the_note_names_what_was_judged_and_what_was_not() {
        let suites = suites();
        let note = |declared, judged: &[&str]| {
            let extensions = judged.iter().map(ToString::to_string).collect();
            seen(&suites, &RunContext { extensions, ..context(&declared) })
        };
        assert_eq!(note(json!(null), &[]), None);
        let declared = json!({ "io.modelcontextprotocol/tasks": {}, "com.example/x": {}, "com.example/y": null });
        assert_eq!(
            note(declared, &["io.modelcontextprotocol/skills"]).as_deref(),
            Some(
                "extensions judged: io.modelcontextprotocol/skills, io.modelcontextprotocol/tasks; \
                 declared and not judged: com.example/x, com.example/y"
            )
        );
    }
}
