-- Which note tells of a message: the position of the message in whose place windows show it. Notes of before told of the
-- left-out messages before them, back to the note or the shown message before that.
ALTER TABLE entries ADD COLUMN noted_by INTEGER;
WITH RECURSIVE told (note, branch, seq) AS (
    SELECT seq, branch, seq FROM entries WHERE stand_in <> ''
    UNION ALL
    SELECT told.note, before.branch, before.seq
    FROM told
    JOIN branches ON branches.id = told.branch
    JOIN entries AS before
        ON before.seq = told.seq - 1
        AND before.branch = iif(told.seq > branches.fork_at, told.branch, branches.parent)
    WHERE before.stand_in = '' AND (before.absence <> '' OR before.pinned OR before.role = 'system')
)
UPDATE entries SET noted_by = told.note FROM told
WHERE entries.branch = told.branch AND entries.seq = told.seq AND entries.absence = 'left out';

-- What is known of a user. What was made of messages goes with the last of them; what its owner told stays.
ALTER TABLE tenants ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0; -- bundles of before it changed are not kept
ALTER TABLE branches ADD COLUMN read_to INTEGER NOT NULL DEFAULT 0; -- everything before was read for things

-- key: a hash of the words, so that nothing is kept twice. forgotten: its owner deleted it at updated_at; no text is
-- left, and the key keeps it from being read again out of the same words that were said before. told: kept without the messages that said it.
CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: an old name must not mean something new
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    origin TEXT NOT NULL,
    confirmed INTEGER NOT NULL,
    told INTEGER NOT NULL,
    forgotten INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    UNIQUE (tenant, key)
) STRICT;

-- The messages that said it.
CREATE TABLE memory_sources (
    memory INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    content INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    PRIMARY KEY (memory, session, content)
) STRICT, WITHOUT ROWID;
CREATE INDEX memories_of_content ON memory_sources (content, session);
CREATE INDEX memories_of_session ON memory_sources (session);
CREATE TRIGGER memory_unsaid AFTER DELETE ON memory_sources BEGIN
    DELETE FROM memories WHERE id = old.memory AND told = 0 AND forgotten = 0
        AND NOT EXISTS (SELECT 1 FROM memory_sources WHERE memory = old.memory);
END;

-- A thing is known while it is mentioned. edited: its owner named it; hidden: its owner deleted it.
CREATE TABLE things (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    kind TEXT NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    edited INTEGER NOT NULL DEFAULT 0,
    hidden INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 0, -- grows with every change of its mentions
    UNIQUE (tenant, kind, slug)
) STRICT;

-- Of a content in a session. Number 0 is none of them: it says that the content was read, be there none.
CREATE TABLE mentions (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    content INTEGER NOT NULL REFERENCES contents (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    thing INTEGER REFERENCES things (id) ON DELETE CASCADE,
    said_at REAL NOT NULL,
    by_user INTEGER NOT NULL,
    PRIMARY KEY (session, content, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_of_content ON mentions (content);
CREATE INDEX mentions_of_thing ON mentions (thing, said_at, by_user) WHERE thing IS NOT NULL;

-- The mentions of each hour, added up, so that nobody counts them all.
CREATE TABLE engagements (
    thing INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    hour INTEGER NOT NULL, -- since 1970
    session INTEGER NOT NULL,
    mentions INTEGER NOT NULL,
    by_user INTEGER NOT NULL,
    PRIMARY KEY (thing, hour, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX engagements_of_session ON engagements (session, thing, mentions);
CREATE TRIGGER thing_mentioned AFTER INSERT ON mentions WHEN new.thing IS NOT NULL BEGIN
    INSERT INTO engagements VALUES (new.thing, CAST(new.said_at / 3600 AS INTEGER), new.session, 1, new.by_user)
    ON CONFLICT DO UPDATE SET mentions = mentions + 1, by_user = by_user + excluded.by_user;
    UPDATE things SET version = version + 1 WHERE id = new.thing;
END;
CREATE TRIGGER thing_unmentioned AFTER DELETE ON mentions WHEN old.thing IS NOT NULL BEGIN
    UPDATE engagements SET mentions = mentions - 1, by_user = by_user - old.by_user
    WHERE thing = old.thing AND hour = CAST(old.said_at / 3600 AS INTEGER) AND session = old.session;
    DELETE FROM engagements WHERE thing = old.thing AND session = old.session AND mentions = 0;
    UPDATE things SET version = version + 1 WHERE id = old.thing;
    DELETE FROM things WHERE id = old.thing AND NOT EXISTS (SELECT 1 FROM mentions WHERE thing = old.thing);
END;

-- Made of all that is known, and made again in no time: when anything is forgotten, all of them go.
CREATE TABLE bundles (
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    depth TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    version TEXT NOT NULL,
    compiled_at REAL NOT NULL,
    PRIMARY KEY (tenant, kind, subject, depth)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER knowledge_forgotten AFTER UPDATE OF forgotten ON tenants BEGIN
    DELETE FROM bundles WHERE tenant = new.id;
END;
CREATE TRIGGER knowledge_left AFTER INSERT ON branches WHEN new.parent IS NOT NULL BEGIN
    UPDATE tenants SET forgotten = forgotten + 1 WHERE id = (SELECT tenant FROM sessions WHERE id = new.session);
END;
CREATE TRIGGER knowledge_erased AFTER UPDATE OF absence ON entries WHEN new.absence = 'erased' BEGIN
    DELETE FROM mentions -- also when another session still holds the content, or another message of this one
    WHERE content = new.content AND session = (SELECT session FROM branches WHERE id = new.branch);
    DELETE FROM memory_sources
    WHERE content = new.content AND session = (SELECT session FROM branches WHERE id = new.branch);
    UPDATE branches SET read_to = 0 WHERE session = (SELECT session FROM branches WHERE id = new.branch);
    UPDATE tenants SET forgotten = forgotten + 1 WHERE id = (SELECT tenant FROM contents WHERE id = new.content);
END;

-- session is null where a prediction was made for none. outcome: open, used or wasted.
CREATE TABLE predictions (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL REFERENCES tenants (id),
    session INTEGER REFERENCES sessions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    probability REAL NOT NULL,
    made_at REAL NOT NULL,
    outcome TEXT NOT NULL,
    seconds REAL NOT NULL -- that its bundles took to compile
) STRICT;
CREATE INDEX predictions_of_session ON predictions (tenant, session, id);

-- What the ledger knows of a session besides.
CREATE TABLE warmups (
    session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    missed INTEGER NOT NULL DEFAULT 0, -- needed and not predicted
    saved REAL NOT NULL DEFAULT 0, -- seconds that windows did not wait
    stopped INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TRIGGER knowledge_of_session BEFORE DELETE ON sessions BEGIN
    DELETE FROM predictions WHERE tenant = old.tenant AND subject = old.name AND kind = 'continue_conversation';
    UPDATE tenants SET forgotten = forgotten + 1 WHERE id = old.tenant;
END;
