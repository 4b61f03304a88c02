-- What changed an entity is found from its last event on, each naming the one before. In the order of entities, every event wrote
-- to another page, and the more of them the longer the log was.
DROP TABLE touch;
CREATE TABLE touch (
    seq  INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id   TEXT NOT NULL,
    prev INTEGER NOT NULL,
    PRIMARY KEY (seq, kind, id)
) STRICT, WITHOUT ROWID;

-- It is made again from the events.
UPDATE meta SET value = '0' WHERE name = 'shape';
