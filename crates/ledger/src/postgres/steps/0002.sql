-- What changed an entity is found from its last event on, each naming the one before. In the order of entities, every event wrote
-- to another page, and the more of them the longer the log was.
DROP TABLE countersign.touch;
CREATE TABLE countersign.touch (
    project integer NOT NULL,
    seq     bigint NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    id      text COLLATE "C" NOT NULL,
    prev    bigint NOT NULL,
    PRIMARY KEY (project, seq, kind, id)
);

-- It is made again from the events.
UPDATE countersign.meta SET value = '0' WHERE name = 'shape';
