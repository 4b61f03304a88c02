//! What a gate will ask about a criterion, in words.

use countersign_contract::{Text, canonical};
use countersign_diagnostic::visible;
use countersign_domain::plan::machine_checks;
use countersign_domain::plan::payload::{Check, Criterion, FileCheck, HttpCheck, PageCheck};
use std::ops::Deref;

/// What is looked at for a criterion: a line for each check, and what holds for all of them.
pub fn of(criterion: &Criterion) -> Vec<String> {
    let mut all: Vec<String> = machine_checks(criterion).map(of_check).collect();
    let asked = criterion.check.iter().flat_map(|checks| checks.iter()).filter_map(|check| check.human.as_ref());
    all.extend(asked.map(|question| format!("a person is asked: {}", question.as_str())));
    if all.is_empty() {
        all.push("somebody's statement".to_owned());
    }
    if let Some(pins) = criterion.pin.as_ref().filter(|pins| !pins.is_empty()) {
        let pins: Vec<&str> = pins.iter().map(|pin| pin.as_str()).collect();
        all.push(format!("with {} as before the work", pins.join(", ")));
    }
    if criterion.red_before_green == Some(true) {
        all.push("which must fail before the work".to_owned());
    }
    all.into_iter().map(|line| visible(&line).into_owned()).collect()
}

fn of_check(check: &Check) -> String {
    let words = |words: &[Text]| words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
    let says = match check {
        Check { test: Some(program), .. } => format!("test {}", words(program)),
        Check { command: Some(program), .. } => format!("command {}", words(program)),
        Check { file: Some(file), .. } => of_file(file),
        Check { diff: Some(_), .. } => "diff: what changed is what was declared, and lies inside the scope".to_owned(),
        Check { port: Some(port), .. } => format!("port {}: something listens", port.get()),
        Check { http: Some(http), .. } => of_http(http),
        Check { page: Some(page), .. } => of_page(page),
        _ => "nothing".to_owned(),
    };
    match &check.timeout {
        Some(span) => format!("{says}, within {}", span.as_str()),
        None => says,
    }
}

fn of_file(file: &FileCheck) -> String {
    let mut asks = vec![if file.exists == Some(false) { "is not there" } else { "is there" }.to_owned()];
    asks.extend(file.min_size.map(|size| format!("has at least {} bytes", size.get())));
    asks.extend(file.max_size.map(|size| format!("has at most {} bytes", size.get())));
    asks.extend(file.sha256.as_ref().map(|hash| format!("has the SHA-256 {}", hash.as_str())));
    asks.extend(each("contains", &file.contains));
    asks.extend(each("does not contain", &file.not_contains));
    let place = match file.json_pointer.as_deref() {
        None | Some("") => "as a whole".to_owned(),
        Some(pointer) => format!("at {pointer}"),
    };
    match &*file.equals {
        Some(value) => asks.push(format!("has {} {place}", canonical(&value.to_value()))),
        None if file.json_pointer.is_some() => asks.push(format!("has something {place}")),
        None => {}
    }
    format!("file {}: {}", file.path.as_str(), asks.join(", "))
}

fn of_http(http: &HttpCheck) -> String {
    let method = http.method.as_ref().map_or("GET", Text::as_str).to_ascii_uppercase();
    let mut asks = vec![format!("answers {}", http.status.map_or(200, |status| status.get()))];
    asks.extend(each("contains", &http.contains));
    format!("http {method} {}: {}", http.url.as_str(), asks.join(", "))
}

fn of_page(page: &PageCheck) -> String {
    let mut asks = each("shows", &page.contains);
    if asks.is_empty() {
        asks.push("opens in a browser".to_owned());
    }
    format!("page {}: {}", page.url.as_str(), asks.join(", "))
}

/// The same said of each of some texts.
fn each(verb: &str, texts: &Option<impl Deref<Target = [Text]>>) -> Vec<String> {
    texts.iter().flat_map(|texts| texts.iter()).map(|text| format!("{verb} `{}`", text.as_str())).collect()
}
