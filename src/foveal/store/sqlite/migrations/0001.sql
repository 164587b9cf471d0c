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
