//! What a compiled program says about what was built in.

use std::{fs::File, io::Read, path::Path};

use memchr::memmem::Finder;

/// Larger programs are not read.
const LARGEST: u64 = 256 * 1024 * 1024;
/// How programs for Linux, macOS (two byte orders, and several architectures in one) and Windows begin.
const MAGIC: [&[u8]; 5] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe", b"MZ"];

pub struct Contents(Vec<u8>);

impl Contents {
    pub fn read(program: &Path) -> Option<Self> {
        let mut file = File::open(program).ok()?;
        let mut begin = [0; 4];
        file.read_exact(&mut begin).ok()?;
        let is_program = MAGIC.iter().any(|magic| begin.starts_with(magic));
        if !is_program || file.metadata().ok()?.len() > LARGEST {
            return None;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// The version of a crate: the text of a panic has the path of its source.
    pub fn of_crate(&self, package: &str) -> Option<String> {
        self.after(&format!("/{package}-"), b"/\\")
    }

    /// The version of a Go module: each program lists what it was built from.
    pub fn of_module(&self, module: &str) -> Option<String> {
        self.after(&format!("dep\t{module}\t"), b"\t\n")
    }

    /// The version that follows a text and ends with one of these bytes.
    fn after(&self, text: &str, ends: &[u8]) -> Option<String> {
        const LONGEST: usize = 40;
        Finder::new(text).find_iter(&self.0).find_map(|at| {
            let rest = &self.0[at + text.len()..];
            let end = rest.iter().take(LONGEST).position(|byte| ends.contains(byte))?;
            let version = std::str::from_utf8(&rest[..end]).ok()?.trim_start_matches('v');
            version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
        })
    }
}
