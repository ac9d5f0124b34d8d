//! What hosts do with tools that no clause can express.

pub mod equal_names;
pub mod known_names;
pub mod mixed_verbs;
pub mod text_length;
pub mod valid_in_draft;
