-- When the session's owner last had a message shown again: its age counts from then.
ALTER TABLE entries ADD COLUMN restored_at REAL;
