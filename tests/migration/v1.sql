-- A store as version 1 wrote it. Never edit this file: stores like it are in the world.
-- Every row belongs to a tenant, or to a session that does.
CREATE TABLE tenants (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- A session is a name and a pointer to its current branch.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: others may still hold a deleted one
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    format TEXT,
    model TEXT NOT NULL DEFAULT '',
    preset TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL,
    branch INTEGER NOT NULL REFERENCES branches (id) DEFERRABLE INITIALLY DEFERRED,
    length INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0,
    minted INTEGER NOT NULL DEFAULT 0, -- ids given out so far: none is given twice
    UNIQUE (tenant, name)
) STRICT;

-- A branch holds the messages from fork_at on; the earlier ones are its parent's.
CREATE TABLE branches (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    parent INTEGER REFERENCES branches (id) ON DELETE CASCADE,
    fork_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX branches_of_session ON branches (session);
CREATE INDEX branches_of_parent ON branches (parent);

-- Each content once per tenant, under its address; no body: erased for good.
CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    digest TEXT NOT NULL,
    format TEXT NOT NULL,
    body TEXT,
    UNIQUE (tenant, digest)
) STRICT;

-- digest is the content's, held here too so that reading entries never touches bodies. beside: added by the
-- session's owner, not part of a client's history. body is null unless this message was written with other bytes (key order,
-- cache markers) than the content that has the same address.
CREATE TABLE entries (
    branch INTEGER NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    content INTEGER NOT NULL REFERENCES contents (id),
    digest TEXT NOT NULL,
    format TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    calls TEXT NOT NULL DEFAULT '',
    answers TEXT NOT NULL DEFAULT '',
    tokens INTEGER NOT NULL,
    counter TEXT NOT NULL,
    kind TEXT,
    level TEXT,
    priority REAL,
    pinned INTEGER NOT NULL DEFAULT 0,
    important INTEGER NOT NULL DEFAULT 0,
    absence TEXT NOT NULL DEFAULT '',
    beside INTEGER NOT NULL DEFAULT 0,
    stand_in TEXT NOT NULL DEFAULT '', -- what windows show in place of this and the left-out ones before it
    author TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL,
    metadata TEXT NOT NULL DEFAULT '',
    body TEXT,
    PRIMARY KEY (branch, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_of_content ON entries (content);
CREATE UNIQUE INDEX entry_ids ON entries (branch, id);

CREATE TABLE counts (
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    counter TEXT NOT NULL,
    digest TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (tenant, counter, digest)
) STRICT, WITHOUT ROWID;

-- What providers billed for windows we had counted: estimates learn from it.
CREATE TABLE bills (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    model TEXT NOT NULL,
    tokenizer TEXT NOT NULL,
    counted INTEGER NOT NULL,
    billed INTEGER NOT NULL
) STRICT;
CREATE INDEX bills_of_model ON bills (tenant, model, tokenizer, id);

CREATE TABLE builds (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    created_at REAL NOT NULL,
    preset TEXT NOT NULL,
    model TEXT NOT NULL,
    budget INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    manifest TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT;

CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    session TEXT NOT NULL,
    created_at REAL NOT NULL,
    name TEXT NOT NULL,
    payload TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_tenant ON events (tenant, number);

-- The words of each content of one tenant, under the content's id; the text itself is not kept twice.
-- A table for each, because ranking weighs a word by how many rows of the table have it.
CREATE VIRTUAL TABLE words_1 USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

PRAGMA application_id = 0x666F7661;
PRAGMA user_version = 1;
BEGIN;
INSERT INTO tenants VALUES (1, 'default');
INSERT INTO sessions VALUES (1, 1, 'work', 'openai', 'gpt-5', '', 0.0, 2, 3, 2, 4);
INSERT INTO branches VALUES (1, 1, NULL, 0), (2, 1, 1, 2);
INSERT INTO contents VALUES
    (1, 1, '461e54351524e26a3906870ac67d6ee112b9d4af56cb6da5c7906c824ff9d215', 'openai', '{"role": "user", "content": "hello"}'),
    (2, 1, '181c46a8bda9b3494bf9234d4a65773a457f94299e5a420600ad4a9c16f099d9', 'openai', '{"role": "assistant", "content": "an answer"}'),
    (3, 1, '33767be304aac218148681150693aa5ccfe448c6eb7ab9d077f07e6f0b44d546', 'openai', '{"role": "user", "content": "old end"}'),
    (4, 1, 'f8c1da3ddb5145a534b746297c69b868e1b365a762b9c65e72bb41c3303e950f', 'openai', '{"role": "user", "content": "new end"}');
INSERT INTO entries VALUES
    (1, 0, 1, '461e54351524e26a3906870ac67d6ee112b9d4af56cb6da5c7906c824ff9d215', 'openai', 'm1', 'user', '', '', 1, 'words', NULL, NULL, NULL, 1, 0, '', 0, '', '', 1700000000.0, '', NULL),
    (1, 1, 2, '181c46a8bda9b3494bf9234d4a65773a457f94299e5a420600ad4a9c16f099d9', 'openai', 'm2', 'assistant', '', '', 2, 'words', NULL, NULL, NULL, 0, 0, '', 0, '', '', 1700000000.0, '', NULL),
    (1, 2, 3, '33767be304aac218148681150693aa5ccfe448c6eb7ab9d077f07e6f0b44d546', 'openai', 'x1', 'user', '', '', 2, 'words', NULL, NULL, NULL, 0, 0, '', 0, '', '', 1700000000.0, '', NULL),
    (2, 2, 4, 'f8c1da3ddb5145a534b746297c69b868e1b365a762b9c65e72bb41c3303e950f', 'openai', 'x1', 'user', '', '', 2, 'words', NULL, NULL, NULL, 0, 0, '', 0, '', '', 1700000000.0, '', NULL);
INSERT INTO counts VALUES (1, 'words', '461e54351524e26a3906870ac67d6ee112b9d4af56cb6da5c7906c824ff9d215', 1);
INSERT INTO words_1 (rowid, text) VALUES (1, 'hello'), (2, 'an answer'), (3, 'old end'), (4, 'new end');
COMMIT;
