-- The truth: what happened, and what was said.
CREATE TABLE event (
    seq  INTEGER PRIMARY KEY,
    id   TEXT NOT NULL,
    run  TEXT,
    hash BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX event_id ON event (id);
CREATE INDEX event_run ON event (run, seq) WHERE run IS NOT NULL;

-- Salt and body are NULL once a text was erased; a long one is a file named by its hash.
CREATE TABLE text (
    seq  INTEGER NOT NULL,
    n    INTEGER NOT NULL,
    salt BLOB,
    body BLOB,
    blob BLOB,
    PRIMARY KEY (seq, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX text_blob ON text (blob) WHERE blob IS NOT NULL;

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Derived from the events; `rebuild` makes them again.
CREATE TABLE entity (
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    version INTEGER NOT NULL,
    birth   INTEGER NOT NULL,
    shape   INTEGER NOT NULL,
    matter  TEXT NOT NULL,
    class   TEXT NOT NULL,
    facts   TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE place (
    name TEXT NOT NULL,
    at   BLOB NOT NULL,
    kind TEXT NOT NULL,
    id   TEXT NOT NULL,
    PRIMARY KEY (name, at, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE touch (
    kind TEXT NOT NULL,
    id   TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (kind, id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE remembered (
    actor   TEXT NOT NULL,
    command TEXT NOT NULL,
    key     TEXT NOT NULL,
    request BLOB NOT NULL,
    code    TEXT NOT NULL,
    first   INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    PRIMARY KEY (actor, command, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
    name    TEXT PRIMARY KEY,
    number  INTEGER NOT NULL,
    holder  TEXT NOT NULL,
    granted INTEGER NOT NULL,
    ttl     INTEGER NOT NULL,
    ended   INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE tile (
    level  INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (level, number)
) STRICT;

-- How fresh leases are: neither truth nor derived.
CREATE TABLE liveness (
    name     TEXT PRIMARY KEY,
    number   INTEGER NOT NULL,
    beat     INTEGER NOT NULL,
    deadline INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE due (
    deadline INTEGER NOT NULL,
    name     TEXT NOT NULL,
    PRIMARY KEY (deadline, name)
) STRICT, WITHOUT ROWID;
