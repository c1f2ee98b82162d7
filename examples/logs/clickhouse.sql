-- One row for each judged request. Old months go at once and cost nothing:
-- ALTER TABLE robots_guard.requests DROP PARTITION 202601
CREATE DATABASE IF NOT EXISTS robots_guard;

CREATE TABLE IF NOT EXISTS robots_guard.requests
(
    time DateTime,
    host String,
    client_ip String,
    method String,
    uri String,
    user_agent String,
    status UInt16,
    verdict String,
    action String,
    crawler String,
    class String,
    identity String,
    proof String,
    rule String,
    line UInt32,
    robots_group String,
    version String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (host, crawler, time);
