//! How findings are shown. Each format is a file.

pub mod json;
