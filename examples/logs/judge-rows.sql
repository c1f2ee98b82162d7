-- What judge-rows sends: nothing is kept here, the view takes each row into the
-- table that queries.sql asks.
CREATE TABLE IF NOT EXISTS robots_guard.judged
(
    id Tuple(UInt32, String, String, String, String, String, UInt16),
    verdict String,
    crawler String,
    class String,
    rule String,
    line UInt32,
    `group` String
)
ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS robots_guard.judged_to_requests TO robots_guard.requests AS
SELECT toDateTime(id.1) AS time, id.2 AS host, id.3 AS client_ip, id.4 AS method, id.5 AS uri, id.6 AS user_agent, id.7 AS status,
    verdict, 'none' AS action, crawler, class, 'claimed' AS identity, '' AS proof, rule, line, `group` AS robots_group, '' AS version
FROM robots_guard.judged
WHERE crawler != '' AND verdict != 'unknown';
