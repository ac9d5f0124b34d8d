//! The file of a bundle: a tar archive in one form only, so that no byte of it can change unseen.
//!
//! Times, owners and modes are constant, the order of the files is that of `SHA256SUMS`, which is the first, and nothing
//! is compressed. So the headers follow from names and sizes and are compared with what was written, and a small file
//! cannot become a large one.

use std::{
    fs::File,
    io::{Read, Write},
    path::Path,
};

use ring::digest::{SHA256, digest};

/// Twice what a run with the default limits records.
pub const MOST: u64 = 256 << 20;
/// Files in a bundle at most: a guess, for suites of the user.
const FILES: usize = 1000;
const SUMS: &str = "SHA256SUMS";
const BLOCK: usize = 512;
/// The longest name that a header has room for.
const NAME: usize = 100;

/// The files of a bundle, in order, without that of the sums.
pub type Files = Vec<(String, Vec<u8>)>;

pub fn write(mut out: impl Write, files: &Files) -> std::io::Result<()> {
    let sums: String = files.iter().map(|(name, content)| format!("{}  {name}\n", sum(content))).collect();
    entry(&mut out, SUMS, sums.as_bytes())?;
    files.iter().try_for_each(|(name, content)| entry(&mut out, name, content))?;
    out.write_all(&[0; 2 * BLOCK])?;
    out.flush()
}

fn entry(out: &mut impl Write, name: &str, content: &[u8]) -> std::io::Result<()> {
    out.write_all(&header(name, content.len() as u64))?;
    out.write_all(content)?;
    out.write_all(&[0; BLOCK][..padding(content.len())])
}

const fn padding(length: usize) -> usize {
    length.next_multiple_of(BLOCK) - length
}

/// The only header that a file of this name and size has.
fn header(name: &str, size: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{size:011o}\0"));
    put(136, "00000000000\0");
    // The sum of the header, counted with spaces here.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0");
    put(263, "00");
    let total: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{total:06o}\0 ").as_bytes());
    block
}

pub fn sum(content: &[u8]) -> String {
    digest(&SHA256, content).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files of a bundle, each of them as it was written. An error says what differs.
pub fn read(path: &Path) -> Result<Files, String> {
    let file = File::open(path).map_err(|why| why.to_string())?;
    let length = file.metadata().map_err(|why| why.to_string())?.len();
    if length > MOST {
        return Err(format!("it has {length} bytes; at most {MOST} are read"));
    }
    // A device has no length.
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|why| why.to_string())?;
    if bytes.len() as u64 > MOST {
        return Err(format!("it has more than {MOST} bytes"));
    }
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Result<Files, String> {
    if bytes.len() < BLOCK {
        return Err(no_header(0, bytes));
    }
    let mut rest = Rest { bytes, at: 0 };
    let Some((SUMS, sums)) = rest.entry()? else { return Err(format!("its first file is not {SUMS}")) };
    let sums = std::str::from_utf8(sums).map_err(|_| format!("{SUMS} is not text"))?;
    let mut files = Files::new();
    for line in sums.split_inclusive('\n') {
        let parts = line.strip_suffix('\n').and_then(|line| line.split_once("  "));
        let (expected, named) = parts.ok_or_else(|| format!("{SUMS} is not as it was written: {line:?}"))?;
        if files.len() == FILES || files.iter().any(|(known, _)| known == named) {
            return Err(format!("{SUMS} names {named:?} twice, or more than {FILES} files"));
        }
        let (name, content) = rest.entry()?.ok_or_else(|| format!("{named:?} is missing"))?;
        if name != named {
            return Err(format!("{name:?} is where {SUMS} has {named:?}"));
        }
        if sum(content) != expected {
            return Err(format!("{name:?} was changed: its SHA-256 is not that in {SUMS}"));
        }
        files.push((name.to_owned(), content.to_vec()));
    }
    match rest.entry()? {
        Some((name, _)) => Err(format!("{name:?} is not in {SUMS}")),
        None => Ok(files),
    }
}

/// What is not read yet.
struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("it is truncated after {} bytes", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The next file; `None` after the last one.
    fn entry(&mut self) -> Result<Option<(&'a str, &'a [u8])>, String> {
        let at = self.at;
        let block = self.take(BLOCK)?;
        if block.iter().all(|byte| *byte == 0) {
            let end = self.take(BLOCK)?;
            if end.iter().any(|byte| *byte != 0) || self.at != self.bytes.len() {
                return Err(format!("there is more after its end, at byte {}", at + BLOCK));
            }
            return Ok(None);
        }
        let (name, size) = described(block).ok_or_else(|| no_header(at, block))?;
        if header(name, size) != *block {
            return Err(format!("the header of {name:?} at byte {at} is not as it was written"));
        }
        let size = usize::try_from(size).map_err(|_| format!("{name:?} is too large"))?;
        let content = self.take(size)?;
        if self.take(padding(size))?.iter().any(|byte| *byte != 0) {
            return Err(format!("what follows {name:?} is not as it was written"));
        }
        Ok(Some((name, content)))
    }
}

/// The name and the size in a header.
fn described(block: &[u8]) -> Option<(&str, u64)> {
    let name = block[..NAME].split(|byte| *byte == 0).next()?;
    let name = std::str::from_utf8(name).ok().filter(|name| is_plain(name))?;
    let size = std::str::from_utf8(block.get(124..135)?).ok()?;
    Some((name, u64::from_str_radix(size, 8).ok()?))
}

/// Nothing is extracted, but others may do so with tar.
fn is_plain(name: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'/');
    name.bytes().all(is_safe) && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

fn no_header(at: usize, block: &[u8]) -> String {
    match block {
        _ if at > 0 => format!("at byte {at} there is no header of a file with a plain name"),
        [0x1f, 0x8b, ..] | [b'P', b'K', ..] => "it is compressed: a bundle is a plain tar archive".to_owned(),
        _ => "it is not a bundle".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(files: &[(&str, &str)]) -> Vec<u8> {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        let mut bytes = Vec::new();
        write(&mut bytes, &files).unwrap();
        bytes
    }

    #[test]
    fn each_changed_byte_and_each_length_is_rejected() {
        let bytes = bundle(&[("a.json", "{}"), ("suites/b.yaml", "b: 1\n")]);
        assert_eq!(parse(&bytes).unwrap().len(), 2);
        for at in 0..bytes.len() {
            for bit in [1, 0x20, 0x80] {
                let mut changed = bytes.clone();
                changed[at] ^= bit;
                assert!(parse(&changed).is_err(), "byte {at} ^ {bit}");
            }
            assert!(parse(&bytes[..at]).is_err(), "{at} bytes");
        }
        assert!(parse(&[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn hostile_archives_are_rejected_with_the_reason() {
        let mut huge = header("SHA256SUMS", 0o77_777_777_777).to_vec();
        huge.extend([0; 512]);
        let mut unlisted = bundle(&[("a", "1")]);
        unlisted.truncate(unlisted.len() - 2 * BLOCK);
        let mut twice = unlisted.clone();
        entry(&mut unlisted, "b", b"2").unwrap();
        entry(&mut twice, "a", b"1").unwrap();
        for archive in [&mut unlisted, &mut twice] {
            archive.extend([0; 2 * BLOCK]);
        }
        for (bytes, why) in [
            (bundle(&[("a", "1"), ("a", "2")]), "names \"a\" twice"),
            (bundle(&[("../a", "1")]), "no header of a file with a plain name"),
            (bundle(&[("/etc/passwd", "1")]), "no header of a file with a plain name"),
            (unlisted, "\"b\" is not in SHA256SUMS"),
            (twice, "\"a\" is not in SHA256SUMS"),
            (huge, "truncated after 1024 bytes"),
            (vec![0x1f, 0x8b].into_iter().chain([0; 600]).collect(), "it is compressed"),
            (b"{}".to_vec(), "it is not a bundle"),
            (vec![b'x'; 2000], "it is not a bundle"),
            (Vec::new(), "it is not a bundle"),
            (bundle(&[("a", "1")])[..1200].to_vec(), "truncated after 1200 bytes"),
        ] {
            let told = parse(&bytes).unwrap_err();
            assert!(told.contains(why), "{told}, expected {why}");
        }
    }
}
