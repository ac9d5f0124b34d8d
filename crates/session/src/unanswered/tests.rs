use super::*;

const USUAL: Duration = Duration::from_secs(10);
const SECOND: Duration = Duration::from_secs(1);

fn wanted(suite: &str, kind: &str, within: Duration) -> Wanted {
    let kind = Kind { text: kind.to_owned(), types: String::new(), awaited: kind.starts_with("notifications/") };
    Wanted { kind, suite: suite.to_owned(), within }
}

#[test]
fn less_time_is_given_once_enough_was_missed() {
    let unanswered = Unanswered::default();
    unanswered.answered(Some(Duration::from_millis(20)), false, None);
    unanswered.missed(true, "suite", None);
    assert_eq!(unanswered.limit(Some(USUAL), false, None), USUAL / 2);
    unanswered.missed(true, "suite", None);
    assert_eq!((unanswered.limit(Some(USUAL), false, None), unanswered.told(USUAL)), (AT_LEAST, None));
    unanswered.missed(true, "suite", None);
    assert!(unanswered.told(USUAL).is_some_and(|told| told.ends_with("was 1 s")));
}

#[test]
fn a_slow_server_gets_more_and_never_more_than_usual() {
    let unanswered = Unanswered::default();
    (0..3).for_each(|_| unanswered.missed(true, "suite", None));
    unanswered.answered(Some(SECOND), true, None);
    unanswered.answered(Some(Duration::from_millis(300)), false, None);
    assert_eq!(unanswered.limit(Some(USUAL), false, None), SECOND * 3);
    unanswered.late();
    assert_eq!((unanswered.limit(Some(USUAL), false, None), unanswered.told(USUAL)), (USUAL, None));
}

#[test]
fn a_suite_gives_up_what_it_missed_twice() {
    let (unanswered, listen) = (Unanswered::default(), wanted("a", "listen", USUAL));
    unanswered.missed(true, "a", Some(&listen));
    unanswered.answered(None, false, Some(&listen));
    assert!(!unanswered.gives_up(&listen));
    unanswered.missed(true, "a", Some(&listen));
    assert!(unanswered.gives_up(&listen));
    // Another suite sends as many, whatever timed out before.
    assert!(!unanswered.gives_up(&wanted("b", "listen", USUAL)));
    assert!(!unanswered.gives_up(&wanted("a", "other", USUAL)));
    let given_up = GivenUp { sent: 2, suites: vec!["a".to_owned()] };
    assert_eq!(unanswered.given_up(), [(listen.kind, given_up)]);
}

#[test]
fn what_was_waited_for_less_may_come_in_more_time() {
    let (unanswered, brief) = (Unanswered::default(), wanted("a", "call", SECOND));
    (0..2).for_each(|_| unanswered.missed(false, "a", Some(&brief)));
    assert!(unanswered.gives_up(&brief));
    assert_eq!(unanswered.limit(None, false, Some(&brief)), SHORT_TIMEOUT);
    let longer = wanted("a", "call", SECOND * 3);
    assert!(!unanswered.gives_up(&longer));
    assert_eq!(unanswered.limit(None, false, Some(&longer)), SECOND * 3);
}

#[test]
fn less_time_is_given_to_announcements_where_two_did_not_come() {
    let unanswered = Unanswered::default();
    let limit = || unanswered.limit(None, false, Some(&wanted("b", "notifications/c", USUAL)));
    for name in ["a", "b"] {
        unanswered.missed(false, "a", Some(&wanted("a", &format!("notifications/{name}"), USUAL)));
    }
    assert_eq!((limit(), unanswered.limit(None, false, Some(&wanted("b", "call", USUAL)))), (ANNOUNCED, USUAL));
    unanswered.answered(None, false, Some(&wanted("a", "notifications/d", USUAL)));
    assert_eq!(limit(), USUAL);
}

#[test]
fn the_second_of_a_kind_waits_half_and_later_ones_briefly() {
    let (unanswered, listen) = (Unanswered::default(), wanted("a", "listen", USUAL));
    let limit = || unanswered.limit(Some(USUAL), false, Some(&wanted("b", "listen", USUAL)));
    unanswered.missed(true, "a", Some(&listen));
    assert_eq!(limit(), USUAL / 2);
    unanswered.missed(true, "a", Some(&listen));
    assert_eq!(limit(), SHORT_TIMEOUT);
    unanswered.reset_counts(0, &["a"]);
    assert_eq!((limit(), unanswered.gives_up(&listen)), (USUAL / 2, false));
}

#[test]
fn a_slow_server_is_not_cut_short_after_its_first_miss() {
    let unanswered = Unanswered::default();
    unanswered.answered(Some(SECOND * 2), false, None);
    unanswered.missed(true, "suite", None);
    assert_eq!(unanswered.limit(Some(USUAL), false, None), USUAL);
}

#[test]
fn what_is_left_is_waited_for_briefly_after_much_time_for_nothing() {
    let unanswered = Unanswered::default();
    let began = Instant::now().checked_sub(MAX_TIME_UNANSWERED).expect("a machine that runs for longer");
    unanswered.waited(began);
    // The waits overlap.
    unanswered.waited(began);
    assert!(unanswered.state().waited < MAX_TIME_UNANSWERED * 2);
    let limit = |wanted: Option<&Wanted>| unanswered.limit(Some(USUAL), false, wanted);
    assert_eq!((limit(None), limit(Some(&wanted("a", "call", USUAL)))), (SHORT_TIMEOUT, SHORT_TIMEOUT));
    assert_eq!(limit(Some(&wanted("a", "notifications/a", USUAL))), USUAL);
    unanswered.missed(true, "a", None);
    unanswered.late();
    unanswered.missed(true, "a", None);
    assert_eq!(limit(None), AT_LEAST);
}
