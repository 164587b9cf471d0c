-- The words of each content of one tenant, under the content's id; the text itself is not kept twice.
-- A table for each, because ranking weighs a word by how many rows of the table have it.
CREATE VIRTUAL TABLE words_{tenant} USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
