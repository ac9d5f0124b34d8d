//! Lists: their pages, their order, and how they change.

pub mod changes_told;
pub mod listed_once;
pub mod lists_agree;
pub mod not_newer;
pub mod only_declared;
pub mod pages_agree;
