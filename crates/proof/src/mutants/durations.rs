//! Duration of runs with the default limits: no fault or variation may make a run longer than a user would wait.

use std::{path::Path, time::Duration};

use indexmap::IndexMap;

use mcp_conform::{
    evidence::Transport,
    run::{process::console, trials::Trial},
    suite::Suite,
};

/// Each fault or variation over each transport, in the newest revision of its trials, as `run` tests a server.
pub fn newest(trials: Vec<Trial>) -> Vec<Trial> {
    let mut newest: IndexMap<(Option<String>, Option<String>, Transport), Trial> = IndexMap::new();
    for trial in trials {
        let key = (trial.fault.clone(), trial.proposal.clone(), trial.transport);
        let trial = Trial { all_suites: true, ..trial };
        if newest.get(&key).is_none_or(|known| known.revision < trial.revision) {
            newest.insert(key, trial);
        }
    }
    newest.into_values().collect()
}

/// Runs the trial and prints its duration.
pub fn measure(trial: &Trial, suites: &[Suite], program: Option<&Path>) -> Duration {
    let shown = trial.run(suites, program);
    console::say(&format!("{:6.1} s  {}", shown.took.as_secs_f32(), trial.name()));
    shown.took
}
