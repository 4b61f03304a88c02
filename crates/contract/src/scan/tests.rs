//! Tables of what is caught and what is not, and the promises that hold for every text.

mod control;
mod promises;
mod quotation;
mod secret;
mod value;
