//! `run --plan`: the schedule in words. The server is connected to, surveyed and measured, and no suite is gathered.

use std::fmt::Write as _;

use super::{
    executor::Lanes,
    gather_all::{self, Measured},
    schedule::{self, Lane, Schedule, Slot, Stage},
};
use crate::{evidence::RunContext, session::Conversation, suite::Suite};

pub async fn planned<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &RunContext,
    first: Option<Conversation>,
) -> String {
    let mut measured = Measured::of(lanes, suites, scene, first.as_ref()).await;
    let (reading, mut others) = schedule::reading(suites, scene, measured.capacity);
    let mut text = format!("schedule for {} over {}\n", scene.revision, scene.transport);
    measured.second_only(lanes, suites, scene, first.as_ref()).await;
    let capacity = measured.capacity;
    let _ = writeln!(
        text,
        "  several suites at once are {}",
        if capacity.concurrent { "faster" } else { "not faster, or not of use" }
    );
    let _ = writeln!(
        text,
        "  a second connection is {}",
        if capacity.second { "served" } else { "not served, or not of use" }
    );
    let _ =
        writeln!(text, "  a connection {}", if capacity.connects_quickly { "costs little" } else { "is expensive" });
    show("first, what only reads", &reading, &mut text);
    if measured.may_wait_together(lanes, scene) {
        let (waiting, without) = schedule::waiting(&others, scene);
        if gather_all::are_several(&waiting) && measured.many_wait(lanes, scene, first.as_ref()).await {
            show("then, what waits", &waiting, &mut text);
            others = without;
        }
    }
    let Schedule { meanwhile, stages } = schedule::rest(&others, scene, measured.capacity);
    show("meanwhile", &meanwhile, &mut text);
    for stage in &stages {
        show("then", stage, &mut text);
    }
    lanes.close(measured.second, false).await;
    lanes.close(first, false).await;
    lanes.closed().await;
    text
}

fn show(title: &str, stage: &Stage, text: &mut String) {
    let lanes = || stage.lanes.iter().filter(|lane| !lane.suites.is_empty());
    if lanes().next().is_none() && stage.of_clients.is_empty() {
        return;
    }
    let how = if stage.at_once && lanes().count() > 1 { ", at once" } else { "" };
    let _ = writeln!(text, "\n{title}{how}");
    let of_clients = stage.of_clients.iter().map(|suite| Lane::of_client(suite));
    for lane in lanes().cloned().chain(of_clients) {
        let on = match lane.on {
            Some(Slot::Survey) => "connection of the survey",
            Some(Slot::Second) => "second connection",
            None => "own connection",
        };
        let names: Vec<&str> = lane.suites.iter().map(|suite| suite.id.as_str()).collect();
        let _ = writeln!(text, "  {on}: {}\n    {}", names.join(", "), lane.why);
    }
}
