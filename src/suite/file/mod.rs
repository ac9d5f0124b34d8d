//! What a suite file may hold, key by key. The texts on the keys are also what an editor shows: `suites/schema.json`.

mod matcher;
mod rule;
mod schema;
mod step;
mod words;

pub use matcher::{LengthBounds, Matcher};
pub use rule::{Rule, Untested};
pub use schema::schema;
pub use step::{Deviation, Limits, Step};

use super::{
    decode::{OneOrMany, Pairs, keys},
    model::{Client, Connection},
    yaml::{At, Tree},
};
use crate::{evidence::Transport, revision::Revision};

keys! {
    /// A suite: steps that gather evidence, and rules that judge it.
    SuiteFile, "a suite" {
        /// The id of the suite, unique: `sep-2093.metadata`.
        #[schemars(required)]
        suite: At<String>,
        /// One sentence: what the suite is about.
        #[schemars(required)]
        about: At<String>,
        /// Where the suite counts. Without it: everywhere.
        applies: Applies,
        /// `isolated` for a suite that may disturb the connection, `new` for one before which little was sent, `final` for one
        /// after which the server may be gone, `per-call` where each call is made on a new one.
        connection: Connection,
        /// What the client declares: `basic` without details, or `none`. On a connection of its own, if the server requested anything of a full client.
        capabilities: Client,
        /// Suites that are gathered too where a rule of this one is judged.
        requires: OneOrMany<At<String>>,
        /// Rules that are not judged where this suite counts, because it says otherwise; `*` stands for any text.
        replaces: OneOrMany<At<String>>,
        /// Constants that differ by revision, in scope as `$values.name`.
        values: Pairs<Vec<ValueRow>>,
        /// What to do, in order. A failed step never stops the next one.
        gather: Vec<Step>,
        /// What to ask of what was gathered.
        rules: Vec<Rule>,
        /// What no rule can show, and why.
        untested: Vec<Untested>,
    }
}

keys! {
    /// Where something counts. What is left out sets no condition.
    Applies, "`applies`" {
        /// The first revision.
        since: At<Revision>,
        /// The last revision.
        until: At<Revision>,
        /// Over these transports alone.
        transport: OneOrMany<Transport>,
        /// Part of this proposal, not of a released revision.
        proposal: At<String>,
        /// Capabilities that the server declares: `resources`, `resources.subscribe`; `!tools` for one it does not.
        server: OneOrMany<At<String>>,
        /// `true`: only on a server that asks for authorization as the protocol describes it.
        protected: bool,
        /// Facts that the configuration has to give: `change`.
        facts: OneOrMany<At<String>>,
    }
}

keys! {
    /// What a value is in some revisions.
    ValueRow, "a row of a value" {
        /// The first revision.
        since: At<Revision>,
        /// The last revision.
        until: At<Revision>,
        /// The value.
        #[schemars(required)]
        is: Tree,
        /// The value is a text, repeated so often.
        times: usize,
    }
}
