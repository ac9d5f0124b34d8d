//! The scenarios of a run: each one runs once, however many suites judge it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{
    evidence::Transport,
    outcome::World,
    plan::Filter,
    reference,
    reference::server::{FaultInfo, Options},
    revision::Revision,
    run::inputs::suites::worlds,
    suite::{Action, Applies, Scenario, Suite, diagnostic::suggestion},
};

/// The reference server without a fault or variation.
pub const USUAL: &str = "usual";

/// The world with authorization that shows whether a client logs in at all.
const PLAIN_LOGIN: &str = "oauth-plain";

/// The world with skills that shows whether a client uses them at all.
const PLAIN_SKILLS: &str = "skills";

/// One scenario, under the id of the first suite that has it.
pub struct Planned<'a> {
    pub id: &'a str,
    pub scenario: &'a Scenario,
    suites: Vec<&'a Suite>,
}

/// The scenarios whose rules the filter selects. The usual one always runs, and runs first: it shows which revision the
/// client speaks. Rules without a scenario judge everything. If all rules are selected, every scenario runs, otherwise
/// those of the suites that they require.
pub fn planned<'a>(suites: &'a [Suite], filter: &Filter) -> Vec<Planned<'a>> {
    let selected = |suite: &&Suite| suite.rules.iter().any(|rule| filter.selects(suite, rule));
    let required: Vec<&String> = suites.iter().filter(selected).flat_map(|suite| &suite.requires).collect();
    let mut all = distinct(suites.iter().filter(|suite| selected(suite) || required.contains(&&suite.id)));
    if !all.iter().any(|planned| planned.scenario.world == USUAL) {
        all.extend(distinct(suites.iter()).into_iter().find(|planned| planned.scenario.world == USUAL));
    }
    // The same holds for the plain login before all others, and for the plain skills.
    for plain in [PLAIN_LOGIN, PLAIN_SKILLS] {
        let is_needed = all.iter().any(|planned| planned.after() == Some(plain));
        if is_needed && !all.iter().any(|planned| planned.scenario.world == plain) {
            all.extend(distinct(suites.iter()).into_iter().find(|planned| planned.scenario.world == plain));
        }
    }
    // The first scenario with tasks shows whether a client has them.
    if all.iter().any(Planned::may_have_tasks) {
        let first = distinct(suites.iter()).into_iter().find(Planned::may_have_tasks);
        all.extend(first.filter(|first| all.iter().all(|planned| planned.id != first.id)));
    }
    all.sort_by_key(|planned| planned.scenario.world != USUAL);
    all
}

fn distinct<'a>(suites: impl Iterator<Item = &'a Suite>) -> Vec<Planned<'a>> {
    let mut all: Vec<Planned> = Vec::new();
    for suite in suites {
        let Some(scenario) = &suite.scenario else { continue };
        match all.iter_mut().find(|known| known.scenario == scenario) {
            Some(known) => known.suites.push(suite),
            None => all.push(Planned { id: &suite.id, scenario, suites: vec![suite] }),
        }
    }
    all
}

impl Planned<'_> {
    /// What a client or gateway is started with.
    pub fn world(&self, worlds: &Worlds, actions: Value) -> World {
        let name = self.scenario.world.clone();
        let about = worlds.known.get(&name).map(|info| info.about.clone()).unwrap_or_default();
        World { name, about, scenario: self.id.to_owned(), actions }
    }

    /// Whether its world has authorization.
    pub fn has_login(&self) -> bool {
        reference::server::has_login(&self.scenario.world)
    }

    /// Whether one of its actions is a call that may become a task.
    pub fn may_have_tasks(&self) -> bool {
        self.scenario.drive.iter().any(Action::may_be_task)
    }

    /// The world that shows whether the client does at all what this scenario is about.
    pub fn after(&self) -> Option<&'static str> {
        let world = self.scenario.world.as_str();
        let plain = match () {
            () if self.has_login() => PLAIN_LOGIN,
            () if reference::server::has_skills(world) => PLAIN_SKILLS,
            () => return None,
        };
        (world != plain).then_some(plain)
    }

    /// Whether any of its suites applies there.
    pub fn applies(&self, revision: Revision, transport: Transport) -> bool {
        let fits = |applies: &Applies| {
            let early = applies.since.is_some_and(|since| revision < since);
            let late = applies.until.is_some_and(|until| until < revision);
            !early && !late && (applies.transport.is_empty() || applies.transport.contains(&transport))
        };
        self.suites.iter().any(|suite| fits(&suite.applies) && suite.rules.iter().any(|rule| fits(&rule.applies)))
    }
}

/// All faults, variations and worlds of the reference server, by name.
pub struct Worlds {
    known: HashMap<String, FaultInfo>,
    /// The names of faults.
    faults: HashSet<String>,
}

impl Worlds {
    pub fn all() -> Self {
        let known = worlds().into_iter().map(|world| (world.name.clone(), world)).collect();
        Self { known, faults: reference::server::faults().into_iter().map(|fault| fault.name).collect() }
    }

    /// Whether the world can differ from the usual one here.
    pub fn shows(&self, world: &str, revision: Revision, transport: Transport) -> bool {
        let Some(info) = self.known.get(world) else { return world == USUAL };
        info.transports.contains(&transport)
            && info.since.is_none_or(|since| since <= revision)
            && info.until.is_none_or(|until| revision <= until)
    }

    /// `Err` is the name that was probably meant.
    pub fn named(&self, world: &str) -> Result<Options, Option<String>> {
        if world == USUAL || self.known.contains_key(world) {
            Ok(self.options(world))
        } else {
            Err(suggestion(world, self.known.keys().map(String::as_str).chain([USUAL])))
        }
    }

    pub fn options(&self, world: &str) -> Options {
        let name = Some(world.to_owned()).filter(|name| self.known.contains_key(name));
        let (fault, variation) = if self.faults.contains(world) { (name, None) } else { (None, name) };
        let extensions = self.known.get(world).and_then(|info| info.extension.clone()).into_iter().collect();
        Options { fault, variation, extensions, ..Options::default() }
    }
}
