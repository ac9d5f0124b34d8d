//! Probes with one deviation: a server that rejects them for another reason gets no verdict about the deviation.

use crate::report;

/// The rules above advice that a fault breaks.
fn broken_by(fault: &str) -> Vec<String> {
    let (report, _) = report(&format!("run --reference --fault {fault} --revision 2026-07-28"));
    let rules = report["rules"].as_array().expect("rules").iter();
    let broken = rules.filter(|rule| rule["status"] == "fail" || rule["status"] == "warn");
    broken.filter_map(|rule| rule["id"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_server_that_requires_client_info_breaks_that_rule_alone() {
    assert_eq!(broken_by("client-info-demanded"), ["lifecycle-client-info-not-required"]);
}

#[test]
fn a_server_that_checks_no_version_remembers_none() {
    let broken = broken_by("modern-only-version-optional");
    assert!(broken.contains(&"lifecycle-missing-version-rejected".to_owned()), "{broken:?}");
    assert!(!broken.contains(&"lifecycle-no-context-from-prior-requests".to_owned()), "{broken:?}");
}

#[test]
fn a_malformed_cancellation_is_no_race() {
    let broken = broken_by("malformed-cancel-crashes");
    assert!(broken.contains(&"cancellation-invalid-survived".to_owned()), "{broken:?}");
    assert!(!broken.contains(&"cancellation-races-handled".to_owned()), "{broken:?}");
}

#[test]
fn a_server_that_rejects_valid_calls_too_did_not_validate_arguments() {
    let (report, _) = report("run --reference --fault calls-need-initialize --revision 2026-07-28");
    let status = |id: &str| {
        let rules = report["rules"].as_array().expect("rules");
        rules.iter().find(|rule| rule["id"] == id).expect("a rule of this id")["status"].clone()
    };
    assert_eq!(status("tools-inputs-validated"), "not-exercised");
    assert_eq!(status("lifecycle-no-request-requires-initialize"), "fail");
}

#[test]
fn an_unsupported_version_is_tried_in_each_state() {
    let broken = broken_by("version-checked-once");
    assert!(broken.contains(&"lifecycle-unsupported-version-error".to_owned()), "{broken:?}");
    let broken = broken_by("version-unchecked-after-initialize");
    assert_eq!(broken, ["lifecycle-dual-era-unsupported-version"]);
}
