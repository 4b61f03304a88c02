use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Claimed evidence, where it is given, claims something.
    ///
    /// ## Why
    /// An empty claim looks like one to whoever counts fields. Leave it out if the author claims nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"claimed_evidence": {"files_modified": []}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"claimed_evidence": {"summary": "empty carts are refused before the price is computed"}}
    /// ```
    pub static CLAIMED_EVIDENCE_EMPTY: ValidationRequest = {
        id: "claimed-evidence-empty",
        code: MissingRequiredInput,
        severity: Warning,
        summary: "claimed evidence is there and claims nothing",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let Some(claimed) = &it.record.claimed_evidence else { return };
    let files = claimed.files_modified.as_deref().unwrap_or_default();
    let said = claimed.summary.is_some() || claimed.test_results.is_some() || claimed.commit_hash.is_some();
    if said || !files.is_empty() {
        return;
    }
    let place = Pointer::at("/claimed_evidence");
    let found = report.add(
        place.clone(),
        "`claimed_evidence` claims nothing",
        "say what was done, in which files and in which commit, or leave it out",
    );
    // A member of the author's own is a claim that only its readers understand.
    let own = it
        .root
        .get("claimed_evidence")
        .is_some_and(|at| at.entries().any(|(key, _)| key.text() != Some("files_modified")));
    if !own {
        found.repair(Repair::remove(place, "leave out the empty claim"));
    }
}
