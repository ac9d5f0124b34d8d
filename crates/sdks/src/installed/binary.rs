//! What a compiled program says about what was built in.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use memchr::memmem::Finder;

/// Larger programs are not read.
const LARGEST: u64 = 256 * 1024 * 1024;
/// How much of it is in memory at a time.
const PART: usize = 1024 * 1024;
/// Longer texts are no versions.
const LONGEST: usize = 40;
/// How programs for Linux, macOS (two byte orders, and several architectures in one) and Windows begin.
const MAGIC: [&[u8]; 5] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe", b"MZ"];

pub struct Binary(PathBuf);

/// Whether a program runs others, so that what was built into it says nothing about a server.
pub fn is_interpreter(program: &Path) -> bool {
    is_one_of(program, &["dotnet", "java", "php", "pypy", "python", "ruby", "uv", "uvx"]) || is_for_javascript(program)
}

/// Whether a program runs scripts in JavaScript.
pub fn is_for_javascript(program: &Path) -> bool {
    is_one_of(program, &["bun", "bunx", "deno", "node"])
}

/// Its name may end with a version.
fn is_one_of(program: &Path, names: &[&str]) -> bool {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    names.contains(&stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// The files that list the packages of a .NET program: `dotnet` starts a library or builds the project of a folder, and the
/// list of a program that starts by itself is next to it.
pub fn lists(program: &Path, places: &[PathBuf]) -> Vec<Binary> {
    let is_dotnet = is_one_of(program, &["dotnet"]);
    let of_place = |place: &PathBuf| match place.is_dir() {
        true => place.join("obj/project.assets.json"),
        false => place.with_extension("deps.json"),
    };
    let of_dotnet = places.iter().filter(|_| is_dotnet).map(of_place);
    of_dotnet.chain([program.with_extension("deps.json")]).filter(|list| list.is_file()).map(Binary).collect()
}

impl Binary {
    /// `None` for a script, and for what is too large.
    pub fn of(program: &Path) -> Option<Self> {
        let mut file = File::open(program).ok()?;
        let mut begin = [0; 4];
        file.read_exact(&mut begin).ok()?;
        let is_program = MAGIC.iter().any(|magic| begin.starts_with(magic));
        (is_program && file.metadata().ok()?.len() <= LARGEST).then(|| Self(program.to_owned()))
    }

    /// The version of a crate: the text of a panic has the path of its source.
    pub fn of_crate(&self, package: &str) -> Option<String> {
        self.after(&format!("/{package}-"), b"/\\")
    }

    /// The version of a Go module: each program lists what it was built from.
    pub fn of_module(&self, module: &str) -> Option<String> {
        self.after(&format!("dep\t{module}\t"), b"\t\n")
    }

    /// The version of a .NET package: the list of what a program needs may be part of it.
    pub fn of_assembly(&self, package: &str) -> Option<String> {
        self.after(&format!("\"{package}/"), b"\"")
    }

    /// The version that follows a text and ends with one of these bytes.
    fn after(&self, text: &str, ends: &[u8]) -> Option<String> {
        let (finder, mut file) = (Finder::new(text), File::open(&self.0).ok()?);
        let (mut part, mut filled) = (vec![0; PART], 0);
        loop {
            let read = file.read(&mut part[filled..]).ok().filter(|read| *read > 0)?;
            filled += read;
            let mut places = finder.find_iter(&part[..filled]);
            if let Some(version) = places.find_map(|at| version(&part[at + text.len()..filled], ends)) {
                return Some(version);
            }
            // It may have been cut.
            let kept = (text.len() + LONGEST).min(filled);
            part.copy_within(filled - kept..filled, 0);
            filled = kept;
        }
    }
}

/// The version with which a text begins.
fn version(text: &[u8], ends: &[u8]) -> Option<String> {
    let end = text.iter().take(LONGEST).position(|byte| ends.contains(byte))?;
    let version = std::str::from_utf8(&text[..end]).ok()?.trim_start_matches('v');
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_version_is_found_across_two_parts() {
        let place = tempfile::tempdir().expect("a folder");
        let (program, named) = (place.path().join("server"), b"/index/rmcp-0.8.1/src/lib.rs");
        for before in [PART - named.len() - 4, PART - 20, PART - 8, 3 * PART - 15] {
            fs::write(&program, [b"\x7fELF".as_slice(), &vec![b'.'; before], named].concat()).expect("a file");
            let binary = Binary::of(&program).expect("a program");
            assert_eq!(binary.of_crate("rmcp").as_deref(), Some("0.8.1"), "{before}");
            assert_eq!(binary.of_crate("other"), None);
        }
        fs::write(&program, b"\x7fELF dep\tgithub.com/a/sdk\tv1.2.0\th1:x=\n").expect("a file");
        assert_eq!(Binary::of(&program).expect("a program").of_module("github.com/a/sdk").as_deref(), Some("1.2.0"));
    }
}
