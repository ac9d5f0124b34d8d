//! Worlds with authorization: everything that is requested at any of their origins, the login without a person, and what
//! rules see of it.

mod journal;
mod login;
mod logins;
mod opener;
mod origins;
mod printed;
mod requests;
mod tokens;
mod views;
mod visitor;

pub use journal::Journal;
pub use login::Login;
pub use opener::environment;
pub use origins::Origins;
pub use printed::Printed;
pub use views::{NAMES, Reached, Views};
pub use visitor::{Doors, How, Listeners};
