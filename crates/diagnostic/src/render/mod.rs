//! How findings are shown. Each format is a file.

pub mod github;
pub mod json;
pub mod sarif;
pub mod text;
