//! The small shapes that contracts are made of.

mod json;
mod list;
mod number;
mod text;
mod time;
mod version;

pub use json::{Json, JsonObject, Null, Nullable};
pub use list::{List, Map};
pub use number::{Int, Ratio};
pub use text::{Name, Text};
pub use time::{AnyTimestamp, Timestamp};
pub use version::{Version, VersionExactly};
