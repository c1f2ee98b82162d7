package guard

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// answer sees what is answered to a request while it passes. It stands in the
// judgement, so that it costs no memory of its own.
type answer struct {
	passing
	method string
	status int     // 0 for an implicit 200
	size   int64   // bytes of the body that were sent, until it was hijacked
	flight *flight // what the request has taken, nil for nothing
	stopwatch
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
		a.firstByte()
	}
	a.ResponseWriter.WriteHeader(status)
	if a.method == http.MethodConnect && status < http.StatusMultipleChoices && status >= http.StatusOK {
		a.becameTunnel()
	}
}

// Hijack implements [http.Hijacker].
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := a.passing.Hijack()
	if err == nil {
		a.becameTunnel()
	}
	return conn, buffered, err
}

// Flush implements [http.Flusher].
func (a *answer) Flush() { _ = a.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (a *answer) FlushError() error {
	a.firstByte()
	return a.passing.FlushError()
}

// becameTunnel takes note that the request is over, and its connection is a WebSocket or
// whatever else, which may last for hours.
func (a *answer) becameTunnel() {
	a.stopwatch = stopwatch{}
	if a.flight != nil {
		a.flight.end()
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.firstByte()
	n, err := a.ResponseWriter.Write(p)
	a.size += int64(max(n, 0))
	return n, err
}

// ReadFrom implements [io.ReaderFrom], so that the server can send files by itself.
func (a *answer) ReadFrom(r io.Reader) (int64, error) {
	a.firstByte()
	n, err := a.passing.ReadFrom(r)
	a.size += max(n, 0)
	return n, err
}

// bytes returns the bytes of the body that the client was sent.
func (a *answer) bytes() int64 {
	if a.method == http.MethodHead {
		return 0 // the server keeps them back
	}
	return a.size
}

// statusCode returns the status that the client gets, 0 if it left before there was
// one. err is what the handlers returned: error routes make an answer of it later, by
// its status as a rule. finished is false if they panicked.
func statusCode(r *http.Request, status int, err error, finished bool) int {
	switch {
	case status != 0:
		return status
	case r.Context().Err() != nil:
		return 0
	case err != nil:
		return statusOfError(err)
	case !finished:
		return http.StatusInternalServerError
	}
	return http.StatusOK // nobody handled it: Caddy answers with an empty body
}

// statusOfError returns the status that Caddy answers with after an error.
func statusOfError(err error) int {
	if failed, ok := errors.AsType[caddyhttp.HandlerError](err); ok && failed.StatusCode != 0 {
		return failed.StatusCode
	}
	return http.StatusInternalServerError
}

// watched passes a request on and counts the answer.
func (g *Guard) watched(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) (err error) {
	a := &j.answer
	a.ResponseWriter, a.method, a.flight = w, r.Method, &j.flight
	if g.Rate != nil {
		j.flight.count(g.Metrics.UnderWay(j.classCounted()))
		a.start(g.shared.clock)
	}
	finished := false
	defer func() {
		code, took := statusCode(r, a.status, err, finished), a.read()
		if code != 0 {
			g.countAnswer(j, ledger.KindOf(j.Verdict), code, a.bytes())
			if took > 0 {
				g.Metrics.FirstByte(j.classCounted(), took)
			}
		}
	}()
	err = next.ServeHTTP(a, r)
	finished = true
	return err
}

// countAnswer counts what the site answered to a request that passed.
func (g *Guard) countAnswer(j *Judgement, kind parity.Kind, code int, size int64) {
	status, ok := parity.StatusOf(code)
	if !ok || g.shared.Ledger == nil || !j.recorded {
		return // no answer, or its request is not counted either
	}
	token, class, named := j.counted()
	g.Metrics.Answered(class, kind, status, size)
	g.shared.Ledger.RecordAnswer(&ledger.Answer{
		At: j.at, Site: j.Site.Label, Token: token, Named: named, Class: class, Identity: j.Identity,
		Kind: kind, Status: status, Bytes: size,
	})
}

// Interface guards
var (
	_ io.ReaderFrom = (*answer)(nil)
	_ http.Flusher  = (*answer)(nil)
	_ http.Hijacker = (*answer)(nil)
)

// robotsAnswer is what a client got for /robots.txt.
type robotsAnswer struct {
	status             int
	etag, lastModified string
	coded              bool              // it has a Content-Encoding, and so do the validators
	text               []byte            // decoded, as far as it counts
	hash               [sha256.Size]byte // of the text, all zero where that was not seen
	lifetime           time.Duration     // that it states, see [policy.Version]
	location           string            // of a redirect
	byError            bool              // status is that of an error; error routes may send another response
}

// isReading reports whether the client knows the rules now.
func (a robotsAnswer) isReading(method string) bool { return judge.IsReading(method, a.status) }

// differs reports whether the answer shows that a copy is outdated.
func (a robotsAnswer) differs(s *policy.State, own *policy.Key) bool {
	if s == nil || s.Good == nil {
		return false
	}
	good := s.Good
	existed := policy.Answer{Status: good.Status}.Meaning() == policy.Rules
	if isRedirect(a.status) {
		return len(s.Via) == 0 && (good.Status < 300 || good.Status >= 400) || len(s.Via) > 0 && s.Via[0] != placeOf(a.location, own)
	}
	switch (policy.Answer{Status: a.status}).Meaning() {
	case policy.Unavailable:
		// Others, such as 401, 412 and 416, may be due to the client's own header.
		return existed && (a.status == http.StatusNotFound || a.status == http.StatusGone)
	case policy.Rules, policy.Unchanged:
		switch {
		case !existed:
			return true
		case a.hash != [sha256.Size]byte{}:
			return a.hash != good.Hash && policy.Parse(a.text).RulesDigest() != good.Robots.RulesDigest()
		case a.coded:
			return false // validators tell codings of one text apart
		case a.etag != "" && good.ETag != "":
			return strings.TrimPrefix(a.etag, "W/") != strings.TrimPrefix(good.ETag, "W/")
		case a.lastModified != "" && good.LastModified != "":
			return a.lastModified != good.LastModified
		}
	}
	return false
}
