//! The form of messages and results, and what a message refers to.

pub mod carried_out;
pub mod extension_ids;
pub mod leaves;
pub mod message_form;
pub mod meta_keys;
pub mod names_one_of;
pub mod no_match;
pub mod only_members;
pub mod own_response;
pub mod part_shape;
pub mod passed_unchanged;
pub mod tells_none;
