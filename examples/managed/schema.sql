-- The rules of a robots.txt as a CMS may keep them. Words are separated by spaces;
-- what is NULL is left out.
CREATE TABLE IF NOT EXISTS rules (
	id       TEXT PRIMARY KEY,
	crawlers TEXT NOT NULL,                                   -- tokens, classes, or *
	says     TEXT NOT NULL CHECK (says IN ('disallow', 'allow')),
	paths    TEXT,                                            -- NULL for the whole site
	begins   TEXT,                                            -- RFC 3339, with its zone
	ends     TEXT,
	hosts    TEXT,                                            -- NULL for all
	reason   TEXT,
	owner    TEXT,
	ticket   TEXT
);
