//! The sum of numbers is not more than a limit. `called` says what is counted.

use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "total", given: &["numbers", "at-most", "called"], run };

fn run(given: &Given) -> Report {
    let numbers: Vec<f64> = given.list("numbers").iter().filter_map(Value::as_f64).collect();
    let Some(most) = given.value("at-most").as_f64().filter(|_| !numbers.is_empty()) else { return Report::default() };
    let total: f64 = numbers.iter().sum();
    let fault = Fault {
        given: "numbers",
        message: format!("{total} {} in total, expected at most {most}", given.text("called")),
        expected: Some(json!(most)),
        received: Some(json!(total)),
        ..Fault::default()
    };
    Report::of(if total > most { vec![fault] } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn the_limit_itself_is_fine() {
        let faults = |numbers: Value| {
            let report = tried(&CHECK, Revision::NEWEST, [("numbers", numbers), ("at-most", json!(10))]);
            (report.checked, report.faults.len())
        };
        assert_eq!((faults(json!([4, 6])), faults(json!([4, 6.5])), faults(json!(["x"]))), ((1, 0), (1, 1), (0, 0)));
    }
}
