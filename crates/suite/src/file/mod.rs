//! What a suite file may hold, key by key. The texts on the keys are also what an editor shows: `suites/schema.json`.

mod group;
mod matcher;
mod rule;
mod schema;
mod step;
mod words;

pub use group::Grouped;
pub use matcher::{LengthBounds, Matcher};
pub use rule::{Rule, Untested};
pub use schema::{schema, without_null};
pub use step::{Deviation, Limits, Step};

use super::{
    decode::{OneOrMany, Pairs, keys},
    model::{Capabilities, Connection, LevelWord},
    yaml::{At, Tree},
};
use conform_model::{
    evidence::{Side, Transport},
    revision::Revision,
};

keys! {
    /// A suite: steps that gather evidence, and rules that judge it.
    SuiteFile, "a suite" {
        /// The id of the suite, unique: `sep-2093.metadata`. A profile has none of its own.
        suite: At<String>,
        /// The subject of the suite in one sentence.
        about: At<String>,
        /// The name of a profile: its rules say what one host rejects, drops or cuts. They send nothing.
        profile: At<String>,
        /// Of a profile: the date as of which it says so.
        as_of: At<String>,
        /// Of a profile: the host.
        host: At<String>,
        /// Of a profile: another one, all of whose rules it has too: `vscode@2026-11-29`.
        extends: At<String>,
        /// Of a profile that extends another one: levels that rules have in place of their own.
        levels: Pairs<ProfileLevel>,
        /// Of a profile that extends another one: values in place of its `values`.
        parameters: Pairs<Tree>,
        /// The subject that the rules judge: `server` (default), `client` or `gateway`.
        subject: Side,
        /// About clients: the fault, variation or world of the reference server that the client meets; `usual` is the server as it is.
        /// Without it the rules judge everything that was recorded.
        world: At<String>,
        /// About clients: the actions of the client after `connect` and before `close`.
        drive: Vec<Tree>,
        /// About clients: how the handlers of a client respond if it follows instructions.
        answers: Tree,
        /// About clients: the minimum timeout of a start in milliseconds, for scenarios in which a conforming client may wait long.
        patience: usize,
        /// Where the suite applies. Default: everywhere.
        applies: Applies,
        /// `isolated` for a suite that may disturb the connection, `new` for one before which little was sent, `final` for one
        /// after which the server may be gone, `per-call` where each call is made on a new one.
        connection: Connection,
        /// What the client declares: `basic` without details, or `none`. On a connection of its own, if the server requested anything of a full client.
        capabilities: Capabilities,
        /// Suites that are gathered too when a rule of this suite is judged.
        requires: OneOrMany<At<String>>,
        /// Rules that are not judged where this suite applies; `*` matches any text.
        replaces: OneOrMany<At<String>>,
        /// Constants by revision, available as `$values.name`.
        values: Pairs<Vec<ValueRow>>,
        /// The steps, in order, alone or in groups. A failed step does not stop the next one.
        gather: Grouped<Step>,
        /// The rules that judge the evidence, alone or in groups.
        rules: Grouped<Rule>,
        /// Requirements without a rule, with the reason.
        untested: Vec<Untested>,
    }
}

keys! {
    /// The level of a rule in a profile that extends another one.
    ProfileLevel, "a level", needs [level, reason] {
        /// `fail`, `warn`, `advice`, or `off`.
        #[schemars(required)]
        level: LevelWord,
        /// Stands in the report.
        #[schemars(required)]
        reason: At<String>,
    }
}

keys! {
    /// Where something applies. A missing key sets no condition.
    Applies, "`applies`" {
        /// The first revision.
        since: At<Revision>,
        /// The last revision.
        until: At<Revision>,
        /// Only over these transports.
        transport: OneOrMany<Transport>,
        /// Only for this proposal.
        proposal: At<String>,
        /// Only for this extension, by its identifier: `io.modelcontextprotocol/skills`. The requests of a suite declare it.
        extension: At<String>,
        /// Capabilities that the server declares: `resources`, `resources.subscribe`; `!tools` for one it does not.
        server: OneOrMany<At<String>>,
        /// `true`: only on a server that requires authorization.
        protected: bool,
        /// Facts that the configuration must have: `change`.
        facts: OneOrMany<At<String>>,
    }
}

keys! {
    /// The value in some revisions.
    ValueRow, "a row of a value" {
        /// The first revision.
        since: At<Revision>,
        /// The last revision.
        until: At<Revision>,
        /// The value.
        #[schemars(required)]
        is: Tree,
        /// Repeat the string this number of times.
        times: usize,
    }
}
