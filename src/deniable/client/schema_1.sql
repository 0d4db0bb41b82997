CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE fetched (base BLOB PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;

CREATE TABLE counters (
    question TEXT,
    reason TEXT,
    count INTEGER NOT NULL,
    PRIMARY KEY (question, reason)
) WITHOUT ROWID;

CREATE TABLE pins (
    question TEXT,
    version INTEGER,
    digest BLOB NOT NULL,
    PRIMARY KEY (question, version)
) WITHOUT ROWID;

-- One small row per report ever made. Never pruned: a forgotten epoch could be answered again by a
-- device whose clock goes back.
CREATE TABLE used (
    question TEXT,
    version INTEGER,
    epoch INTEGER,
    PRIMARY KEY (question, version, epoch)
) WITHOUT ROWID;

CREATE TABLE seen (
    question TEXT,
    version INTEGER,
    epoch INTEGER,
    PRIMARY KEY (question, version, epoch)
) WITHOUT ROWID;

CREATE TABLE tags (tag BLOB PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE ledger (
    question TEXT PRIMARY KEY,
    reports INTEGER NOT NULL,
    answers INTEGER NOT NULL,
    micros INTEGER NOT NULL
) WITHOUT ROWID;

-- The epsilon that was spent on which days, all questions together: for budgets per window.
CREATE TABLE charges (
    first INTEGER,
    last INTEGER,
    micros INTEGER NOT NULL,
    PRIMARY KEY (first, last)
) WITHOUT ROWID;

-- Keyed by the random id and without row numbers, so that no order of events is kept. `due` is the
-- second from which a report may leave, NULL while its epoch is not over where it is held. `tries`
-- and `retry_at` say how often the collector refused it for now, and when its next turn is.
CREATE TABLE outbox (
    id BLOB PRIMARY KEY,
    question TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    record BLOB NOT NULL,
    segments TEXT NOT NULL,
    not_before INTEGER NOT NULL,
    last_day INTEGER NOT NULL,
    due INTEGER,
    leased_until REAL NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    retry_at REAL NOT NULL DEFAULT 0,
    stale_since INTEGER
) WITHOUT ROWID
