//! The gates between a result and done: every ruling about who says what, what it comes to, and what happens next.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod accepting;
mod again;
mod answers;
mod combining;
#[path = "../desk/mod.rs"]
mod desk;
mod effects;
mod evidence;
mod holding;
mod inbox;
mod judging;
mod landing;
mod plans;
mod promises;
mod results;
mod speaking;
mod stage;
mod stale;
mod steering;
mod testifying;
mod trying;
mod validating;
