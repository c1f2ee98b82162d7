-- Logs of the years before, as they came from whatever server. Use your own table
-- if you have one.
CREATE TABLE IF NOT EXISTS robots_guard.access
(
    time DateTime('UTC'),
    host String,
    client_ip String,
    method String,
    uri String,
    user_agent String,
    status UInt16
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (host, time);

-- How many requests did the robots.txt of their host and time disallow?
SELECT host, toStartOfMonth(time) AS month, count() AS requests,
    countIf(verdict = 'disallowed') AS outside, countIf(verdict = 'unknown') AS not_judged
FROM
(
    SELECT host, time, robots_guard_verdict(host, time, user_agent, method, uri) AS verdict
    FROM robots_guard.access
)
GROUP BY host, month
ORDER BY host, month;

-- All that is known of each request, into the table that queries.sql asks. What
-- the program is to judge goes in under the names that it reads; the rest of the
-- row is the id, which comes back.
INSERT INTO robots_guard.requests (time, host, client_ip, method, uri, user_agent, status, verdict, action, crawler, class, identity, rule, line, robots_group)
SELECT id.1, id.2, id.3, id.4, id.5, id.6, id.7, verdict, 'none', crawler, class, 'claimed', rule, line, group
FROM executable('robots-guard-check', JSONEachRow,
    'id Tuple(UInt32, String, String, String, String, String, UInt16), verdict String, crawler String, class String, rule String, line UInt32, group String',
    (
        SELECT (toUnixTimestamp(time), host, client_ip, method, uri, user_agent, status) AS id,
            host, toUnixTimestamp(time) AS time, user_agent, method, uri AS url
        FROM robots_guard.access
    ))
WHERE crawler != '' AND verdict != 'unknown';
