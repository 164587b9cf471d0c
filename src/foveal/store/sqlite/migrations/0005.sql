-- What was erased before leaves no names and ids either. `erased_keys` hashes the ids in an entry's calls and answers.
UPDATE entries SET calls = erased_keys(calls), answers = erased_keys(answers), author = '', metadata = ''
WHERE absence = 'erased';

-- Ids that came with messages: tombstones get generated ones.
CREATE TEMP TABLE renamed AS
    SELECT session, id, 'm' || (minted + row_number() OVER (PARTITION BY session ORDER BY id)) AS fresh
    FROM (
        SELECT DISTINCT branches.session, entries.id, sessions.minted, sessions.tenant, sessions.name
        FROM entries JOIN branches ON branches.id = entries.branch JOIN sessions ON sessions.id = branches.session
        WHERE entries.absence = 'erased' AND (entries.id NOT GLOB 'm[0-9]*' OR substr(entries.id, 2) GLOB '*[^0-9]*')
    );
UPDATE entries SET id = renamed.fresh
FROM renamed JOIN branches ON branches.session = renamed.session
WHERE entries.branch = branches.id AND entries.id = renamed.id AND entries.absence = 'erased';
UPDATE sessions SET minted = minted + (SELECT count(*) FROM renamed WHERE renamed.session = sessions.id)
WHERE id IN (SELECT session FROM renamed);
-- Events that name them were only reports: they go.
DELETE FROM events WHERE number IN (
    SELECT events.number FROM events
    JOIN sessions ON sessions.tenant = events.tenant AND sessions.name = events.session
    JOIN renamed ON renamed.session = sessions.id
    JOIN json_tree(events.payload) AS part ON part.atom = renamed.id
    WHERE json_valid(events.payload)
);
DROP TABLE renamed;

-- Reports of repairs no longer quote names and ids: they outlive the messages.
UPDATE builds SET manifest = json_set(manifest, '$.repairs', json((
    SELECT json_group_array(json_object('rule', value ->> 'rule', 'seq', value ->> 'seq', 'what', CASE value ->> 'rule'
        WHEN 'tool name' THEN 'the name of a tool was not legal'
        WHEN 'call id' THEN 'an id named two calls of one message; one has a new id'
        WHEN 'orphan result' THEN 'a tool result had no call'
        WHEN 'missing answer' THEN 'a call had no result'
        ELSE value ->> 'what' END))
    FROM json_each(manifest, '$.repairs')
)))
WHERE iif(json_valid(manifest), json_array_length(manifest, '$.repairs'), 0) > 0;
UPDATE events SET payload = json_set(payload, '$.repairs', json((
    SELECT json_group_array(json_object('rule', value ->> 'rule', 'seq', value ->> 'seq', 'what', CASE value ->> 'rule'
        WHEN 'tool name' THEN 'the name of a tool was not legal'
        WHEN 'call id' THEN 'an id named two calls of one message; one has a new id'
        WHEN 'orphan result' THEN 'a tool result had no call'
        WHEN 'missing answer' THEN 'a call had no result'
        ELSE value ->> 'what' END))
    FROM json_each(payload, '$.repairs')
)))
WHERE name = 'history.repaired' AND json_valid(payload);
