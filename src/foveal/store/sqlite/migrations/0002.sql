-- What was made of messages. Everything here can be made again, and goes when what it was made of is erased.

ALTER TABLE tenants ADD COLUMN wipes INTEGER NOT NULL DEFAULT 0; -- what is held in memory is checked by it
CREATE TRIGGER contents_wiped AFTER UPDATE OF body ON contents WHEN (old.body IS NULL) <> (new.body IS NULL) BEGIN
    UPDATE tenants SET wipes = wipes + 1 WHERE id = new.tenant; -- also when what was wiped is said again
END;
CREATE INDEX contents_held ON contents (tenant) WHERE body IS NOT NULL;

CREATE TABLE summaries (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    hash TEXT NOT NULL, -- of the text: `verify` derives it again
    tokens INTEGER NOT NULL,
    writer TEXT NOT NULL,
    level INTEGER NOT NULL,
    created_at REAL NOT NULL,
    UNIQUE (tenant, key)
) STRICT;

-- What a summary covers: contents, or the summaries of the level below.
CREATE TABLE summary_sources (
    summary INTEGER NOT NULL REFERENCES summaries (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    content INTEGER REFERENCES contents (id),
    below INTEGER REFERENCES summaries (id) ON DELETE CASCADE,
    PRIMARY KEY (summary, number),
    CHECK ((content IS NULL) <> (below IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX summaries_of_content ON summary_sources (content) WHERE content IS NOT NULL;
CREATE INDEX summaries_above ON summary_sources (below) WHERE below IS NOT NULL;

CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who read up to one reads on from there
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    embedder TEXT NOT NULL,
    content INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    vector BLOB NOT NULL, -- float32, little-endian
    UNIQUE (content, embedder)
) STRICT;
CREATE INDEX vectors_of_embedder ON vectors (tenant, embedder);

-- Of a content in a session: what a sentence is depends on what was heard there. Number 0 is none of them: it
-- says that the content was read for records, be they none.
CREATE TABLE records (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    content INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, content, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_of_content ON records (content);
CREATE TRIGGER records_erased AFTER UPDATE OF absence ON entries WHEN new.absence = 'erased' BEGIN
    DELETE FROM records -- also when another session still holds the content
    WHERE content = new.content AND session = (SELECT session FROM branches WHERE id = new.branch);
END;

-- last is null while the task is open; no summary: it is to be made. left_behind: on a branch the session left.
CREATE TABLE tasks (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL,
    first INTEGER NOT NULL,
    last INTEGER,
    summary TEXT,
    left_behind INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE compressions (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    created_at REAL NOT NULL,
    original INTEGER NOT NULL,
    compressed INTEGER NOT NULL,
    seconds REAL NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
