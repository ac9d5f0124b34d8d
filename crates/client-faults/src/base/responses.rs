//! Faults in responses to requests of the server.

use std::time::Duration;

use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE,
        decisions::{Heard, Phase},
    },
    message,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        reply_delay: Some(|_, method| if method == "ping" { Duration::from_secs(7) } else { Duration::ZERO }),
        ..legacy("ping-response-late", "ping gets its response after seven seconds")
    },
    Behaviour {
        serves_in_turn: true,
        ..legacy("requests-served-in-turn", "requests of the server wait until no own request is open")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let waiting = scene.open.iter().any(|(_, method)| method == "initialize");
            drop_if(message::is_request(message) && waiting)
        }),
        ..legacy("requests-before-initialize-dropped", "requests before the response to initialize are dropped")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let waiting = scene.open.iter().any(|(_, method)| method == "initialize");
            drop_if(message::is_request(message) && !waiting && scene.phase != Phase::Open)
        }),
        ..legacy("requests-after-initialize-dropped", "requests before notifications/initialized are dropped")
    },
];

const fn legacy(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::legacy(name, about, EVERYWHERE)
}

fn drop_if(dropped: bool) -> Heard {
    if dropped { Heard::Nothing } else { Heard::Message }
}
