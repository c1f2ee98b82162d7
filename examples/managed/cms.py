#!/usr/bin/env python3
"""Serves the rules of a SQLite database to robots_txt, as a CMS would.

It needs nothing but Python: cms.py rules.db 127.0.0.1:8090
"""
import hashlib
import json
import pathlib
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def rules(database):
    """Returns what the database says, in the form of docs/rules.md."""
    # Only to be read: a database that is gone must not become an empty one.
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=2)
    try:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM rules ORDER BY id").fetchall()
    finally:
        connection.close()
    return {"rules": [rule(row) for row in rows]}


def rule(row):
    said = {"id": row["id"], "for": row["crawlers"].split()}
    said[row["says"]] = True if row["paths"] is None else row["paths"].split()
    if row["hosts"] is not None:
        said["hosts"] = row["hosts"].split()
    for field, column in (("from", "begins"), ("until", "ends"), ("reason",) * 2, ("owner",) * 2, ("ticket",) * 2):
        said[field] = row[column]  # null is the same as left out
    return said


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/rules.json":
            self.send_error(404)
            return
        try:
            body = json.dumps(rules(self.server.database), indent=1).encode()
        except sqlite3.Error as error:
            self.send_error(503, "the database: " + str(error))
            return
        etag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
        unchanged = self.headers.get("If-None-Match") == etag
        self.send_response(304 if unchanged else 200)
        self.send_header("ETag", etag)
        self.send_header("Cache-Control", "max-age=60")
        if not unchanged:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not unchanged:
            self.wfile.write(body)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: cms.py <database> <host:port>")
    database, (host, port) = sys.argv[1], sys.argv[2].rsplit(":", 1)
    connection = sqlite3.connect(database)
    connection.executescript(pathlib.Path(__file__).with_name("schema.sql").read_text())
    connection.close()
    server = ThreadingHTTPServer((host, int(port)), Handler)
    server.database = database
    server.serve_forever()


if __name__ == "__main__":
    main()
