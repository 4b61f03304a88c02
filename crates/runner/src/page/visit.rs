//! A visit to a page: go there, let it load, look until all is there or nothing moves, and take a picture.

use super::hosts::Hosts;
use super::pipe::{Fault, Pipe};
use super::shown::{EXCERPT_MAX, TITLE_MAX, beginning, flow, missing};
use super::{Seen, picture};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often is looked.
const TICK: Duration = Duration::from_millis(100);
/// How long a page that has loaded must stand still until it is taken to be finished without what is missing.
const STILL: Duration = Duration::from_secs(3);
/// How much of the patience is kept for the last look, at most, and how much for a picture.
const LOOK_TIME: Duration = Duration::from_secs(1);
const PICTURE_TIME: Duration = Duration::from_secs(5);
/// How many blocked hosts are named.
const BLOCKED_MAX: usize = 20;

/// What a reader sees: rendered text, so that nothing hidden counts. Asked in a world apart, which the page's own scripts
/// can neither see nor change.
const READ: &str = "(() => {
    const root = document.body ?? document.documentElement;
    const text = root?.innerText ?? root?.textContent ?? '';
    return { title: String(document.title ?? ''), text: String(text).slice(0, 1000000) };
})()";

/// What is wanted of a visit.
pub(super) struct Wanted<'a> {
    pub(super) url: &'a str,
    pub(super) contains: &'a [String],
    pub(super) picture: Option<&'a Path>,
    pub(super) patience: Duration,
    pub(super) deadline: Instant,
}

/// How far a document has loaded.
#[derive(Default, Clone, Copy)]
struct Progress {
    loaded: bool,
    quiet: bool,
    /// The status of the answer that it came with.
    status: Option<u16>,
}

/// What was read on the page at one time.
#[derive(PartialEq)]
struct Look {
    title: String,
    text: String,
}

pub(super) struct Visit {
    pipe: Pipe,
    hosts: Hosts,
    browser: String,
    session: Option<String>,
    /// The page's main frame, and the document in it.
    frame: String,
    document: Option<String>,
    progress: HashMap<String, Progress>,
    /// Whether the browser shows a page of its own in place of the one that was asked for.
    unreachable: bool,
    blocked: Vec<String>,
    /// The host that the page itself wanted to go to and must not.
    astray: Option<String>,
}

impl Visit {
    /// Opens an empty page, in which every request is held until it was looked at.
    pub(super) fn new(pipe: Pipe, hosts: Hosts) -> Result<Self, Fault> {
        let mut visit = Self {
            pipe,
            hosts,
            browser: String::new(),
            session: None,
            frame: String::new(),
            document: None,
            progress: HashMap::new(),
            unreachable: false,
            blocked: Vec::new(),
            astray: None,
        };
        let version = visit.call("Browser.getVersion", json!({}))?;
        visit.browser = beginning(version["product"].as_str().unwrap_or("unknown"), TITLE_MAX);
        visit.call("Browser.setDownloadBehavior", json!({ "behavior": "deny" }))?;
        let target = visit.call("Target.createTarget", json!({ "url": "about:blank" }))?["targetId"].clone();
        let attached = visit.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }))?;
        visit.session = attached["sessionId"].as_str().map(str::to_owned);
        for (method, params) in [
            ("Inspector.enable", json!({})),
            ("Page.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
            ("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 })),
            ("Network.setCacheDisabled", json!({ "cacheDisabled": true })),
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
            ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*", "requestStage": "Request" }] })),
        ] {
            visit.call(method, params)?;
        }
        let tree = visit.call("Page.getFrameTree", json!({}))?;
        visit.frame = tree["frameTree"]["frame"]["id"].as_str().unwrap_or_default().to_owned();
        Ok(visit)
    }

    pub(super) fn look(&mut self, wanted: &Wanted<'_>) -> Result<Seen, Fault> {
        self.go(wanted.url)?;
        let look = self.settle(wanted)?;
        self.check_reached(None)?;
        let picture = match wanted.picture {
            Some(path) => Some(self.picture(path)?),
            None => None,
        };
        Ok(Seen {
            status: self.progress().status,
            title: beginning(&flow(&look.title), TITLE_MAX),
            text_excerpt: beginning(&look.text, EXCERPT_MAX),
            missing: missing(&look.text, wanted.contains),
            blocked: self.blocked.clone(),
            picture,
            browser: self.browser.clone(),
        })
    }

    /// Goes to an address. The answer comes when the page is there, or cannot be.
    fn go(&mut self, url: &str) -> Result<(), Fault> {
        let went = self.call("Page.navigate", json!({ "url": url }))?;
        self.check_reached(went["errorText"].as_str().filter(|error| !error.is_empty()))
    }

    /// Whether the page is the one that was asked for, and not one by which the browser says that there is none. An answer
    /// that has a status of failure and no body is shown by such a page, and is an answer.
    fn check_reached(&self, error: Option<&str>) -> Result<(), Fault> {
        let answered = error == Some(EMPTY_ANSWER) || self.progress().status.is_some_and(|status| status >= 400);
        let error = match (error, self.unreachable) {
            (None, false) => return Ok(()),
            _ if answered && self.astray.is_none() => return Ok(()),
            (error, _) => error.map(|error| format!(" ({})", beginning(error, TITLE_MAX))).unwrap_or_default(),
        };
        Err(Fault::Failed(match &self.astray {
            Some(host) => format!(
                "the page leads to the host `{host}`, which is not allowed{error}; add it to the plan's allow_hosts if it may be \
                 asked"
            ),
            None => format!("the page cannot be reached{error}; see its address and whether its server runs"),
        }))
    }

    /// How far the page has loaded that is shown now.
    fn progress(&self) -> Progress {
        self.document.as_ref().and_then(|document| self.progress.get(document)).copied().unwrap_or_default()
    }

    /// Looks until the page has loaded and shows everything, twice in a row; or has loaded and stands still.
    fn settle(&mut self, wanted: &Wanted<'_>) -> Result<Look, Fault> {
        let kept = if wanted.picture.is_some() { PICTURE_TIME } else { LOOK_TIME };
        let until = wanted.deadline.checked_sub(kept.min(wanted.patience / 4)).unwrap_or(wanted.deadline);
        let mut was_whole = false;
        let mut last: Option<(Look, Instant)> = None;
        loop {
            let next = Instant::now() + TICK;
            while let Some(message) = self.pipe.next(next.min(until))? {
                self.event(&message)?;
            }
            self.check_reached(None)?;
            let late = Instant::now() >= until;
            let progress = self.progress();
            if !progress.loaded {
                (last, was_whole) = (None, false);
                if late {
                    return Err(Fault::Late);
                }
                continue;
            }
            let look = match self.read()? {
                Some(look) => look,
                None if late => return Err(Fault::Late),
                None => continue,
            };
            let since = match &last {
                Some((before, since)) if *before == look => Some(*since),
                _ => None,
            };
            let still = since.map_or(Duration::ZERO, |since| since.elapsed());
            let whole = missing(&look.text, wanted.contains).is_empty();
            if (whole && was_whole && progress.quiet) || still >= STILL || late {
                return Ok(look);
            }
            was_whole = whole;
            last = Some((look, since.unwrap_or_else(Instant::now)));
        }
    }

    /// What a reader sees now. None, if the page is just being replaced.
    fn read(&mut self) -> Result<Option<Look>, Fault> {
        let world = json!({ "frameId": self.frame, "worldName": "countersign" });
        let Some(world) = self.try_call("Page.createIsolatedWorld", world)? else { return Ok(None) };
        let context = &world["executionContextId"];
        let asked = json!({ "expression": READ, "contextId": context, "returnByValue": true });
        let Some(answer) = self.try_call("Runtime.evaluate", asked)? else { return Ok(None) };
        let value = &answer["result"]["value"];
        let look = |title: &str, text: &str| Look { title: title.to_owned(), text: flow(text) };
        Ok(value["title"].as_str().zip(value["text"].as_str()).map(|(title, text)| look(title, text)))
    }

    fn picture(&mut self, path: &Path) -> Result<std::path::PathBuf, Fault> {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }))?;
        picture::keep(taken["data"].as_str().unwrap_or_default(), path).map_err(Fault::Failed)
    }

    /// Asks the browser for something that must work.
    fn call(&mut self, method: &str, params: Value) -> Result<Value, Fault> {
        self.answer(method, &params)?.map_err(|why| {
            let why = beginning(&why, TITLE_MAX);
            Fault::Failed(format!("the browser does not do {method}: {why}; use a newer Chromium"))
        })
    }

    /// Asks for something that may not work at the moment.
    fn try_call(&mut self, method: &str, params: Value) -> Result<Option<Value>, Fault> {
        Ok(self.answer(method, &params)?.ok())
    }

    /// Asks, and minds what happens until the answer comes.
    fn answer(&mut self, method: &str, params: &Value) -> Result<Result<Value, String>, Fault> {
        let session = self.session.clone();
        let id = self.pipe.send(session.as_deref(), method, params)?;
        loop {
            let Some(mut message) = self.pipe.next(Instant::now() + Duration::from_secs(3600))? else { continue };
            if message["id"] != id {
                self.event(&message)?;
                continue;
            }
            return Ok(match message["error"]["message"].as_str() {
                Some(why) => Err(why.to_owned()),
                None => Ok(message["result"].take()),
            });
        }
    }

    /// Minds something that happens.
    fn event(&mut self, message: &Value) -> Result<(), Fault> {
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Fetch.requestPaused" => self.hold(params)?,
            "Network.responseReceived" if params["type"] == "Document" && params["frameId"] == self.frame.as_str() => {
                let status = params["response"]["status"].as_u64().and_then(|status| u16::try_from(status).ok());
                self.document_of(params, |progress| progress.status = status);
            }
            "Page.frameNavigated" if params["frame"]["id"] == self.frame.as_str() => {
                let frame = &params["frame"];
                self.document = frame["loaderId"].as_str().map(str::to_owned);
                self.unreachable = frame["unreachableUrl"].as_str().is_some_and(|url| !url.is_empty());
            }
            "Page.lifecycleEvent" if params["frameId"] == self.frame.as_str() => {
                let name = params["name"].as_str().unwrap_or_default();
                self.document_of(params, |progress| match name {
                    "load" => progress.loaded = true,
                    "networkIdle" => progress.quiet = true,
                    _ => {}
                });
            }
            "Page.javascriptDialogOpening" => {
                // Nobody is there to answer, and the page would wait for ever.
                let session = self.session.clone();
                self.pipe.send(session.as_deref(), "Page.handleJavaScriptDialog", &json!({ "accept": false }))?;
            }
            "Inspector.targetCrashed" => {
                return Err(Fault::Failed("the page made the browser crash; it cannot be looked at".to_owned()));
            }
            "Inspector.detached" | "Target.detachedFromTarget" => return Err(Fault::Gone),
            _ => {}
        }
        Ok(())
    }

    /// Lets a request go, or ends it.
    fn hold(&mut self, params: &Value) -> Result<(), Fault> {
        let request = &params["requestId"];
        let session = self.session.clone();
        match self.hosts.passes(params["request"]["url"].as_str().unwrap_or_default()) {
            Ok(()) => {
                self.pipe.send(session.as_deref(), "Fetch.continueRequest", &json!({ "requestId": request }))?;
            }
            Err(host) => {
                let refusal = json!({ "requestId": request, "errorReason": "BlockedByClient" });
                self.pipe.send(session.as_deref(), "Fetch.failRequest", &refusal)?;
                let host = countersign_contract::show(&host);
                if params["resourceType"] == "Document" && params["frameId"] == self.frame.as_str() {
                    self.astray = Some(host.clone());
                }
                if self.blocked.len() < BLOCKED_MAX && !self.blocked.contains(&host) {
                    self.blocked.push(host);
                }
            }
        }
        Ok(())
    }

    /// Notes something about the document that an event is about.
    fn document_of(&mut self, params: &Value, note: impl FnOnce(&mut Progress)) {
        if let Some(document) = params["loaderId"].as_str() {
            note(self.progress.entry(document.to_owned()).or_default());
        }
    }
}

/// How the browser calls an answer that has a status of failure and no body.
const EMPTY_ANSWER: &str = "net::ERR_HTTP_RESPONSE_CODE_FAILURE";
