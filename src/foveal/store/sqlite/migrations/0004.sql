-- How often records of a session's builds were changed after they were stored: whoever knows the newest reads it again then.
ALTER TABLE sessions ADD COLUMN amended INTEGER NOT NULL DEFAULT 0;
