//! A page, as a browser shows it.

use super::{AnswerSeen, Evidence, Site, Status, blocked};
use crate::page::{self, Seen};
use countersign_contract::show;
use countersign_domain::plan::evidence::EvidenceKind;
use countersign_domain::plan::payload::PageCheck;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Looks at a page, and keeps a picture of it where pictures go.
pub(super) fn collect(wanted: &PageCheck, site: &Site<'_>, patience: Duration) -> Evidence {
    let url = wanted.url.as_str();
    let texts: Vec<String> =
        wanted.contains.iter().flat_map(|texts| texts.iter()).map(|text| text.as_str().to_owned()).collect();
    // Each address has a picture of its own, and a second look takes the place of the first.
    let digest = Sha256::digest(url.as_bytes());
    let name: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let picture = site.pictures.map(|folder| folder.join(format!("page-{name}.png")));
    match page::look(url, &texts, picture.as_deref(), patience, site.allowed_hosts) {
        Ok(seen) => judge(url, seen),
        Err(page::Trouble::TimedOut) => {
            let says = format!("{} had not loaded after {} s", show(url), patience.as_secs());
            Evidence { timed_out: true, ..Evidence::new(EvidenceKind::Page, Status::Fail, says) }
        }
        Err(trouble) => blocked(EvidenceKind::Page, trouble.to_string()),
    }
}

fn judge(url: &str, seen: Seen) -> Evidence {
    let fine = seen.status.is_none_or(|status| (200..400).contains(&status));
    let (status, says) = if !fine {
        (Status::Fail, format!("{} answered {}", show(url), seen.status.unwrap_or_default()))
    } else if seen.missing.is_empty() {
        (Status::Pass, format!("{} shows what it should, in {}", show(url), seen.browser))
    } else {
        let missing: Vec<String> = seen.missing.iter().map(|text| format!("`{}`", show(text))).collect();
        (Status::Fail, format!("{} does not show {}", show(url), missing.join(", ")))
    };
    let answer = AnswerSeen {
        url: url.to_owned(),
        method: "GET".to_owned(),
        status_code: seen.status,
        snippet: seen.text_excerpt,
    };
    Evidence { answer: Some(answer), picture: seen.picture, ..Evidence::new(EvidenceKind::Page, status, says) }
}
