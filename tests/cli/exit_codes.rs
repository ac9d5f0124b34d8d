//! Every exit code except those for mistakes of the user (`usage`) and of the target (`unreachable`).

use crate::{PROGRAM, ran, typed};

#[test]
fn a_conforming_server_is_0() {
    let ran = typed("run --reference");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let mut lines = ran.stdout.lines().rev();
    assert_eq!(lines.next(), Some("exit 0  The server conforms to all rules that were checked."));
    let totals = lines.next().unwrap_or_default();
    assert!(totals.contains(" passed · ") && !totals.contains("failed") && !totals.contains("warning"), "{totals}");
}

#[test]
fn a_must_that_does_not_hold_is_1() {
    let ran = typed("run --reference --fault list-item-without-name");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(ran.stdout.contains("\nFAIL  resources-list-item-name\n"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("\nexit 1  The server does not conform: 1 rule fails.\n"), "{}", ran.stdout);
}

#[test]
fn a_should_that_does_not_hold_is_1_only_if_strict() {
    let lenient = typed("run --reference --fault listed-not-readable");
    assert_eq!(lenient.code, 0, "{}", lenient.stdout);
    assert!(lenient.stdout.contains("\nWARN  resources-list-readable\n"), "{}", lenient.stdout);

    let strict = typed("run --reference --fault listed-not-readable --strict");
    assert_eq!(strict.code, 1, "{}", strict.stdout);
    assert!(strict.stdout.contains("\nFAIL  resources-list-readable\n"), "{}", strict.stdout);
}

#[test]
fn nothing_exercised_is_4() {
    let ran = typed("run --reference --revision 2026-07-28 --filter lifecycle-initialize-result-protocol-version");
    assert_eq!(ran.code, 4);
    let shown = &ran.stdout;
    assert!(shown.contains("\nNot applicable to this server\n    1  until 2025-11-25 only\n"), "{shown}");
    assert!(shown.ends_with("\nexit 4  No rule could be checked.\n"), "{shown}");
}

/// It rejects `initialize` as well, so only its other responses show its revision.
#[test]
fn a_modern_server_without_discovery_is_1() {
    let serve = format!("{PROGRAM} serve --revision 2026-07-28 --fault discover-unknown");
    let ran = ran(["run", "--filter", "base.lifecycle", "--stdio", &serve]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(ran.stdout.contains("\nFAIL  lifecycle-discover-implemented\n"), "{}", ran.stdout);
}
