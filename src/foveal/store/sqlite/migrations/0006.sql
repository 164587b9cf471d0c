-- Events are numbered per tenant: a number says nothing about the other tenants. Known numbers stay valid.
ALTER TABLE tenants ADD COLUMN events INTEGER NOT NULL DEFAULT 0; -- the number given last: none is given twice
ALTER TABLE events ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE events SET position = number;
UPDATE tenants SET events = (SELECT coalesce(max(number), 0) FROM events WHERE tenant = tenants.id);
DROP INDEX events_of_tenant;
CREATE UNIQUE INDEX events_of_tenant ON events (tenant, position);
