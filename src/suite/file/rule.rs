//! Rules as they are typed.

use super::{Applies, Matcher};
use crate::suite::{
    decode::{OneOrMany, Pairs, keys},
    yaml::{At, Tree},
};

keys! {
    /// One requirement, and how to see whether it holds.
    Rule, "a rule" {
        /// The id of the rule, unique over all suites.
        #[schemars(required)]
        id: At<String>,
        /// The requirement in our own words, after "a server must". Failing it fails the run.
        must: At<String>,
        /// The recommendation in our own words, after "a server should". Failing it warns.
        should: At<String>,
        /// A quality point that no text states. Shown, never fails.
        advice: At<String>,
        /// What a server is free to do. Only observed.
        may: At<String>,
        /// The page and anchor where the norm stands.
        #[schemars(required)]
        source: At<String>,
        /// Why the rule follows, where no text states it outright.
        derived: At<String>,
        /// Judge the rule for each of these: `{ read: $survey.reads }`.
        every: Pairs<OneOrMany<At<String>>>,
        /// Judge only where all of this holds.
        r#where: Pairs<Matcher>,
        /// What must hold: paths, and what is asked of the values there.
        expect: Pairs<Matcher>,
        /// A native check, by its name.
        check: At<String>,
        /// What the native check is given.
        given: Pairs<Tree>,
        /// `may`: what to show.
        observe: OneOrMany<At<String>>,
        /// Rules whose failure is the cause of this one's, where both fail for one subject.
        after: OneOrMany<At<String>>,
        /// What to do about a failure, for the author of the server.
        hint: At<String>,
        /// Faults of the reference server that break this rule.
        faults: OneOrMany<At<String>>,
        /// Where the rule counts, within its suite.
        applies: Applies,
    }
}

keys! {
    /// A requirement without a rule.
    Untested, "an untested requirement" {
        /// Its id, unique over all suites.
        #[schemars(required)]
        id: At<String>,
        /// The requirement in our own words.
        must: At<String>,
        /// The recommendation in our own words.
        should: At<String>,
        /// The quality point in our own words.
        advice: At<String>,
        /// What a server is free to do.
        may: At<String>,
        /// Why no rule shows it.
        #[schemars(required)]
        because: At<String>,
        /// The page and anchor where the norm stands.
        source: At<String>,
    }
}
