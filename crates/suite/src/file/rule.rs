//! Rules as they are typed.

use schemars::JsonSchema;

use super::{Applies, Matcher};
use crate::decode::{Decode, OneOrMany, Pairs, keys};
use crate::model::{Certainty, Fix};
use conform_source::{
    diagnostic::Problems,
    yaml::{At, Tree, Yaml},
};

use conform_model::outcome::Loss;

keys! {
    /// One requirement and its test, or what several have in common.
    #[schemars(extend("anyOf" = [{ "required": ["id"] }, { "required": ["rules"] }]))]
    Rule, "a rule" {
        /// The id of the rule, unique over all suites.
        id: At<String>,
        /// The requirement in our own words: "The server MUST ...". A violation fails the run.
        must: At<String>,
        /// The recommendation in our own words: "The server SHOULD ...". A violation is a warning.
        should: At<String>,
        /// A quality point that the specification does not state: "Consider ...". Shown, never fails.
        advice: At<String>,
        /// What the specification permits: "The server MAY ...". Only observed.
        may: At<String>,
        /// In a profile: what the host rejects, drops or loses, as a sentence about it.
        fail: At<String>,
        /// In a profile: what the host cuts or ignores, or what is known by weak evidence only.
        warn: At<String>,
        /// The page and anchor of the specification. Required, but a group can state it. In a profile: pages of the host,
        /// `owner/repository#number`, or `owner/repository@commit:path`.
        source: OneOrMany<At<String>>,
        /// In a profile: what the user of the host loses.
        lost: Loss,
        /// In a profile: the date of the newest evidence.
        seen: At<String>,
        /// In a profile: how the behavior is known: `page`, `source`, `maintainer`, `threads`, `thread` or `secondhand`.
        certainty: Certainty,
        /// In a profile: the version of the host in the evidence.
        host_version: At<String>,
        /// In a profile: what to change, as one word for which the SDKs say how: `name`, `title`, `hints`, `description`,
        /// `input-schema` or `output-schema`.
        fix: Fix,
        /// The reason, if the specification does not state the rule explicitly.
        derived: At<String>,
        /// Judge the rule for each of these: `{ read: $survey.reads }`.
        every: Every,
        /// Judge only if all of these hold.
        r#where: Pairs<Matcher>,
        /// Paths with the conditions on their values.
        expect: Pairs<Matcher>,
        /// The name of a check that is written in Rust.
        check: At<String>,
        /// The arguments of the check.
        given: Pairs<Tree>,
        /// `may`: the paths to show.
        observe: OneOrMany<At<String>>,
        /// Replies that a finding depends on and shows first, such as the one that ended the session.
        shows: OneOrMany<At<String>>,
        /// Added to the message if all that was judged fails with the same error, three times or more, such as "as they do when ...".
        if_all: At<String>,
        /// Rules whose failure for the same subject is the cause of this one's.
        after: OneOrMany<At<String>>,
        /// Whether it is about the form of a message: of one that it fails for, no other rule says anything.
        form: bool,
        /// How to fix a failure, for the author of the server.
        hint: At<String>,
        /// Faults of the reference server that violate this rule.
        faults: OneOrMany<At<String>>,
        /// Where the rule applies, within its suite.
        applies: Applies,
        /// In place of an id and a title: the rules of a group, which have all other keys in common. A rule adds its own `where`,
        /// and completes `applies`; its other keys count instead of those of the group.
        #[schemars(with = "Option<Vec<Rule>>")]
        rules: Vec<Tree>,
    }
}

keys! {
    /// A requirement without a rule.
    Untested, "an untested requirement" {
        /// Its id, unique over all suites.
        #[schemars(required)]
        id: At<String>,
        /// The requirement in our own words: "The server MUST ...".
        must: At<String>,
        /// The recommendation in our own words: "The server SHOULD ...".
        should: At<String>,
        /// The quality point in our own words: "Consider ...".
        advice: At<String>,
        /// What the specification permits: "The server MAY ...".
        may: At<String>,
        /// In a profile: what the host rejects, drops or loses.
        fail: At<String>,
        /// In a profile: what the host cuts or ignores.
        warn: At<String>,
        /// Why no rule can test it.
        #[schemars(required)]
        because: At<String>,
        /// The page and anchor of the specification.
        source: At<String>,
    }
}

// No comment for editors: the key has one.
#[derive(Debug, JsonSchema)]
#[schemars(inline)]
pub struct Every(pub Pairs<OneOrMany<At<String>>>);

impl Decode for Every {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        let Yaml::String(path) = &tree.value else { return Pairs::decode(tree, problems).map(Self) };
        let last = path.rsplit(['.', '$']).next().unwrap_or_default();
        let name = Some(last.trim_end_matches('s')).filter(|name| name.chars().all(char::is_alphanumeric));
        let help = format!("write `every: {{ {}: {path} }}`", name.filter(|name| !name.is_empty()).unwrap_or("item"));
        problems.add_with(tree.at, "expected a mapping, received a string", help);
        None
    }
}
