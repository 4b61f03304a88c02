//! Working trees for agents and for checks, and landing what was done in them, with a real git.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod claiming;
mod cleaning;
mod landing;
mod landing_cut_short;
mod landing_obstacles;
mod landing_places;
mod making;
mod modules;
mod removing;
mod stock;
mod support;
