//! A failed handshake stops a run, but what the server sent is still judged: it may show the cause.

use super::run_context::context;
use crate::{
    error::Error,
    evidence::{Ended, FrameKind, Recorder, Reply, RunContext, Side},
    revision::Revision,
    run::inputs::job::{Job, Revisions},
    session::{Unopened, echo},
};

/// The context for rules that need no gathered evidence, and the failure as a note. `None` if there is nothing to judge:
/// the server sent nothing of its own, or only showed that it is not the tested one: it speaks another revision, nothing is
/// at the URL, or it printed its usage or an error and exited.
pub fn scene_without_handshake(unopened: &Unopened, job: &Job, recorder: &Recorder) -> Option<(RunContext, String)> {
    let Unopened { error: Error::Target { came, help, .. }, hello, held_back: false } = unopened else { return None };
    let links = recorder.links();
    let transport = links.first()?.transport;
    let left: Vec<_> = links.iter().filter(|link| link.ended == Some(Ended::Unasked)).map(|link| link.link).collect();
    let refused = hello.as_ref().and_then(Reply::status).is_some_and(|status| status >= 300);
    let said = recorder.frames().any(|frame| {
        let shows_a_server = match frame.kind {
            _ if frame.event.is_some() => true,
            FrameKind::Junk => transport.capabilities().process && !left.contains(&frame.link),
            // Over HTTP+SSE only the stream shows it. Without one the URL is that of something else.
            FrameKind::Message => !transport.capabilities().endpoint,
            _ => false,
        };
        frame.from == Side::Server && shows_a_server
    });
    let refused = refused && !transport.capabilities().endpoint;
    if (refused || !said || echo(recorder).is_some()) && !requires_authorization(hello.as_ref()) {
        return None;
    }
    let revision = match job.revisions {
        Revisions::One(revision) => revision,
        Revisions::Auto | Revisions::All => Revision::NEWEST_LEGACY,
    };
    for link in &links {
        recorder.settle(link.link, revision);
    }
    Some((context(hello.as_ref(), transport, revision, job), format!("the handshake failed: {came}; {help}")))
}

/// The server requires authorization, which can be tested.
pub fn requires_authorization(hello: Option<&Reply>) -> bool {
    hello.and_then(Reply::status) == Some(401)
}
