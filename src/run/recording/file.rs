//! The file of a recording, or several files if they rotate.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    evidence::{Link, RunHeader, transcript},
    run::process::console,
};

/// Maximum number of file names that are tried.
const NAMES: usize = 100_000;

pub struct Output {
    /// The file name of the options.
    named: PathBuf,
    /// The current file; `None` after an error.
    open: Option<(PathBuf, BufWriter<File>)>,
    rotate: Option<u64>,
    written: u64,
    header: RunHeader,
    /// Connections that are still open. The next file repeats them.
    links: BTreeMap<u32, Link>,
    began: Instant,
    notes: Vec<String>,
}

impl Output {
    /// Opens the file. An existing file is kept, and the next free name is used. A failure is reported once, and then
    /// nothing is recorded.
    pub fn create(named: &Path, rotate: Option<u64>, header: RunHeader) -> Self {
        let (open, links, notes) = (None, BTreeMap::new(), Vec::new());
        let mut output =
            Self { named: named.to_owned(), open, rotate, written: 0, header, links, began: Instant::now(), notes };
        let opened = output.begin();
        output.check(opened);
        output
    }

    /// The current file.
    pub fn path(&self) -> Option<&Path> {
        self.open.as_ref().map(|(path, _)| path.as_path())
    }

    /// Writes one line of this kind.
    pub fn line(&mut self, kind: &str, text: &str) {
        if kind == "link" {
            self.remember(text);
        }
        if self.rotate.is_some_and(|most| self.written >= most) {
            let rotated = self.rotate_now();
            self.check(rotated);
        }
        let Some((_, file)) = &mut self.open else { return };
        self.written += (kind.len() + text.len() + 6) as u64;
        let written = writeln!(file, r#"{{"{kind}":{text}}}"#);
        self.check(written);
    }

    pub fn flush(&mut self) {
        let flushed = self.open.as_mut().map_or(Ok(()), |(_, file)| file.flush());
        self.check(flushed);
    }

    /// Adds a note to the end of the record.
    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Nothing follows.
    pub fn close(&mut self) {
        let closed = self.finish(None);
        self.check(closed);
        self.open = None;
    }

    fn begin(&mut self) -> io::Result<()> {
        let (path, file) = free(&self.named)?;
        let mut file = BufWriter::new(file);
        transcript::begin(&mut file, &self.header)?;
        self.written = 0;
        self.open = Some((path, file));
        self.flush();
        Ok(())
    }

    fn rotate_now(&mut self) -> io::Result<()> {
        // The name of the next file is known only when it has been created.
        let Some((path, file)) = self.open.take() else { return Ok(()) };
        self.begin()?;
        let next = self.path().and_then(|next| Some(next.file_name()?.to_string_lossy().into_owned()));
        let new = self.open.replace((path, file));
        self.finish(next)?;
        self.open = new;
        let links: Vec<Link> = self.links.values().cloned().collect();
        if let Some((_, file)) = &mut self.open {
            for link in links {
                let late = Link { late: true, ..link };
                writeln!(file, r#"{{"link":{}}}"#, serde_json::to_string(&late)?)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, next: Option<String>) -> io::Result<()> {
        let Some((_, file)) = &mut self.open else { return Ok(()) };
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let notes = if next.is_none() { self.notes.clone() } else { Vec::new() };
        transcript::close(&mut *file, &transcript::Closed { ms, notes, next })?;
        file.flush()
    }

    fn remember(&mut self, text: &str) {
        let Ok(link) = serde_json::from_str::<Link>(text) else { return };
        if link.ended.is_some() {
            self.links.remove(&link.link);
        } else {
            self.links.insert(link.link, link);
        }
    }

    /// Traffic continues even if the record fails.
    fn check(&mut self, done: io::Result<()>) {
        let Err(why) = done else { return };
        let path = self.path().unwrap_or(&self.named).display().to_string();
        // A usual drop would try to write again.
        if let Some((_, file)) = self.open.take() {
            let _ = file.into_parts();
        }
        console::complain(&format!("mcp-conform record: {path}: {why}; nothing more is recorded, the traffic goes on"));
    }
}

/// The file with this name, or if it exists, the first of `NAME-2`, `NAME-3` and so on that does not. A name that is
/// not a regular file, such as a pipe, is written to.
fn free(named: &Path) -> io::Result<(PathBuf, File)> {
    if named.metadata().is_ok_and(|there| !there.is_file()) {
        return Ok((named.to_owned(), OpenOptions::new().write(true).open(named)?));
    }
    for number in 1..NAMES {
        let path = if number == 1 { named.to_owned() } else { numbered(named, number) };
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
            opened => return Ok((path, opened?)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn numbered(named: &Path, number: usize) -> PathBuf {
    let mut name = named.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!("-{number}"));
    if let Some(extension) = named.extension() {
        name.push(".");
        name.push(extension);
    }
    named.with_file_name(name)
}

/// Time to finish the record before the program exits without it. A guess.
pub const LAST: Duration = Duration::from_secs(2);
