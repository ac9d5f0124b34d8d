//! A run that stops early because somebody wants it to.

use crate::ran;

const FAULTY: [&str; 8] =
    ["run", "--reference", "--fault", "list-item-without-name", "--filter", "resources", "--filter", "tools"];

#[test]
fn nothing_is_run_after_the_first_failure_if_that_is_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let all = ran(FAULTY);
    let stopped = ran(FAULTY.into_iter().chain(["--fail-fast"]));
    assert_eq!((all.code, stopped.code), (1, 1), "{}", stopped.stdout);
    assert!(stopped.stdout.contains("FAIL  resources-list-item-name"), "{}", stopped.stdout);
    let note = "note  --fail-fast stopped the run when resources-list-item-name had failed";
    assert!(stopped.stdout.contains(note), "{}", stopped.stdout);
    assert!(!stopped.stdout.contains("BROKEN") && !all.stdout.contains("--fail-fast"), "{}", stopped.stdout);

    // A failure that is known stops nothing.
    let known = directory.path().join("known.toml").display().to_string();
    ran(FAULTY.into_iter().chain(["--write-baseline", &known]));
    let passed = ran(FAULTY.into_iter().chain(["--fail-fast", "--baseline", &known]));
    assert_eq!(passed.code, 0, "{}", passed.stdout);
    assert!(!passed.stdout.contains("--fail-fast"), "{}", passed.stdout);
}
