CREATE TABLE batches (
    batch INTEGER PRIMARY KEY,
    question TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    size INTEGER NOT NULL,
    simulated INTEGER NOT NULL,
    segments TEXT NOT NULL,
    reports INTEGER NOT NULL,
    open INTEGER NOT NULL,
    ran INTEGER,
    sum BLOB NOT NULL,
    UNIQUE (question, version, digest, epoch, size, simulated, segments)
);

CREATE INDEX open_batches ON batches (epoch) WHERE open;

CREATE TABLE chunks (
    batch INTEGER NOT NULL,
    key BLOB NOT NULL,
    sum BLOB NOT NULL,
    records BLOB NOT NULL,
    PRIMARY KEY (batch, key)
) WITHOUT ROWID;

CREATE TABLE counters (
    question TEXT NOT NULL,
    reason TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (question, reason)
) WITHOUT ROWID;

CREATE TABLE simulations (
    question TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    seed TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    people INTEGER NOT NULL,
    PRIMARY KEY (question, version, digest, seed)
) WITHOUT ROWID;

CREATE TABLE commits (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;

INSERT INTO commits VALUES ('all', 0);

CREATE TABLE lease (
    work TEXT PRIMARY KEY,
    holder BLOB NOT NULL,
    beats INTEGER NOT NULL
) WITHOUT ROWID;
