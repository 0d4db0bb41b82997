-- All that was disclosed is in one table, so that a report changes one page of the file for it. A row
-- with a question sums up what that question has disclosed, ever. A row without one ('') sums up
-- the micros that were spent on the days from `first` to `last`, over all questions together: on
-- which of them is not kept, because it would say when a value changed that is paid for once.
--
-- Sums are counted from 2^40, so that each takes six bytes for ever: no row grows, and each stays
-- where it was first written. One that grew would move to the rows of that day, and its place would
-- tell what is not kept.
--
-- Days come before all questions, so that the last of them are the questions' neighbours.
CREATE TABLE spent (
    question TEXT,
    first INTEGER,
    last INTEGER,
    reports INTEGER,
    answers INTEGER,
    micros INTEGER NOT NULL,
    PRIMARY KEY (question, first, last)
) WITHOUT ROWID;

INSERT INTO spent SELECT '', first, last, NULL, NULL, micros + (1 << 40)
    FROM charges ORDER BY first, last;

INSERT INTO spent
    SELECT question, 0, 0, reports + (1 << 40), answers + (1 << 40), micros + (1 << 40)
    FROM ledger ORDER BY question;

DROP TABLE charges;

DROP TABLE ledger;

CREATE VIEW charges AS SELECT first, last, micros - (1 << 40) AS micros
    FROM spent WHERE question = '';

CREATE VIEW ledger AS SELECT question, reports - (1 << 40) AS reports,
    answers - (1 << 40) AS answers, micros - (1 << 40) AS micros
    FROM spent WHERE question > ''
