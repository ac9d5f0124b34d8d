//! The schedule in words.

use super::schedule::{Lane, Phase, Slot};
use crate::suite::Suite;

/// The schedule in words, for `run --plan`.
pub fn in_words(phases: &[Phase<&Suite>]) -> String {
    let lane = |lane: &Lane<&Suite>| {
        let on = match lane.on {
            Slot::Survey => "connection of the survey",
            Slot::Second => "second connection",
            Slot::New => "new connection",
        };
        let names: Vec<&str> = lane.suites.iter().map(|suite| suite.id.as_str()).collect();
        format!("  {on}: {}\n    {}\n", names.join(", "), lane.why)
    };
    let mut words = String::new();
    let mut number = 0;
    for phase in phases {
        let first = number + 1;
        for stage in &phase.stages {
            number += 1;
            let how = match stage.at_once.min(stage.lanes.len()) {
                1 => "one lane after another".to_owned(),
                many => format!("{many} lanes at once"),
            };
            let lanes: String = stage.lanes.iter().map(lane).collect();
            words += &format!("\nstage {number}, {how}\n{lanes}");
        }
        let stages = if first < number { format!("stages {first} to {number}") } else { format!("stage {first}") };
        let meanwhile: String = phase.meanwhile.iter().map(lane).collect();
        words += &if meanwhile.is_empty() { meanwhile } else { format!("\nconcurrently with {stages}\n{meanwhile}") };
    }
    words
}
