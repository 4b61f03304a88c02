//! The project: a directory with `.countersign/` in it, and what its configuration says.

use crate::worktrees::{in_main_worktree, in_worktree};
use anyhow::{Context, bail};
use countersign_contract::foreign::Foreign;
use countersign_contract::{Checker, SIZE_MAX, Settings};
use countersign_diagnostic::Severity;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The directory that makes a directory a project.
pub const FOLDER: &str = ".countersign";

/// A project, or the lack of one: then everything is as by default.
#[derive(Debug)]
pub struct Project {
    /// Its directory, if there is one.
    pub root: Option<PathBuf>,
    /// What rules need to know.
    pub settings: Settings,
    /// Severities that the configuration raised, by rule.
    pub raised: Vec<(String, Severity)>,
    /// Contracts that the configuration declares.
    pub foreign: Vec<Foreign>,
    /// Where the configuration says that the ledger is.
    pub ledger: Option<String>,
    /// Which of the projects in a shared ledger this is.
    pub id: Option<String>,
    /// Where whoever asks stands, if that is not the current directory.
    pub from: Option<PathBuf>,
    /// The server that is asked instead of the ledger.
    pub server: Option<String>,
    /// Where traces are sent.
    pub tracing: TracingConfig,
    /// Where delegated actions are carried out, as far as the configuration says so.
    pub delegation: DelegationConfig,
}

/// `config.toml`. Everything in it may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    check: CheckConfig,
    limits: LimitsConfig,
    tokens: TokensConfig,
    agents: AgentsConfig,
    severity: BTreeMap<String, String>,
    contracts: Vec<ContractConfig>,
    ledger: LedgerConfig,
    server: ServerConfig,
    tracing: TracingConfig,
    delegation: DelegationConfig,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CheckConfig {
    strict: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsConfig {
    size: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TokensConfig {
    encoding: Option<String>,
    max: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AgentsConfig {
    executors: Vec<String>,
    requesters: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LedgerConfig {
    place: Option<String>,
    project: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ServerConfig {
    url: Option<String>,
}

/// Where the configuration says that traces are sent, and how.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TracingConfig {
    /// The address of a collector.
    pub endpoint: Option<String>,
    /// `http/protobuf` or `http/json`.
    pub protocol: Option<String>,
}

/// Where delegated actions are carried out.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DelegationConfig {
    /// Where GitHub is asked.
    pub github_url: Option<String>,
    /// The environment variable that has its token.
    pub github_token: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContractConfig {
    name: String,
    schema: PathBuf,
    #[serde(default)]
    marks: Vec<String>,
}

impl Project {
    /// Finds the project: the directory that was named, or the nearest one above with `.countersign/`, or, in a
    /// worktree of git, the same from the same place in the main worktree, or what a bare repository has instead. `size_max` is what the user allows; a file in the project may
    /// stay below it, not go beyond.
    pub fn find(named: Option<&Path>, size_max: Option<usize>) -> anyhow::Result<Self> {
        let root = match named {
            Some(named) => {
                if !named.is_dir() {
                    bail!("`{}` is not a directory; name the project's own with --project", named.display());
                }
                Some(named.to_owned())
            }
            None => std::env::current_dir().ok().map_or(Ok(None), |here| search(&here))?,
        };
        let config_path = root.as_ref().map(|root| root.join(FOLDER).join("config.toml"));
        let config = match config_path.as_ref().filter(|path| path.symlink_metadata().is_ok()) {
            Some(path) => read_config(path)?,
            None => Config::default(),
        };
        Self::configured(root, config, size_max.unwrap_or(SIZE_MAX)).with_context(|| {
            let path = config_path.map(|path| path.display().to_string()).unwrap_or_default();
            format!("the configuration {path} is not right")
        })
    }

    /// What a check is made with.
    pub fn checker(&self) -> Checker<'_> {
        let contracts = countersign_domain::contracts();
        Checker { contracts, foreign: &self.foreign, settings: &self.settings, raised: &self.raised }
    }

    /// The first directory that a place is in and that is a project as it is wanted. Those that come after it are not looked at.
    pub fn root_above<T>(
        place: &Path,
        mut wanted: impl FnMut(&Path) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<Option<T>> {
        let main = in_main_worktree(place)?;
        for root in main.iter().flat_map(|main| main.ancestors()).chain(place.ancestors()) {
            if is_root(root)?
                && let Some(found) = wanted(root)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Where the files are that tasks change: the project's directory, as it is in the worktree that the caller stands in.
    pub fn tree_root(&self) -> Option<PathBuf> {
        self.tree_root_from(&self.here()?)
    }

    /// Where whoever asks stands.
    pub fn here(&self) -> Option<PathBuf> {
        self.from.clone().or_else(|| std::env::current_dir().ok())
    }

    /// The same for somebody who stands elsewhere.
    pub fn tree_root_from(&self, here: &Path) -> Option<PathBuf> {
        self.named_from(here).filter(|mine| mine.is_dir()).or_else(|| self.root.as_ref()?.canonicalize().ok())
    }

    /// Where the names of files begin for somebody who stands elsewhere. The branch that they are on need not have it yet.
    pub fn named_from(&self, here: &Path) -> Option<PathBuf> {
        let real = self.root.as_ref()?.canonicalize().ok()?;
        let mine = in_worktree(here, &real).ok().flatten();
        Some(mine.unwrap_or(real))
    }

    fn configured(root: Option<PathBuf>, config: Config, size_max: usize) -> anyhow::Result<Self> {
        let mut settings = Settings { strict: config.check.strict, size_max, ..Settings::default() };
        settings.executors = config.agents.executors;
        settings.requesters = config.agents.requesters;
        if let Some(size) = config.limits.size {
            if size > size_max {
                bail!(
                    "limits.size may lower the limit of {size_max} bytes, not raise it; whoever runs the check may, with \
                     --max-size or COUNTERSIGN_MAX_SIZE"
                );
            }
            settings.size_max = size;
        }
        if let Some(encoding) = config.tokens.encoding {
            settings.encoding = encoding_name(&encoding)?;
            if settings.encoding == "chars4" {
                bail!("tokens.encoding may not be chars4: an estimate would weaken a limit that is exact");
            }
        }
        if let Some(max) = config.tokens.max {
            if max > settings.tokens_max {
                bail!("tokens.max may lower the limit of {}, not raise it", settings.tokens_max);
            }
            settings.tokens_max = max;
        }
        let raised = config.severity.iter().map(raise).collect::<anyhow::Result<_>>()?;
        let directory = root.clone().unwrap_or_default();
        let foreign: Vec<Foreign> =
            config.contracts.iter().map(|it| declare(it, &directory)).collect::<anyhow::Result<_>>()?;
        let twice = |(number, it): &(usize, &Foreign)| foreign[..*number].iter().any(|other| other.name == it.name);
        if let Some((_, again)) = foreign.iter().enumerate().find(twice) {
            bail!("contracts: `{}` is declared twice; give each contract a name of its own", again.name);
        }
        let LedgerConfig { place: ledger, project: id } = config.ledger;
        Ok(Self {
            root,
            settings,
            raised,
            foreign,
            ledger,
            id,
            from: None,
            server: config.server.url,
            tracing: config.tracing,
            delegation: config.delegation,
        })
    }
}

/// The encoding by its name.
pub fn encoding_name(name: &str) -> anyhow::Result<&'static str> {
    const KNOWN: [&str; 3] = ["o200k_base", "cl100k_base", "chars4"];
    let known = KNOWN.into_iter().find(|known| *known == name);
    known.with_context(|| format!("there is no encoding `{name}`; known are {}", KNOWN.join(", ")))
}

fn raise((rule, severity): (&String, &String)) -> anyhow::Result<(String, Severity)> {
    let rules = countersign_domain::rules();
    let Some(known) = rules.iter().find(|known| known.id == rule) else {
        bail!("severity: there is no rule `{rule}`; `countersign rules` lists them");
    };
    let severity = match severity.as_str() {
        "note" => Severity::Note,
        "warning" => Severity::Warning,
        "error" => Severity::Error,
        other => bail!("severity: `{other}` is none of note, warning, error"),
    };
    if severity < known.severity {
        bail!("severity: `{rule}` is {} and cannot be lowered to {}", known.severity.as_str(), severity.as_str());
    }
    Ok((rule.clone(), severity))
}

fn declare(config: &ContractConfig, directory: &Path) -> anyhow::Result<Foreign> {
    if countersign_domain::contract(&config.name).is_some() {
        bail!("contracts: `{}` is a built-in contract; give yours another name", config.name);
    }
    let path = directory.join(&config.schema);
    let inside =
        path.canonicalize().ok().zip(directory.canonicalize().ok()).is_none_or(|(path, root)| path.starts_with(root));
    if !inside {
        bail!("contracts: the schema {} lies outside of the project; copy it in", path.display());
    }
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("contracts: the schema {} cannot be read", path.display()))?;
    let schema =
        serde_json::from_str(&text).with_context(|| format!("contracts: the schema {} is not JSON", path.display()))?;
    Foreign::new(&config.name, &config.marks, &schema)
        .map_err(|why| anyhow::anyhow!("contracts: {}: {why}", path.display()))
}

fn read_config(path: &Path) -> anyhow::Result<Config> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow::anyhow!("the configuration {} is not right at line {line}: {}", path.display(), error.message())
    })
}

/// The main worktree's project comes first: its settings may be in version control and so in every worktree, its ledger is
/// not.
fn search(here: &Path) -> anyhow::Result<Option<PathBuf>> {
    match main_project(here)? {
        Some(main) => Ok(Some(main)),
        None => above(here),
    }
}

/// The nearest project at a place or above it.
pub fn above(from: &Path) -> anyhow::Result<Option<PathBuf>> {
    for place in from.ancestors() {
        if is_root(place)? {
            return Ok(Some(place.to_owned()));
        }
    }
    Ok(None)
}

/// Whether a directory is a project. Where that may not be looked at it is not therefore none: whoever took it for that would
/// go on as if nothing were managed there.
pub fn is_root(place: &Path) -> anyhow::Result<bool> {
    let folder = place.join(FOLDER);
    match folder.metadata() {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(error).with_context(|| {
            let folder = folder.display();
            format!("whether there is a project at {folder} cannot be seen; make it readable, or name the project with --project or COUNTERSIGN_PROJECT")
        }),
    }
}

/// The project of the main worktree, seen from another one: the one at the same place there, or above it.
pub fn main_project(here: &Path) -> anyhow::Result<Option<PathBuf>> {
    match in_main_worktree(here)? {
        Some(main) => above(&main),
        None => Ok(None),
    }
}
