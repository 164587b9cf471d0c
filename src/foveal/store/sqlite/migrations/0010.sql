-- How long an event is kept: 0 as long as its session; 1, of no session, and 2, transient: the newest 1,000 each.
ALTER TABLE events ADD COLUMN retention INTEGER NOT NULL DEFAULT 0;
UPDATE events SET retention = 1 WHERE NOT EXISTS (
    SELECT 1 FROM sessions WHERE sessions.tenant = events.tenant AND sessions.name = events.session
);
UPDATE events SET retention = 2
WHERE name GLOB 'context.*' AND name NOT IN ('context.optimization.success', 'context.optimization.failed');
CREATE INDEX passing_events ON events (tenant, retention, position) WHERE retention > 0;
