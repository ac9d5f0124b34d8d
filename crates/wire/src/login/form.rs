//! The forms of an HTML page, as far as a person would fill them in.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use crate::target::Login;

/// Fields of one page. Login pages have less than ten; the rest is a guess.
const MOST: usize = 200;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Form {
    pub action: String,
    pub is_post: bool,
    fields: Vec<Field>,
    buttons: Vec<Button>,
}

#[derive(Debug, PartialEq, Eq)]
struct Field {
    name: String,
    value: String,
    /// Whether the form sends it without a user.
    is_sent: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Button {
    name: String,
    value: String,
    id: String,
    text: String,
    action: Option<String>,
}

/// What a form sends.
#[derive(Debug, PartialEq, Eq)]
pub struct Filled {
    pub action: String,
    pub is_post: bool,
    pub pairs: Vec<(String, String)>,
    /// Whether it has a value of the user.
    pub is_personal: bool,
}

/// The forms of a page, in order.
pub fn forms(html: &str) -> Vec<Form> {
    let mut found: Vec<Form> = Vec::new();
    let (mut open, mut in_button, mut fields) = (false, false, 0);
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) if &*tag.name == b"form" => {
                let is_post = attribute(&tag, "method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
                found.push(Form { action: attribute(&tag, "action").unwrap_or_default(), is_post, ..Form::default() });
                open = true;
            }
            Token::EndTag(tag) if &*tag.name == b"form" => (open, in_button) = (false, false),
            Token::EndTag(tag) if &*tag.name == b"button" => in_button = false,
            Token::StartTag(tag) if open && fields < MOST => {
                fields += 1;
                if let Some(form) = found.last_mut() {
                    in_button |= form.take(&tag);
                }
            }
            Token::String(text) if in_button => {
                if let Some(button) = found.last_mut().and_then(|form| form.buttons.last_mut()) {
                    button.text.push_str(&String::from_utf8_lossy(&text.value));
                }
            }
            _ => {}
        }
    }
    found
}

impl Form {
    /// Whether a button was opened whose text follows.
    fn take(&mut self, tag: &StartTag<()>) -> bool {
        let (element, get) = (tag.name.as_slice(), |name: &str| attribute(tag, name).unwrap_or_default());
        let kind = get("type").to_ascii_lowercase();
        let submits = match element {
            b"button" => !matches!(kind.as_str(), "button" | "reset"),
            b"input" => matches!(kind.as_str(), "submit" | "image"),
            _ => false,
        };
        if submits && attribute(tag, "disabled").is_none() {
            let text = if element == b"input" { get("value") } else { String::new() };
            let action = attribute(tag, "formaction");
            self.buttons.push(Button { name: get("name"), value: get("value"), id: get("id"), text, action });
            return element == b"button";
        }
        if matches!(element, b"input" | b"textarea" | b"select")
            && !matches!(kind.as_str(), "submit" | "image" | "button" | "reset")
            && !get("name").is_empty()
            && attribute(tag, "disabled").is_none()
        {
            let is_choice = matches!(kind.as_str(), "checkbox" | "radio");
            let usual = if is_choice { "on" } else { "" };
            let value = attribute(tag, "value").unwrap_or_else(|| usual.to_owned());
            let is_sent = !is_choice || attribute(tag, "checked").is_some();
            self.fields.push(Field { name: get("name"), value, is_sent: is_sent && element != b"select" });
        }
        false
    }

    /// The form with the values of the user; `Err` if it has several buttons and none is named.
    pub fn filled(&self, login: &Login, denies: bool) -> Result<Filled, String> {
        let given = |name: &str| login.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let wanted = if denies { login.deny.as_ref() } else { login.submit.as_ref() };
        let named = wanted.and_then(|wanted| self.buttons.iter().find(|button| button.is(wanted)));
        let button = match (named, self.buttons.as_slice()) {
            (Some(button), _) => Some(button),
            (None, [] | [_]) => self.buttons.first(),
            (None, several) => {
                let texts: Vec<&str> = several.iter().map(|button| button.text.trim()).collect();
                return Err(format!("the page has the buttons {}; `submit` names none of them", texts.join(", ")));
            }
        };
        let mut pairs: Vec<(String, String)> = Vec::new();
        for field in &self.fields {
            match given(&field.name) {
                Some(value) if !pairs.iter().any(|(name, _)| *name == field.name) => {
                    pairs.push((field.name.clone(), value.clone()));
                }
                None if field.is_sent => pairs.push((field.name.clone(), field.value.clone())),
                _ => {}
            }
        }
        let is_personal = self.fields.iter().any(|field| given(&field.name).is_some());
        pairs.extend(
            button.filter(|button| !button.name.is_empty()).map(|button| (button.name.clone(), button.value.clone())),
        );
        let action = button.and_then(|button| button.action.clone()).unwrap_or_else(|| self.action.clone());
        Ok(Filled { action, is_post: self.is_post, pairs, is_personal })
    }

    /// Whether a value of the user or the button to deny is in it.
    fn is_meant(&self, login: &Login) -> bool {
        let named = [&login.submit, &login.deny].into_iter().flatten();
        let mut fields = login.fields.iter();
        fields.any(|(name, _)| self.fields.iter().any(|field| field.name == *name))
            || named.into_iter().any(|wanted| self.buttons.iter().any(|button| button.is(wanted)))
    }

    pub fn can_deny(&self, login: &Login) -> bool {
        login.deny.as_ref().is_some_and(|wanted| self.buttons.iter().any(|button| button.is(wanted)))
    }
}

/// The form to submit: with a field or button of the user, or else the only one.
pub fn meant<'a>(forms: &'a [Form], login: &Login, denies: bool) -> Option<&'a Form> {
    let denying = forms.iter().find(|form| denies && form.can_deny(login));
    let named = || forms.iter().find(|form| form.is_meant(login));
    denying.or_else(named).or(match forms {
        [only] => Some(only),
        _ => None,
    })
}

impl Button {
    fn is(&self, wanted: &str) -> bool {
        [self.name.as_str(), &self.value, &self.id, self.text.trim()].contains(&wanted)
    }
}

fn tokens(html: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    // Scripts and styles are text.
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).map(|Ok(token)| token)
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(&value.value).into_owned())
}

/// The text of a page without its tags, in one line.
pub fn text(html: &str) -> String {
    let (mut hidden, mut words) = (false, String::new());
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) => hidden = matches!(tag.name.as_slice(), b"style" | b"script"),
            Token::EndTag(_) => hidden = false,
            Token::String(text) if !hidden => {
                words.push(' ');
                words.push_str(&String::from_utf8_lossy(&text.value));
            }
            _ => {}
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(fields: &[(&str, &str)]) -> Login {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Login { fields, deny: Some("cancel".to_owned()), ..Login::default() }
    }

    fn pairs(filled: &Filled) -> Vec<String> {
        filled.pairs.iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn fields_are_filled_and_hidden_ones_kept() {
        let page = "<form><input name=q></form><form method=POST action='/login?a=1&amp;b=2'>
            <input type=hidden name=csrf value=x1><input name=user><input type=password name=pass>
            <input type=checkbox name=remember><input type=radio name=r value=1 checked><button>Sign <b>in</b></button></form>";
        let (forms, login) = (forms(page), login(&[("user", "alice"), ("pass", "p&w")]));
        let filled = meant(&forms, &login, false).expect("a form").filled(&login, false).expect("one button");
        assert_eq!(pairs(&filled), ["csrf=x1", "user=alice", "pass=p&w", "r=1"]);
        assert_eq!((filled.action.as_str(), filled.is_post, filled.is_personal), ("/login?a=1&b=2", true, true));
    }

    #[test]
    fn the_named_button_is_pressed() {
        let page = "<form method=post><button name=choice value=allow>Allow</button>
            <button name=choice value=no>Cancel</button></form>
            <form method=post action=/abort><input type=submit value=cancel></form>";
        let forms = forms(page);
        let one = Login { submit: Some("Allow".to_owned()), ..login(&[]) };
        let allowed = meant(&forms, &one, false).expect("a form").filled(&one, false).expect("a button");
        assert_eq!((pairs(&allowed), allowed.is_personal), (vec!["choice=allow".to_owned()], false));
        assert_eq!(meant(&forms, &one, true).map(|form| form.action.as_str()), Some("/abort"));
        assert!(forms[0].filled(&login(&[]), false).is_err_and(|why| why.contains("Allow, Cancel")));
        assert_eq!(text("<style>p{}</style><p>Wrong  <b>password</b>"), "Wrong password");
    }
}
