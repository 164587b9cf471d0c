-- Sessions that share one memory and one budget; no budget: each has its own. A session is in one pool at most.
CREATE TABLE pools (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    budget INTEGER,
    created_at REAL NOT NULL,
    UNIQUE (tenant, name)
) STRICT;
ALTER TABLE sessions ADD COLUMN pool INTEGER REFERENCES pools (id);
CREATE INDEX sessions_of_pool ON sessions (pool) WHERE pool IS NOT NULL;
