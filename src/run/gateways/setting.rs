//! The reference server with the gateway in front of it, or without.

use super::{
    front::{Listening, reach},
    job::GatewayJob,
};
use crate::{
    error::Error,
    evidence::Recorder,
    reference,
    run::clients::{ANYWHERE, Place, Stage},
    target::Start,
    wire::Secrets,
};

pub struct Setting {
    pub stage: Stage,
    /// How our client connects.
    pub start: Start,
    /// The gateway, if it listens at a port.
    pub listening: Option<Listening>,
}

impl Setting {
    pub async fn open(job: &GatewayJob, through: bool, scenario: &str, record: &Recorder) -> Result<Self, Error> {
        let (transport, address) =
            if through { (job.back.transport, job.back.address.as_str()) } else { (job.transport(), ANYWHERE) };
        let place = Place::System { program: &job.program, address, behind: through };
        let options = reference::server::Options::default();
        let stage = Stage::open(options, transport, scenario, place, record, &Secrets::default()).await?;
        let (start, listening) = if through {
            reach(job, &stage.target, Vec::new()).await?
        } else {
            (Start::over(transport, stage.target.clone(), Vec::new()), None)
        };
        Ok(Self { stage, start, listening })
    }
}
