-- Events are numbered per tenant: a number says nothing about the other tenants. Known numbers stay valid.
ALTER TABLE tenants ADD COLUMN events INTEGER NOT NULL DEFAULT 0; -- the number given last: none is given twice
ALTER TABLE events ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE events SET position = number;
UPDATE tenants SET events = (SELECT coalesce(max(number), 0) FROM events WHERE tenant = tenants.id);
DROP INDEX events_of_tenant;
CREATE UNIQUE INDEX events_of_tenant ON events (tenant, position);

-- How many changes erased something, up to which the file was rewritten since, and its log emptied: one row, or none.
CREATE TABLE remains (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    erased INTEGER NOT NULL DEFAULT 0,
    rewritten INTEGER NOT NULL DEFAULT 0,
    emptied INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO remains (id, erased) SELECT 1, 1 WHERE EXISTS (SELECT 1 FROM contents WHERE body IS NULL);
