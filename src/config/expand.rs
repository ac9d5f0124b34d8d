//! Replaces `${NAME}` in a value by a variable of the environment.

use super::Environment;
use crate::{
    suite::{diagnostic::Problems, yaml::At},
    target::is_path,
};

/// The pairs with their variables replaced. Values that are not paths are added to `secrets`.
pub fn fill(
    pairs: &[(At<String>, At<String>)],
    environment: &Environment,
    secrets: &mut Vec<String>,
    problems: &mut Problems,
) -> Vec<(String, String)> {
    let pair = |(name, text): &(At<String>, At<String>)| match expand(&text.value, environment) {
        Ok((value, put_in)) => {
            secrets.extend(put_in.into_iter().filter(|value| !is_path(value)));
            Some((name.value.clone(), value))
        }
        Err(variable) => {
            problems.add(text.at, format!("the environment variable `{variable}` is not set"));
            None
        }
    };
    pairs.iter().filter_map(pair).collect()
}

/// The text with every variable replaced, and the values. `Err` is the name of a variable that is not set.
pub fn expand(text: &str, environment: &Environment) -> Result<(String, Vec<String>), String> {
    let (mut filled, mut values) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, (name, after))) =
        rest.split_once("${").and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        let value = environment.get(name).ok_or_else(|| name.to_owned())?;
        filled.push_str(before);
        filled.push_str(value);
        values.push(value.clone());
        rest = after;
    }
    filled.push_str(rest);
    Ok((filled, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_told() {
        let environment = Environment::from([("A".into(), "1".into()), ("B".into(), "${A}".into())]);
        let expanded = |text: &str| expand(text, &environment);
        assert_eq!(expanded("x ${A}-${B}"), Ok(("x 1-${A}".into(), vec!["1".into(), "${A}".into()])));
        assert_eq!(expanded("$A ${A"), Ok(("$A ${A".into(), vec![])));
        assert_eq!(expanded("${C}"), Err("C".into()));
    }
}
