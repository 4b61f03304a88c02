use crate::plan::hosts::allows;
use crate::plan::payload::{HttpCheck, PageCheck, Plan};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The address of an `http` or `page` check is of this machine, or of a host that `allow_hosts` names.
    ///
    /// ## Why
    /// No other host is asked, so nobody could say whether the criterion holds.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it answers", "check": {"http": {"url": "https://billing.example.com/health"}}}]}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"allow_hosts": ["example.com"], "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it shows", "check": [{"port": 80}, {"page": {"url": "https://billing.example.com/"}}]}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"allow_hosts": "billing.example.com", "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it answers", "check": {"http": {"url": "https://Billing.example.com:8443/health"}}}]}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "it answers", "check": {"http": {"url": "http://127.0.0.1:8000/health"}}}]}
    /// ]}
    /// ```
    pub static PLAN_HOST_NOT_ALLOWED: Plan = {
        id: "plan-host-not-allowed",
        code: AcceptanceFailed,
        severity: Error,
        summary: "a check would ask a host that the plan does not allow",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    for (task, planned) in it.record.tasks.iter().enumerate() {
        for (criterion, wanted) in planned.acceptance.iter().enumerate() {
            let Some(checks) = &wanted.check else { continue };
            for (n, check) in checks.iter().enumerate() {
                let http = check.http.as_ref().map(|HttpCheck { url, .. }| ("http", url));
                let page = check.page.as_ref().map(|PageCheck { url, .. }| ("page", url));
                for (kind, url) in http.into_iter().chain(page).filter(|(_, url)| !allows(it.record, url.host())) {
                    let at = Pointer::at("/tasks").item(task).key("acceptance").item(criterion).key("check");
                    let message = format!("the host `{}` is not among those that the plan allows", show(url.host()));
                    let help = "add it to `allow_hosts`, without a port";
                    report.add(checks.place_of(n, at).key(kind).key("url"), message, help);
                }
            }
        }
    }
}
