//! Tasks.

pub mod foreign_tasks;
pub mod task_course;
pub mod task_requests;
