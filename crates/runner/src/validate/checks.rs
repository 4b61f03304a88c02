//! The checks that a user has named: for each criterion one, or several.

use countersign_contract::diagnostic::{Decision, Source};
use countersign_contract::{
    Checker, Form, Map, SIZE_MAX, Settings, Shape, canonical, check, nearest, parse, sha256_hex, show,
};
use countersign_domain::plan::payload::{Check, OneOrMany};
use countersign_domain::validation::evidence::EvidenceKind;
use std::sync::LazyLock;

/// What decides each criterion, by its id.
#[derive(Debug, Clone, Default)]
pub struct Checks(Vec<(String, Vec<Check>)>);

impl Checks {
    /// Reads checks from YAML or JSON: an object with the ids of criteria, each with a check in the form of a plan's, or
    /// a list of them.
    ///
    /// # Errors
    /// It cannot be read, names a criterion that is not known, or holds what is no check.
    pub fn read(name: &str, text: &str, known: &[&str]) -> Result<Self, String> {
        let form = Form::of_name(name).unwrap_or_else(|| Form::of_text(text));
        let document = parse(text, form, SIZE_MAX)
            .map_err(|fault| format!("{name} cannot be read: {}; {}", fault.message, fault.help))?;
        let read: Map<OneOrMany<Check>> = shaped(name, &document.root().to_value().to_string())?;
        for (id, checks) in read.iter() {
            if !known.contains(&id.as_str()) {
                let near = nearest(id, known).map(|it| format!("; `{it}` is near"));
                return Err(format!(
                    "{name}: there is no criterion `{}`{}; the criteria are {}",
                    show(id),
                    near.unwrap_or_default(),
                    known.join(", ")
                ));
            }
            for check in checks.iter() {
                if check.kinds().len() != 1 {
                    return Err(format!(
                        "{name}: a check of `{}` must be of one kind, and is of {}; kinds are test, command, file, \
                         diff, port, http, page and human",
                        show(id),
                        check.kinds().len()
                    ));
                }
            }
        }
        Ok(Self(read.iter().map(|(id, checks)| (id.clone(), checks.to_vec())).collect()))
    }

    /// Whether one of them looks at a page.
    pub fn look_at_pages(&self) -> bool {
        self.0.iter().flat_map(|(_, checks)| checks).any(|check| check.page.is_some())
    }

    /// What each check of a criterion is known by: the SHA-256 of its canonical form.
    pub fn digests(&self, id: &str) -> Vec<String> {
        self.of(id).iter().map(digest).collect()
    }

    /// The kind of evidence that the checks of a criterion give: the strongest of them. None, if it has none.
    pub fn kind(&self, id: &str) -> Option<EvidenceKind> {
        self.of(id).iter().flat_map(Check::kinds).max()
    }

    /// The checks of a criterion.
    pub(super) fn of(&self, id: &str) -> &[Check] {
        self.0.iter().find(|(own, _)| own == id).map_or(&[], |(_, checks)| checks)
    }
}

fn digest(check: &Check) -> String {
    sha256_hex(canonical(&serde_json::to_value(check).unwrap_or_default()).as_bytes())
}

/// Something from JSON, if it is of its shape.
pub(super) fn shaped<T: Shape>(name: &str, text: &str) -> Result<T, String> {
    static SETTINGS: LazyLock<Settings> = LazyLock::new(Settings::default);
    let contracts = countersign_domain::contracts();
    let checker = Checker { contracts, foreign: &[], settings: &SETTINGS, raised: &[] };
    check::read(&checker, Source { name, text }).map_err(|decision| faults(name, &decision))
}

fn faults(name: &str, decision: &Decision) -> String {
    let findings = decision.details.diagnostics.iter();
    let all: Vec<String> = findings.map(|it| format!("{}: {}; {}", it.pointer, it.message, it.help)).collect();
    format!("{name} is not right: {}", all.join("; "))
}
