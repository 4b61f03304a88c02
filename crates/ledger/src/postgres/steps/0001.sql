-- Many projects in one database. Text is compared by its bytes, so that every store has one order.

-- The end of each log. Its row is the writer's place: who has it locked writes.
CREATE TABLE countersign.head (
    project integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    hash    bytea NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX head_name ON countersign.head (name);

-- The truth: what happened, and what was said.
CREATE TABLE countersign.event (
    project integer NOT NULL,
    seq     bigint NOT NULL,
    id      text COLLATE "C" NOT NULL,
    run     text COLLATE "C",
    hash    bytea NOT NULL,
    body    text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, seq)
);
CREATE UNIQUE INDEX event_id ON countersign.event (project, id);
CREATE INDEX event_run ON countersign.event (project, run, seq) WHERE run IS NOT NULL;

-- Salt and body are NULL once a text was erased; a long one is in parts, found by its hash.
CREATE TABLE countersign.text (
    project integer NOT NULL,
    seq     bigint NOT NULL,
    n       bigint NOT NULL,
    salt    bytea,
    body    bytea,
    blob    bytea,
    PRIMARY KEY (project, seq, n)
);
CREATE INDEX text_blob ON countersign.text (project, blob) WHERE blob IS NOT NULL;

CREATE TABLE countersign.blob (
    project integer NOT NULL,
    hash    bytea NOT NULL,
    n       bigint NOT NULL,
    part    bytea NOT NULL,
    PRIMARY KEY (project, hash, n)
);

-- The planner's statistics are made of samples, and a sample of what can be erased would be a copy of it.
ALTER TABLE countersign.text ALTER salt SET STATISTICS 0, ALTER body SET STATISTICS 0;
ALTER TABLE countersign.blob ALTER part SET STATISTICS 0;

CREATE TABLE countersign.meta (
    project integer NOT NULL,
    name    text COLLATE "C" NOT NULL,
    value   text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, name)
);

-- Derived from the events; `rebuild` makes them again.
CREATE TABLE countersign.entity (
    project integer NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    id      text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    version bigint NOT NULL,
    birth   bigint NOT NULL,
    shape   bigint NOT NULL,
    matter  text COLLATE "C" NOT NULL,
    class   text COLLATE "C" NOT NULL,
    facts   text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, kind, id)
) WITH (fillfactor = 80);

CREATE TABLE countersign.place (
    project integer NOT NULL,
    name    text COLLATE "C" NOT NULL,
    at      bytea NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    id      text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, name, at, kind, id)
);

CREATE TABLE countersign.touch (
    project integer NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    id      text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    PRIMARY KEY (project, kind, id, seq)
);

CREATE TABLE countersign.remembered (
    project integer NOT NULL,
    actor   text COLLATE "C" NOT NULL,
    command text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    request bytea NOT NULL,
    code    text COLLATE "C" NOT NULL,
    first   bigint NOT NULL,
    last    bigint NOT NULL,
    PRIMARY KEY (project, actor, command, key)
);

CREATE TABLE countersign.lease (
    project integer NOT NULL,
    name    text COLLATE "C" NOT NULL,
    number  bigint NOT NULL,
    holder  text COLLATE "C" NOT NULL,
    granted bigint NOT NULL,
    ttl     bigint NOT NULL,
    ended   bigint,
    PRIMARY KEY (project, name)
);

CREATE TABLE countersign.tile (
    project integer NOT NULL,
    level   bigint NOT NULL,
    number  bigint NOT NULL,
    hashes  bytea NOT NULL,
    PRIMARY KEY (project, level, number)
);

-- How fresh leases are: neither truth nor derived.
CREATE TABLE countersign.liveness (
    project  integer NOT NULL,
    name     text COLLATE "C" NOT NULL,
    number   bigint NOT NULL,
    beat     bigint NOT NULL,
    deadline bigint NOT NULL,
    PRIMARY KEY (project, name)
) WITH (fillfactor = 80);

CREATE TABLE countersign.due (
    project  integer NOT NULL,
    deadline bigint NOT NULL,
    name     text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, deadline, name)
);
