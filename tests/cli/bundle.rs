//! The evidence of a run in one file.

use std::{fs, process::Command};

use crate::ran;

struct Run {
    folder: tempfile::TempDir,
}

const FAULT: [&str; 5] = ["run", "--reference", "--fault", "list-item-without-name", "--quiet"];

impl Run {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// A run with these options, and its report and transcript.
    fn of(options: &[&str]) -> Self {
        let run = Self { folder: tempfile::tempdir().unwrap() };
        let (report, transcript) = (format!("json={}", run.path("run.json")), run.path("run.jsonl"));
        let files = ["--report", &report, "--transcript", &transcript];
        ran(options
            .iter()
            .copied()
            .take_while(|word| *word != "--")
            .chain(files)
            .chain(options.iter().copied().skip_while(|word| *word != "--")));
        run
    }

    fn bundle(&self, more: &[&str]) -> crate::Ran {
        let typed = ["report", "bundle", &self.path("run.json"), "--transcript", &self.path("run.jsonl")];
        ran(typed.into_iter().chain(["--out", &self.path("run.tar")]).chain(more.iter().copied()))
    }

    fn verify(&self) -> crate::Ran {
        ran(["report", "verify", &self.path("run.tar")])
    }

    /// Replaces a text in the bundle by one of the same length, and its sums by those of the new content.
    fn forge(&self, from: &str, to: &str) {
        assert_eq!(from.len(), to.len());
        let path = self.path("run.tar");
        let bytes = fs::read(&path).unwrap();
        let mut forged = String::from_utf8(bytes).unwrap().replace(from, to).into_bytes();
        let folder = self.path("extracted");
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, &forged).unwrap();
        let tar = Command::new("tar").args(["-xf", &path, "-C", &folder]).status().unwrap();
        assert!(tar.success(), "tar reads a bundle");
        // The content of the first file begins after its header.
        let mut at = 512;
        for line in fs::read_to_string(format!("{folder}/SHA256SUMS")).unwrap().lines() {
            let content = fs::read(format!("{folder}/{}", line.split_once("  ").unwrap().1)).unwrap();
            let digest = ring::digest::digest(&ring::digest::SHA256, &content);
            let sum: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
            forged[at..at + sum.len()].copy_from_slice(sum.as_bytes());
            at += line.len() + 1;
        }
        fs::write(&path, forged).unwrap();
    }
}

#[test]
fn a_bundle_is_verified_by_another_program_and_by_its_transcript() {
    let run = Run::of(&[&FAULT[..], &["--filter", "resources.list"]].concat());
    let written = run.bundle(&[]);
    assert_eq!((written.code, written.stderr), (0, format!("wrote {}\n", run.path("run.tar"))));
    let first = fs::read(run.path("run.tar")).unwrap();
    run.bundle(&[]);
    assert!(first == fs::read(run.path("run.tar")).unwrap(), "the same evidence is the same file");
    let verified = run.verify();
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    let shown = "\
files     3 files, each as it was written
run       the reference server with the fault list-item-without-name · 2026-07-28 · stdio
repeat    mcp-conform run --reference --fault list-item-without-name --revision 2026-07-28 --filter resources.list
holds     The server does not conform: 1 rule fails.
";
    assert_eq!(verified.stdout, shown);
    // The sums are those of the files that tar extracts.
    run.forge("\"schema\": 1", "\"schema\": 1");
    assert!(first == fs::read(run.path("run.tar")).unwrap());
}

#[test]
fn a_changed_byte_is_named_by_its_file() {
    let run = Run::of(&[&FAULT[..], &["--filter", "resources.list"]].concat());
    run.bundle(&[]);
    let whole = fs::read(run.path("run.tar")).unwrap();
    let find = |text: &str| whole.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    for (at, told) in [
        (512, "\"manifest.json\" was changed: its SHA-256 is not that in SHA256SUMS"),
        (find("\"command\""), "\"manifest.json\" was changed"),
        (find("\"exit_code\""), "\"report.json\" was changed"),
        (find("{\"transcript\""), "\"transcript.jsonl\" was changed"),
        (find("report.json\0"), "is not as it was written"),
        (whole.len() - 1, "there is more after its end"),
    ] {
        let mut changed = whole.clone();
        changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
        fs::write(run.path("run.tar"), changed).unwrap();
        let refused = run.verify();
        assert_eq!(refused.code, 2, "{at}: {}", refused.stdout);
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
    }
}

#[test]
fn a_forged_report_does_not_hold() {
    let run = Run::of(&[&FAULT[..], &["--filter", "resources.list"]].concat());
    run.bundle(&[]);
    run.forge("\"status\": \"fail\"", "\"status\": \"pass\"");
    let verified = run.verify();
    assert_eq!(verified.code, 1, "{}{}", verified.stdout, verified.stderr);
    assert!(verified.stdout.contains("fails     the verdict does not hold"), "{}", verified.stdout);
    let told = "resources-list-item-name: pass in the report, fail when judged again";
    assert!(verified.stdout.contains(told), "{}", verified.stdout);

    // Nor can it be bundled.
    let report = fs::read_to_string(run.path("run.json")).unwrap();
    fs::write(run.path("run.json"), report.replace("\"status\": \"fail\"", "\"status\": \"pass\"")).unwrap();
    let refused = run.bundle(&[]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("does not follow from") && refused.stderr.contains(told), "{}", refused.stderr);
}

#[test]
fn known_and_flaky_results_hold_and_are_told() {
    let known = tempfile::NamedTempFile::new().unwrap();
    let list = known.path().display().to_string();
    let run = Run::of(&[&FAULT[..], &["--filter", "resources.list", "--write-baseline", &list]].concat());
    assert_eq!(run.bundle(&[]).code, 0);
    let verified = run.verify();
    assert!(verified.stdout.contains("note      the report accepts 1 failure as known\n"), "{}", verified.stdout);
    assert!(verified.stdout.ends_with("holds     All failures are known.\n"), "{}", verified.stdout);
}

#[test]
fn a_configuration_loses_its_secrets_and_suites_come_along() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("mcp-conform.toml").display().to_string();
    let own = crate::path("tests/cli/own.yaml").display().to_string();
    let argv = serde_json::json!([crate::PROGRAM, "serve"]);
    let text = format!("suites = [{own:?}]\n[targets.one]\nstdio = {argv}\nenv = {{ API_KEY = \"geheim-1234\" }}\n");
    fs::write(&config, text).unwrap();
    let run = Run::of(&["run", "--config", &config, "--filter", "resources.list", "--quiet"]);
    let written = run.bundle(&["--config", &config]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    let bundle = String::from_utf8(fs::read(run.path("run.tar")).unwrap()).unwrap();
    assert!(!bundle.contains("geheim-1234") && bundle.contains("API_KEY = \"${API_KEY}\""));
    assert!(bundle.contains("suites/001-own.yaml"));
    let verified = run.verify();
    assert!(verified.stdout.starts_with("files     5 files, "), "{}{}", verified.stdout, verified.stderr);
    assert!(
        verified.stdout.contains("note      judged with custom suites, which can replace built-in rules\n"),
        "{}",
        verified.stdout
    );
    assert_eq!(verified.code, 0);
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file").display().to_string();
    for (content, why) in [
        (&b"{}"[..], "it is not a bundle"),
        (&[0x1f, 0x8b, 8, 0], "it is compressed: a bundle is a plain tar archive"),
        (&[0; 1024], "its first file is not SHA256SUMS"),
    ] {
        fs::write(&path, content).unwrap();
        let refused = ran(["report", "verify", &path]);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(why), "{why}: {}", refused.stderr);
    }
    // It is refused by its length, before it is read.
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let refused = ran(["report", "verify", &path]);
    assert!(refused.stderr.contains("it has 1099511627776 bytes; at most 268435456 are read"), "{}", refused.stderr);
}
