//! All that is known of a run: enough to assess it, immediately or later.

use std::{collections::HashMap, sync::Arc};

use serde::de::DeserializeOwned;

use super::{Frame, FrameIndex, FrameKind, Link, Recorder, RunContext, RunHeader};
use crate::revision::Revision;

pub struct Evidence {
    pub header: RunHeader,
    pub links: Vec<Link>,
    pub frames: Frames,
    /// One for each revision that was tested.
    pub contexts: Vec<RunContext>,
    /// Later runs of the rules that had failed, each on connections of its own. The filter in their scope names the rules.
    pub retries: Vec<Evidence>,
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
        let Self { header, links, frames: _, contexts, retries, cut_off } = self;
        (header, links, contexts, cut_off) == (&other.header, &other.links, &other.contexts, &other.cut_off)
            && *retries == other.retries
            && self.frames().eq(other.frames())
    }
}

impl Evidence {
    pub fn frames(&self) -> Box<dyn Iterator<Item = Arc<Frame>> + '_> {
        self.frames_where(|_| true)
    }

    /// The frames that `wanted` selects. Those of a run that has just ended are parsed only then.
    pub fn frames_where<'a>(
        &'a self,
        wanted: impl Fn(&FrameIndex) -> bool + 'a,
    ) -> Box<dyn Iterator<Item = Arc<Frame>> + 'a> {
        match &self.frames {
            Frames::Recorded(recorder) => Box::new(recorder.frames_where(wanted)),
            Frames::Read(frames) => Box::new(frames.iter().filter(move |frame| wanted(&frame.index())).cloned()),
        }
    }

    /// What `generate` recorded under this name.
    pub fn generated<T: DeserializeOwned>(&self, name: &'static str) -> impl Iterator<Item = T> + '_ {
        let recorded = self.frames_where(|index| index.kind == FrameKind::Generated);
        let named = recorded.filter(move |frame| frame.text.as_deref() == Some(name));
        named.filter_map(|frame| T::deserialize(frame.message.as_ref()?).ok())
    }

    /// The index of all frames.
    pub fn indexes(&self) -> Box<dyn Iterator<Item = FrameIndex> + '_> {
        match &self.frames {
            Frames::Recorded(recorder) => Box::new(recorder.indexes()),
            Frames::Read(frames) => Box::new(frames.iter().map(|frame| frame.index())),
        }
    }

    /// The connections of these frames.
    pub fn links_of(&self, frames: impl Fn(&u64) -> bool) -> HashMap<u64, u32> {
        let wanted = self.indexes().filter(|index| frames(&index.frame));
        wanted.map(|index| (index.frame, index.link)).collect()
    }

    /// The frames of the connections that negotiated a revision and, if a client is judged, in that scenario.
    pub fn frames_in(&self, revision: Revision, scenario: Option<&str>) -> Box<dyn Iterator<Item = Arc<Frame>> + '_> {
        let is_there = |link: &&Link| scenario.is_none() || link.scenario.as_deref() == scenario;
        let links = self.links.iter().filter(|link| link.revision == Some(revision)).filter(is_there);
        let links: HashMap<u32, Option<u64>> = links.map(|link| (link.link, link.until)).collect();
        let is_before = |until: &Option<u64>, frame: u64| until.is_none_or(|until| frame <= until);
        self.frames_where(move |index| links.get(&index.link).is_some_and(|until| is_before(until, index.frame)))
    }
}
