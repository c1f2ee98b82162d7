-- Who is outside of robots.txt, and how much of what it asks for?
SELECT crawler, class, identity, count() AS requests, sum(verdict = 'disallowed') AS outside,
    round(100 * outside / requests, 1) AS percent
FROM robots_guard.requests
WHERE time >= now() - 30 * 86400
GROUP BY crawler, class, identity
HAVING outside > 0
ORDER BY outside DESC;

-- Which rules do they break, and since when?
SELECT crawler, rule, version, count() AS requests, min(time) AS first, max(time) AS last
FROM robots_guard.requests
WHERE verdict = 'disallowed'
GROUP BY crawler, rule, version
ORDER BY requests DESC;

-- What would enforcing have done to search engines?
SELECT host, crawler, identity, uri, rule, count() AS requests
FROM robots_guard.requests
WHERE class = 'search' AND verdict = 'disallowed' AND identity != 'spoofed'
GROUP BY host, crawler, identity, uri, rule
ORDER BY requests DESC
LIMIT 50;
