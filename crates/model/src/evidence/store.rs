//! Keeps frames as text, which takes a tenth of the memory of parsed values. Beyond a budget, the oldest frames go to a
//! temporary file.
//!
//! If the file would become too long or cannot be written, recording stops: the record is then the run up to that
//! point.

use std::{
    collections::VecDeque,
    fs::File,
    io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write},
    sync::Arc,
};

use serde_json::Value;
use tokio::time::Instant;

use super::{Frame, FrameIndex};

/// Memory for a frame besides its text, roughly.
const FRAME_COST: u64 = 90;

pub struct Store {
    began: Instant,
    budget: u64,
    /// Maximum size of the file, ...
    most: u64,
    /// ... and maximum number of frames.
    frames_at_most: u64,
    pub recorded: u64,
    frames: VecDeque<Kept>,
    bytes: u64,
    spilled: Option<BufWriter<File>>,
    written: u64,
    /// Why recording has stopped, if it has.
    pub full: Option<String>,
    /// Receives the frames and connections if they are not kept here.
    pub sink: Option<Sink>,
    /// When the next frame was observed, if earlier than now.
    pub seen: Option<Instant>,
}

/// Receives a JSON text and its key in a transcript line.
pub type Sink = Box<dyn FnMut(&str, &str) + Send>;

/// A frame as text with its index, so that most frames need not be parsed.
#[derive(Clone)]
struct Kept {
    index: FrameIndex,
    text: Arc<str>,
}

impl Kept {
    fn of(line: &str) -> Option<Self> {
        let (index, text) = line.split_once(' ')?;
        Some(Self { index: serde_json::from_str(index).ok()?, text: text.into() })
    }

    fn read(&self) -> Option<Arc<Frame>> {
        serde_json::from_str(&self.text).ok()
    }

    fn cost(&self) -> u64 {
        FRAME_COST + self.text.len() as u64
    }
}

impl Store {
    pub fn new(budget: u64, most: u64, frames_at_most: u64) -> Self {
        Self {
            began: Instant::now(),
            budget,
            most,
            frames_at_most,
            recorded: 0,
            frames: VecDeque::new(),
            bytes: 0,
            spilled: None,
            written: 0,
            full: None,
            sink: None,
            seen: None,
        }
    }

    /// The selected frames, in order.
    pub fn frames<F: Fn(&FrameIndex) -> bool>(&mut self, wanted: F) -> impl Iterator<Item = Arc<Frame>> + use<F> {
        self.kept(wanted).filter_map(|kept| kept.read())
    }

    /// All frames as JSON texts.
    pub fn texts(&mut self) -> impl Iterator<Item = Arc<str>> + use<> {
        self.kept(|_| true).map(|kept| kept.text)
    }

    /// The index of all frames.
    pub fn indexes(&mut self) -> impl Iterator<Item = FrameIndex> + use<> {
        self.kept(|_| true).map(|kept| kept.index)
    }

    fn kept<F: Fn(&FrameIndex) -> bool>(&mut self, wanted: F) -> impl Iterator<Item = Kept> + use<F> {
        let earlier = self.spilled.as_mut().and_then(|file| {
            file.flush().ok()?;
            let mut reader = file.get_ref().try_clone().ok()?;
            reader.rewind().ok()?;
            Some(BufReader::new(reader))
        });
        let later: Vec<Kept> = self.frames.iter().filter(|kept| wanted(&kept.index)).cloned().collect();
        let lines = earlier.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
        let earlier = lines.filter_map(|line| Kept::of(&line)).filter(move |kept| wanted(&kept.index));
        earlier.chain(later)
    }

    pub fn since(&self, seen: u64) -> Vec<Arc<Frame>> {
        let behind = usize::try_from(self.recorded.saturating_sub(seen)).unwrap_or(usize::MAX);
        let known = self.frames.len().saturating_sub(behind);
        self.frames.range(known..).filter_map(Kept::read).collect()
    }

    pub fn keep(&mut self, mut frame: Frame<&Value>) {
        self.recorded += 1;
        frame.frame = self.recorded;
        let since = self.seen.unwrap_or_else(Instant::now).saturating_duration_since(self.began);
        frame.at = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        let text = serde_json::to_string(&frame).unwrap_or_else(|error| unreachable!("all keys are strings: {error}"));
        if let Some(sink) = &mut self.sink {
            return sink("frame", &text);
        }
        let kept = Kept { index: frame.index(), text: text.into() };
        self.bytes += kept.cost();
        self.frames.push_back(kept);
        if self.full.is_some() {
            return;
        }
        if self.recorded >= self.frames_at_most {
            self.full = Some(format!("the record of the run reached {} messages (record_messages)", self.recorded));
        } else if self.bytes > self.budget
            && let Err(error) = self.spill()
        {
            self.full = Some(format!("the record of the run could not be continued: {error}"));
        }
    }

    /// Moves the older half of the frames to the file.
    fn spill(&mut self) -> std::io::Result<()> {
        match &mut self.spilled {
            // A reader may have left the position in the middle.
            Some(file) => _ = file.seek(SeekFrom::End(0))?,
            none => *none = Some(BufWriter::new(tempfile::tempfile()?)),
        }
        while self.bytes > self.budget / 2
            && let (Some(kept), Some(file)) = (self.frames.front(), &mut self.spilled)
        {
            let index = serde_json::to_string(&kept.index)?;
            writeln!(file, "{index} {}", kept.text)?;
            self.written += (index.len() + kept.text.len()) as u64 + 2;
            self.bytes = self.bytes.saturating_sub(kept.cost());
            self.frames.pop_front();
        }
        self.spilled.as_mut().map_or(Ok(()), Write::flush)?;
        if self.written > self.most {
            self.full = Some(format!("the record of the run reached {} bytes on disk (disk_bytes)", self.most));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use crate::evidence::{FrameKind, Recorder, Transport};

    #[test]
    fn frames_beyond_the_budget_are_read_back_in_order() {
        let recorder = Recorder::new(1_200, 100_000, 1000);
        for number in 0..50 {
            recorder.received(1, None, &json!({ "id": number }), 100, Vec::new(), None);
            // An iterator that is not read to the end blocks nothing.
            assert!(recorder.frames().next().is_some());
        }
        let ids: Vec<_> =
            recorder.frames().map(|frame| frame.message.clone().unwrap()["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (0..50).collect::<Vec<_>>());
        assert!(recorder.since(0).len() < 10, "most of them are in the file");
        assert_eq!(recorder.full(), None);
    }

    #[test]
    fn a_file_that_is_too_long_ends_the_record_and_what_was_waited_for_is_told() {
        let recorder = Recorder::new(6_000, 1_000, 1000);
        recorder.open_link(Transport::Stdio);
        for number in 0..100 {
            recorder.received(1, None, &json!({ "id": number }), 100, Vec::new(), None);
        }
        assert_eq!(recorder.full().as_deref(), Some("the record of the run reached 1000 bytes on disk (disk_bytes)"));
        recorder.cut_short("over", Duration::from_secs(10));
        let frames: Vec<_> = recorder.frames().collect();
        assert!(frames.len() < 50 && frames.iter().map(|frame| frame.frame).eq(1..=frames.len() as u64));
        assert_eq!(frames.last().map(|frame| frame.kind), Some(FrameKind::CutShort));
    }
}
