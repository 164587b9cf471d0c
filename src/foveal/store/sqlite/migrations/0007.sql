-- Messages that no other session sees.
ALTER TABLE entries ADD COLUMN private INTEGER NOT NULL DEFAULT 0;
CREATE INDEX private_entries ON entries (content) WHERE private;
