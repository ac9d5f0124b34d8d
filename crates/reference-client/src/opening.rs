//! Opens a connection: era, version, handshake. Reopens it if it is lost.

use std::{rc::Rc, time::Duration};

use serde_json::{Value, json};
use tokio::{task::spawn_local, time::sleep};

use crate::{
    behaviour::decisions::{Era, Handshake, Initialized, Probed, Restart, Settlement},
    message, meta,
    options::Transport,
    report::{Failure, Outcome},
    requests::Ask,
    state::Client,
    transport::Connection,
};
use conform_model::revision::Revision;

/// The time limit of the probe: a legacy server may ignore it. A guess.
const PROBE: Duration = Duration::from_secs(5);

/// Maximum number of probes of one connection, whatever a fault decides: the harness has no time for more.
const MOST_PROBES: usize = 200;

impl Client {
    /// Opens a connection and settles the revision.
    pub async fn open(self: &Rc<Self>) -> Result<(), Failure> {
        self.connect().await?;
        let modern = self.options.revision.is_modern();
        let offer = if modern { Revision::NEWEST_LEGACY } else { self.options.revision };
        let mut plan = Handshake {
            probe: (modern || self.ways.habits.probes) && !self.kind.get().capabilities().endpoint,
            initialize: true,
            offer: json!(offer.as_str()),
            awaits: true,
            initialized: Initialized::After,
            early_stream: false,
            timeout: Some(self.options.timeout),
            probe_timeout: Some(PROBE.min(self.options.timeout)),
            repeats: 0,
            pause: Duration::ZERO,
        };
        if let Some(hook) = self.ways.handshake {
            self.with(|memory, scene| hook(memory, scene, &mut plan));
        }
        let known = self.state.borrow().revision.filter(|_| self.state.borrow().starts > 1);
        // The era of a server is determined once.
        if let Some(revision) = known.filter(|revision| !revision.is_modern()) {
            plan.probe = false;
            if modern {
                plan.offer = json!(revision.as_str());
            }
        }
        if plan.probe {
            match self.probe(&plan).await {
                Era::Modern(revision) => {
                    self.settle_modern(revision);
                    return Ok(());
                }
                Era::Legacy(revision) => plan.offer = json!(revision.as_str()),
                Era::LegacyAnew(revision) => {
                    plan.offer = json!(revision.as_str());
                    self.close_quietly().await;
                    self.connect().await?;
                }
                Era::Again(_) => return Err(Failure::closed("the server was probed without end")),
                Era::GiveUp(why) => return Err(Failure::closed(why)),
            }
        }
        self.handshake(&plan).await
    }

    async fn connect(self: &Rc<Self>) -> Result<(), Failure> {
        {
            let mut state = self.state.borrow_mut();
            state.starts += 1;
            state.over = None;
            (state.opening, state.opened) = (false, false);
            state.session = None;
        }
        let transport = Connection::open(self, self.kind.get()).await?;
        *self.transport.borrow_mut() = Some(transport);
        Ok(())
    }

    async fn probe(self: &Rc<Self>, plan: &Handshake) -> Era {
        let own = meta::capabilities(&self.options.answers, &self.ways.habits, Revision::NEWEST);
        let ask = Ask { timeout: plan.probe_timeout, endless: plan.probe_timeout.is_none(), ..Ask::default() };
        let mut last = Era::GiveUp("the server was not probed".to_owned());
        for _ in 0..MOST_PROBES {
            {
                let mut state = self.state.borrow_mut();
                (state.modern, state.own) = (true, own.clone());
            }
            let outcome = self.once("server/discover", &json!({}), &ask, None).await;
            let mut era = self.era_of(&outcome);
            if let Some(hook) = self.ways.era {
                let probed = outcome.as_ref().map_or_else(Probed::Failure, Probed::Result);
                self.with(|memory, scene| hook(memory, scene, &probed, &mut era));
            }
            if let Ok(result) = &outcome {
                self.state.borrow_mut().server = result["capabilities"].clone();
            }
            let Era::Again(wait) = era else {
                last = era;
                break;
            };
            last = Era::Again(wait);
            sleep(wait).await;
        }
        if !matches!(last, Era::Modern(_)) {
            self.state.borrow_mut().modern = false;
        }
        last
    }

    fn era_of(&self, outcome: &Outcome) -> Era {
        let common = |supported: &Value| {
            let supported = supported.as_array().into_iter().flatten().filter_map(Value::as_str);
            supported.filter_map(|version| version.parse::<Revision>().ok()).max()
        };
        let no_common = || Era::GiveUp("the server supports no version that this client supports".to_owned());
        let configured = Some(self.options.revision).filter(|revision| !revision.is_modern());
        let newest = configured.unwrap_or(Revision::NEWEST_LEGACY);
        let legacy = Era::Legacy(newest);
        match outcome {
            Ok(result) if !result["supportedVersions"].is_array() => legacy,
            Ok(result) => match common(&result["supportedVersions"]) {
                Some(revision) if revision.is_modern() => Era::Modern(revision),
                Some(revision) => Era::Legacy(revision),
                None => no_common(),
            },
            Err(failure) => match (failure.code(), failure.status, failure.kind) {
                (Some(message::UNSUPPORTED_VERSION), ..) => match common(&failure.error["data"]["supported"]) {
                    Some(revision) if !revision.is_modern() => Era::Legacy(revision),
                    _ => no_common(),
                },
                (Some(code), ..) if message::MODERN_ERRORS.contains(&code) => Era::GiveUp(failure.message.clone()),
                (Some(_), ..) | (_, _, "timeout" | "invalid" | "error") => legacy,
                // These statuses are about authorization or server errors, and say nothing about the era.
                (None, Some(401 | 403 | 500..), _) => Era::GiveUp(failure.message.clone()),
                (None, Some(_), _) => legacy,
                (None, None, _) if self.is_process() => Era::LegacyAnew(newest),
                (None, None, _) => Era::GiveUp(failure.message.clone()),
            },
        }
    }

    fn is_process(&self) -> bool {
        self.kind.get().capabilities().process
    }

    fn settle_modern(&self, revision: Revision) {
        let mut state = self.state.borrow_mut();
        (state.revision, state.modern, state.opened) = (Some(revision), true, true);
    }

    async fn handshake(self: &Rc<Self>, plan: &Handshake) -> Result<(), Failure> {
        let offered = plan.offer.as_str().and_then(|version| version.parse().ok()).unwrap_or(Revision::NEWEST_LEGACY);
        let own = meta::capabilities(&self.options.answers, &self.ways.habits, offered);
        {
            let mut state = self.state.borrow_mut();
            (state.modern, state.opening, state.revision) = (false, true, None);
            state.own = own.clone();
        }
        if !plan.initialize {
            let mut state = self.state.borrow_mut();
            (state.revision, state.opened) = (Some(offered), true);
            return Ok(());
        }
        let params = json!({ "protocolVersion": plan.offer, "capabilities": own, "clientInfo": meta::client_info() });
        let ask = Ask { timeout: plan.timeout, endless: plan.timeout.is_none(), ..Ask::default() };
        if plan.early_stream {
            self.current()?.stand_by(self);
        }
        if plan.initialized == Initialized::Early {
            self.say_initialized().await;
        }
        if !plan.awaits {
            let (client, params) = (Rc::clone(self), params.clone());
            spawn_local(async move { client.once("initialize", &params, &ask, None).await });
            {
                let mut state = self.state.borrow_mut();
                (state.revision, state.opened) = (Some(offered), true);
            }
            return self.settled(plan).await;
        }
        let mut outcome = self.once("initialize", &params, &ask, None).await;
        for _ in 0..plan.repeats {
            if outcome.is_ok() {
                break;
            }
            sleep(plan.pause).await;
            outcome = self.once("initialize", &params, &ask, None).await;
        }
        if let Err(failure) = &outcome
            && self.is_old_server(failure, offered)
        {
            self.close_quietly().await;
            self.kind.set(Transport::Sse);
            self.connect().await?;
            self.state.borrow_mut().opening = true;
            outcome = self.once("initialize", &params, &ask, None).await;
        }
        let mut settlement = settlement_of(&outcome);
        if let Some(hook) = self.ways.settle {
            self.with(|memory, scene| hook(memory, scene, &outcome, &mut settlement));
        }
        match settlement {
            Settlement::Disconnect(why) => Err(outcome.err().unwrap_or_else(|| Failure::invalid(why))),
            Settlement::GoOn(revision) => {
                {
                    let mut state = self.state.borrow_mut();
                    state.revision = Some(revision);
                    state.server = outcome.map_or(Value::Null, |result| result["capabilities"].clone());
                }
                self.settled(plan).await
            }
        }
    }

    async fn settled(self: &Rc<Self>, plan: &Handshake) -> Result<(), Failure> {
        if plan.initialized == Initialized::After {
            self.say_initialized().await;
        }
        {
            let mut state = self.state.borrow_mut();
            state.opened = true;
            state.owes_initialized = plan.initialized == Initialized::Late;
        }
        self.current()?.stand_by(self);
        Ok(())
    }

    pub async fn say_initialized(self: &Rc<Self>) {
        self.deliver(message::notification("notifications/initialized", &Value::Null)).await.ok();
    }

    /// Whether the status of the first POST is that of a server of 2024-11-05.
    fn is_old_server(&self, failure: &Failure, offered: Revision) -> bool {
        let Some(status) = failure.status else { return false };
        let mut old = self.kind.get().capabilities().stream_per_request
            && match status {
                400 | 404 | 405 => true,
                401 | 403 => false,
                // Until 2025-06-18 any client error was the sign.
                _ => (400..500).contains(&status) && !offered.features().polling,
            };
        if let Some(hook) = self.ways.old_transport {
            hook(&mut self.memory.borrow_mut(), status, &mut old);
        }
        old
    }

    /// Opens the connection again if it was lost.
    pub async fn revive(self: &Rc<Self>) -> Result<(), Failure> {
        let _one = self.reviving.lock().await;
        let Some(why) = self.state.borrow().over.clone() else { return Ok(()) };
        let attempts = self.state.borrow().restarts;
        let mut next = Restart {
            again: attempts < 3,
            wait: Duration::from_millis(200) * attempts.min(10),
            keeps_id: false,
            handshake: true,
            listens: true,
            attempts,
        };
        if let Some(hook) = self.ways.restart {
            self.with(|memory, scene| hook(memory, scene, &mut next));
        }
        if !next.again {
            return Err(Failure::closed(why));
        }
        self.state.borrow_mut().restarts = attempts.saturating_add(1);
        sleep(next.wait).await;
        let dead = self.state.borrow().session.clone().filter(|_| next.keeps_id);
        self.close_quietly().await;
        if next.handshake {
            self.open().await?;
        } else {
            let before = self.state.borrow().revision;
            self.connect().await?;
            let mut state = self.state.borrow_mut();
            (state.revision, state.opened) = (before, true);
        }
        if let Some(dead) = dead {
            self.state.borrow_mut().session = Some(dead);
        }
        let listens = std::mem::take(&mut self.state.borrow_mut().listens);
        if next.listens {
            for filter in listens {
                crate::actions::listen(self, filter, "listen");
            }
        }
        Ok(())
    }

    /// Closes the connection, without ending the session.
    async fn close_quietly(self: &Rc<Self>) {
        let transport = self.transport.borrow_mut().take();
        // Ignore further messages of the old connection.
        self.state.borrow_mut().starts += 1;
        if let Some(transport) = transport {
            transport.close(self, &crate::closing::plan(0)).await;
        }
    }
}

fn settlement_of(outcome: &Outcome) -> Settlement {
    match outcome {
        Ok(result) => match result["protocolVersion"].as_str().map(str::parse::<Revision>) {
            Some(Ok(revision)) if !revision.is_modern() => Settlement::GoOn(revision),
            _ => Settlement::Disconnect(format!("this client does not support {}", result["protocolVersion"])),
        },
        Err(failure) => Settlement::Disconnect(failure.message.clone()),
    }
}
