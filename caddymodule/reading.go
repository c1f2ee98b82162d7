package caddymodule

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// passRobots passes a request for /robots.txt on and looks at the answer: who
// reads it knows its rules from now on, and an answer that is not what our copy
// says makes the copy due. The answer itself is never parsed, for it may be
// meant for this client only.
func (g *guard) passRobots(w http.ResponseWriter, r *http.Request, j *judgement, next caddyhttp.Handler) error {
	watched := watch(w, r.Method)
	err := next.ServeHTTP(watched, r)
	answer := watched.answer(err)
	now := time.Now()
	if g.sourceKey == "" && asksForFile(r) {
		key := g.key(r)
		if entry := g.state.cache.Get(key); entry != nil && answer.differs(entry.Standing()) {
			entry.Doubt(now)
		}
	}
	if j != nil && answer.isReading(r.Method) {
		read := ledger.Reading{At: now, Status: answer.status, Hash: answer.hash}
		g.state.readers.Read(g.readerOf(r, j), read)
		g.metrics.readBy(j.site.label, g.labelOf(j), now)
		g.recordRead(r, j, read)
	}
	return err
}

// asksForFile reports whether the answer to a request can tell something about
// the file that a crawler gets. What is answered to other methods, to a query or
// to credentials the client brings about by itself, and it could have every
// verdict doubted.
func asksForFile(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && originalRequest(r).URL.RawQuery == "" &&
		r.Header.Get("Cookie") == "" && r.Header.Get("Authorization") == ""
}

// readerOf tells which crawler it is that reads or asks. One robots.txt that a
// verified crawler reads is read by all crawlers of its operator.
func (g *guard) readerOf(r *http.Request, j *judgement) ledger.Reader {
	if j.identity == identityVerified {
		return ledger.Reader{Site: j.site.own, Crawler: "operator " + cmp.Or(j.client.Crawler.Operator, j.client.Crawler.Token), Invented: !j.site.named}
	}
	reader := ledger.Reader{Site: j.site.own, Crawler: otherLabel, Network: ledger.Network(clientAddr(r)), Invented: !j.site.named}
	if name := j.knownName(); name != "" {
		reader.Crawler = foldName(name)
	}
	return reader
}

// lastReading returns what a crawler has read last. A verified one may have
// read it before its first address was verified.
func (g *guard) lastReading(r *http.Request, j *judgement) (ledger.Reading, bool) {
	last, ok := g.state.readers.Last(g.readerOf(r, j))
	if j.identity == identityVerified {
		unverified := *j
		unverified.identity = identityUnknown
		if before, known := g.state.readers.Last(g.readerOf(r, &unverified)); known && before.At.After(last.At) {
			return before, true
		}
	}
	return last, ok
}

// hasRead tells what a crawler knows of the rules it broke, as far as the guard
// has seen: that it never read the file, or when, and whether what it read was
// the current version ("current") or an older one ("old").
func (g *guard) hasRead(r *http.Request, j *judgement) (what string, at time.Time) {
	last, ok := g.lastReading(r, j)
	switch {
	case !ok || j.version == nil:
		return "never", time.Time{}
	case last.Hash == j.version.Hash, !last.At.Before(j.version.FirstRead):
		return "current", last.At
	}
	return "old", last.At
}

// robotsAnswer is what a client got for /robots.txt.
type robotsAnswer struct {
	status             int
	etag, lastModified string
	hash               [sha256.Size]byte // all zero where the text was not seen in the clear
}

// isReading reports whether the client knows the rules now.
func (a robotsAnswer) isReading(method string) bool { return judge.IsReading(method, a.status) }

// differs reports whether the answer shows that a copy is outdated.
func (a robotsAnswer) differs(s *policy.Standing) bool {
	if s == nil || s.Good == nil {
		return false
	}
	good := s.Good
	existed := policy.Answer{Status: good.Status}.Meaning() == policy.Rules
	switch (policy.Answer{Status: a.status}).Meaning() {
	case policy.Unavailable:
		// Others, such as 401, 412 and 416, may be due to the client's own header.
		return existed && (a.status == http.StatusNotFound || a.status == http.StatusGone)
	case policy.Rules, policy.Unchanged:
		switch {
		case !existed:
			return true
		case a.hash != [sha256.Size]byte{}:
			return a.hash != good.Hash
		case a.etag != "" && good.ETag != "":
			return weakETag(a.etag) != weakETag(good.ETag)
		case a.lastModified != "" && good.LastModified != "":
			return a.lastModified != good.LastModified
		}
	}
	return false
}

// weakETag strips what tells representations of one text apart: the mark of a
// weak validator, and the suffix that encode puts on compressed answers.
func weakETag(etag string) string {
	if len(etag) > 2 && etag[:2] == "W/" {
		etag = etag[2:]
	}
	for _, suffix := range []string{"-gzip\"", "-zstd\"", "-br\"", "/gzip\"", "/zstd\"", "/br\""} {
		if n := len(etag) - len(suffix); n > 0 && etag[n:] == suffix {
			return etag[:n] + "\""
		}
	}
	return etag
}

// watcher looks at an answer while it passes.
type watcher struct {
	*caddyhttp.ResponseWriterWrapper
	method string
	status int
	sum    hash.Hash
	size   int // bytes hashed, at most MaxSize+1
}

func watch(w http.ResponseWriter, method string) *watcher {
	return &watcher{ResponseWriterWrapper: &caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, method: method, sum: sha256.New()}
}

// WriteHeader implements [http.ResponseWriter].
func (w *watcher) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *watcher) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriterWrapper.Write(p)
	seen := p[:min(max(n, 0), policy.MaxSize+1-w.size)]
	w.sum.Write(seen)
	w.size += len(seen)
	return n, err
}

// ReadFrom implements [io.ReaderFrom], so that no byte passes unseen.
func (w *watcher) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, r)
}

// answer returns what was seen. err is what the handler returned; error routes
// turn it into an answer later.
func (w *watcher) answer(err error) robotsAnswer {
	header := w.Header()
	a := robotsAnswer{status: w.status, etag: header.Get("ETag"), lastModified: header.Get("Last-Modified")}
	var failed caddyhttp.HandlerError
	switch {
	case w.status == 0 && errors.As(err, &failed):
		return robotsAnswer{status: failed.StatusCode}
	case w.status == 0 && err != nil:
		return robotsAnswer{status: http.StatusInternalServerError}
	case w.status == 0:
		a.status = http.StatusOK // nobody handled it: Caddy answers with an empty body
	}
	if a.status == http.StatusOK && w.method == http.MethodGet && header.Get("Content-Encoding") == "" && err == nil {
		w.sum.Sum(a.hash[:0])
	}
	return a
}

// Interface guard
var _ io.ReaderFrom = (*watcher)(nil)
