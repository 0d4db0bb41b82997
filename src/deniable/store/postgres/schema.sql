CREATE TABLE store (name text PRIMARY KEY, version integer NOT NULL);

CREATE TABLE batches (
    batch bigint PRIMARY KEY,
    question text NOT NULL,
    version bigint NOT NULL,
    digest bytea NOT NULL,
    epoch integer NOT NULL,
    size bigint NOT NULL,
    simulated boolean NOT NULL,
    segments text NOT NULL,
    reports bigint NOT NULL,
    open boolean NOT NULL,
    ran bigint,
    sum bytea NOT NULL,
    UNIQUE (question, version, digest, epoch, size, simulated, segments)
);

CREATE INDEX open_batches ON batches (epoch) WHERE open;

CREATE TABLE parts (
    batch bigint NOT NULL,
    slot integer NOT NULL,
    reports bigint NOT NULL,
    PRIMARY KEY (batch, slot)
) WITH (fillfactor = 20);

CREATE TABLE closed (
    batch bigint NOT NULL,
    key bytea NOT NULL,
    sum bytea NOT NULL,
    records bytea NOT NULL,
    PRIMARY KEY (batch, key)
);

CREATE TABLE counters (
    question text NOT NULL,
    reason text NOT NULL,
    slot integer NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (question, reason, slot)
) WITH (fillfactor = 20);

CREATE TABLE simulations (
    question text NOT NULL,
    version bigint NOT NULL,
    digest bytea NOT NULL,
    seed text NOT NULL,
    epoch integer NOT NULL,
    people bigint NOT NULL,
    PRIMARY KEY (question, version, digest, seed)
);

ALTER TABLE closed ALTER COLUMN records SET STORAGE EXTERNAL;
