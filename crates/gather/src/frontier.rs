//! The nodes that a walk has yet to list, as a queue: the next ones in memory, the rest in a temporary file.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Lines, Seek, Write},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of nodes in memory.
const KEPT: usize = 4096;

/// A node to list.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    pub node: Value,
    pub number: u32,
    pub key: String,
    pub depth: usize,
}

#[derive(Default)]
pub struct Frontier {
    first: VecDeque<Stop>,
    /// Further nodes are read back from one file, ...
    reading: Option<Lines<BufReader<File>>>,
    /// ... and new nodes are written to the next.
    writing: Option<BufWriter<File>>,
    length: usize,
}

impl Frontier {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn push(&mut self, stop: Stop) -> io::Result<()> {
        if self.first.len() < KEPT && self.reading.is_none() && self.writing.is_none() {
            self.first.push_back(stop);
        } else {
            if self.writing.is_none() {
                self.writing = Some(BufWriter::new(tempfile::tempfile()?));
            }
            if let Some(file) = &mut self.writing {
                serde_json::to_writer(&mut *file, &stop)?;
                file.write_all(b"\n")?;
            }
        }
        self.length += 1;
        Ok(())
    }

    pub fn pop(&mut self) -> io::Result<Option<Stop>> {
        loop {
            if let Some(stop) = self.first.pop_front() {
                self.length -= 1;
                return Ok(Some(stop));
            }
            if let Some(line) = self.reading.as_mut().and_then(Iterator::next) {
                self.first.push_back(serde_json::from_str(&line?)?);
            } else if let Some(written) = self.writing.take() {
                let mut file = written.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.rewind()?;
                self.reading = Some(BufReader::new(file).lines());
            } else {
                self.reading = None;
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stop(number: usize) -> Stop {
        Stop { node: json!({ "uri": number }), number: 0, key: number.to_string(), depth: number }
    }

    #[test]
    fn more_than_fit_in_memory_come_out_in_order() {
        let (mut frontier, total) = (Frontier::default(), 5 * KEPT);
        let (mut pushed, mut popped) = (0, 0);
        while popped < total {
            // Pushes two nodes for each one that is popped, while there are any.
            for _ in 0..2 {
                if pushed < total {
                    frontier.push(stop(pushed)).expect("a temporary file");
                    pushed += 1;
                }
            }
            assert_eq!(frontier.len(), pushed - popped);
            assert_eq!(frontier.pop().expect("a temporary file"), Some(stop(popped)));
            popped += 1;
            assert!(frontier.first.len() <= KEPT);
        }
        assert_eq!(frontier.pop().expect("nothing to read"), None);
    }

    #[test]
    fn what_fits_in_memory_touches_no_file() {
        let mut frontier = Frontier::default();
        for round in 0..3 {
            for number in 0..KEPT {
                frontier.push(stop(number)).expect("no file");
            }
            assert!(frontier.writing.is_none(), "round {round}");
            while frontier.pop().expect("no file").is_some() {}
        }
    }
}
