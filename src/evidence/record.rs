//! All that is known of a run: enough to assess it, immediately or later.

use std::{collections::HashSet, sync::Arc};

use super::{Ended, Frame, FrameKind, Link, Recorder, RunContext, RunHeader};
use crate::revision::Revision;

pub struct Evidence {
    pub header: RunHeader,
    pub links: Vec<Link>,
    pub frames: Frames,
    /// One for each revision that was tested.
    pub contexts: Vec<RunContext>,
    /// The line at which the transcript is truncated, if it is.
    pub cut_off: Option<usize>,
}

/// Where the frames are.
pub enum Frames {
    Recorded(Recorder),
    Read(Vec<Arc<Frame>>),
}

/// Compares everything that a report can depend on.
impl PartialEq for Evidence {
    fn eq(&self, other: &Self) -> bool {
        let Self { header, links, frames: _, contexts, cut_off } = self;
        (header, links, contexts, cut_off) == (&other.header, &other.links, &other.contexts, &other.cut_off)
            && self.frames().eq(other.frames())
    }
}

impl Evidence {
    pub fn frames(&self) -> Box<dyn Iterator<Item = Arc<Frame>> + '_> {
        match &self.frames {
            Frames::Recorded(recorder) => Box::new(recorder.frames()),
            Frames::Read(frames) => Box::new(frames.iter().cloned()),
        }
    }

    /// The frames that exceed a limit and were not read.
    pub fn unread(&self) -> impl Iterator<Item = Arc<Frame>> + '_ {
        self.frames_with(r#""kind":"unread""#).filter(|frame| frame.kind == FrameKind::Unread)
    }

    /// The frames that record the end of a stream, a request or a process in this way.
    pub fn ended(&self, how: Ended) -> impl Iterator<Item = Arc<Frame>> + '_ {
        self.frames_with(r#""ended":"#).filter(move |frame| frame.ended == Some(how))
    }

    /// All frames, except that those of a run that has just ended have this text. Only they are parsed.
    fn frames_with(&self, sign: &'static str) -> Box<dyn Iterator<Item = Arc<Frame>> + '_> {
        match &self.frames {
            Frames::Recorded(recorder) => Box::new(recorder.frames_where(move |_, text| text.contains(sign))),
            Frames::Read(frames) => Box::new(frames.iter().cloned()),
        }
    }

    /// The frames of the connections that negotiated a revision and, if a client is judged, in that scenario.
    pub fn frames_in(&self, revision: Revision, scenario: Option<&str>) -> Box<dyn Iterator<Item = Arc<Frame>> + '_> {
        let is_there = |link: &&Link| scenario.is_none() || link.scenario.as_deref() == scenario;
        let links = self.links.iter().filter(|link| link.revision == Some(revision)).filter(is_there);
        let links: HashSet<u32> = links.map(|link| link.link).collect();
        match &self.frames {
            Frames::Recorded(recorder) => Box::new(recorder.frames_where(move |link, _| links.contains(&link))),
            Frames::Read(frames) => Box::new(frames.iter().filter(move |frame| links.contains(&frame.link)).cloned()),
        }
    }
}
