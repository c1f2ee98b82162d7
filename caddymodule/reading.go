package caddymodule

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// passRobots passes a request for /robots.txt on and looks at the answer. Who
// reads it is held to what it was served, and to nothing that others were; an
// answer that is not what our copy says makes the copy due.
func (g *guard) passRobots(w http.ResponseWriter, r *http.Request, j *judgement, next caddyhttp.Handler) error {
	watched := watch(w, r.Method)
	err := next.ServeHTTP(watched, r)
	answer := watched.answer(err)
	now := time.Now()
	s := g.siteOf(r)
	exact := r.Host == s.own.Host // else it may be another site for the origin
	var standing *policy.Standing
	entry := g.state.cache.Get(s.key)
	if g.sourceKey == "" && entry != nil {
		standing = entry.Standing()
		if exact && asksForFile(r) && answer.differs(standing) {
			entry.Doubt(now)
		}
	}
	if j == nil || !answer.isReading(r.Method) {
		return err
	}
	read := ledger.Reading{At: now, Status: answer.status, Hash: versionOf(answer, standing)}
	if isCanonical(r, s.own) && originalRequest(r).URL.RawQuery == "" {
		for _, reader := range g.readersOf(r, j) {
			g.state.readers.Read(reader, read)
		}
		if g.sourceKey == "" && read.Hash != [sha256.Size]byte{} {
			if entry == nil {
				entry = g.state.cache.Add(s.key, s.segment)
				g.state.want(s)
			}
			entry.Saw(read.Hash, now)
			g.servedText(r, j, answer, exact, read.Hash, entry, now)
		}
	}
	g.metrics.readBy(j.site.label, g.labelOf(j), now)
	g.recordRead(r, j, read)
	return err
}

// servedText takes note of the text that a crawler was served. A verified one is
// believed; for another the site is asked whether it serves it so by itself.
func (g *guard) servedText(r *http.Request, j *judgement, answer robotsAnswer, exact bool, hash [sha256.Size]byte, entry *policy.Entry, now time.Time) {
	standing, site := entry.Standing(), g.state.served.site(j.site)
	if exact && answer.status == http.StatusOK && asksForFile(r) && site.saw(witnessOf(r), now) &&
		standing != nil && (standing.Good == nil || answer.differs(standing)) {
		entry.Hasten() // the guard may be refused what this client was served
	}
	if standing != nil && standing.Good != nil && standing.Good.Hash == hash {
		return
	}
	if j.identity == identityVerified && answer.seen && exact {
		g.state.served.confirm(j.site, operatorName(j), policy.Answer{Status: answer.status, Body: answer.text}, now)
		return
	}
	if g.textOf(j, hash, standing, now) == nil {
		g.askSite(r, j, hash, now)
	}
}

// versionOf returns the hash of the text that a client holds now, all zero where
// that is not known: after a 304 it is the one with that entity tag.
func versionOf(answer robotsAnswer, standing *policy.Standing) (hash [sha256.Size]byte) {
	if answer.status != http.StatusNotModified || answer.etag == "" {
		return answer.hash
	}
	if standing != nil && standing.Good != nil {
		for _, v := range append([]*policy.Version{standing.Good}, standing.Past...) {
			if v.ETag == answer.etag {
				return v.Hash
			}
		}
	}
	return hash
}

// isCanonical reports whether a request names its site as the guard does, but for
// the port, which a proxy may map.
func isCanonical(r *http.Request, own policy.Key) bool {
	name, _ := cutPort(own.Host)
	sent, _ := cutPort(r.Host)
	if sent != name || !isTrustedProxy(r) {
		return sent == name
	}
	forwarded, _ := cutPort(r.Header.Get("X-Forwarded-Host"))
	asked, _ := cutPort(own.Forwarded)
	return forwarded == "" || forwarded == cmp.Or(asked, name)
}

// asksForFile reports whether the answer to a request can tell something about
// the file that a crawler gets. What is answered to other methods, to a query or
// to credentials the client brings about by itself.
func asksForFile(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && originalRequest(r).URL.RawQuery == "" &&
		r.Header.Get("Cookie") == "" && r.Header.Get("Authorization") == ""
}

// readersOf tells which crawler it is that reads. What a verified crawler reads
// its operator may tell to all of its crawlers, of whom each may be served
// another text, so it is kept by both.
func (g *guard) readersOf(r *http.Request, j *judgement) []ledger.Reader {
	if j.identity != identityVerified {
		return []ledger.Reader{g.claimedReader(r, j)}
	}
	reader := ledger.Reader{Site: j.site.own, Crawler: operatorName(j), Invented: !j.site.named}
	own := reader
	own.Crawler += " " + foldName(j.client.Name())
	return []ledger.Reader{own, reader}
}

// claimedReader is a crawler of which nothing but its name is known: it is told
// from others by the network that it comes from.
func (g *guard) claimedReader(r *http.Request, j *judgement) ledger.Reader {
	reader := ledger.Reader{Site: j.site.own, Crawler: otherLabel, Network: ledger.Network(clientAddr(r)), Invented: !j.site.named}
	if name := j.knownName(); name != "" {
		reader.Crawler = foldName(name)
	}
	return reader
}

func operatorOf(j *judgement) string {
	return cmp.Or(j.client.Crawler.Operator, j.client.Crawler.Token)
}

// readings returns what a crawler has read last: how many, the latest first. A
// verified one may have read it before its first address was verified.
func (g *guard) readings(r *http.Request, j *judgement, all *[3]ledger.Reading) (n int) {
	who := g.readersOf(r, j)
	if j.identity == identityVerified {
		who = append(who, g.claimedReader(r, j))
	}
	for _, reader := range who {
		if last, ok := g.state.readers.Last(reader); ok {
			all[n] = last
			n++
		}
	}
	slices.SortFunc(all[:n], func(a, b ledger.Reading) int { return b.At.Compare(a.At) })
	return n
}

// lastReading returns what a crawler has read last.
func (g *guard) lastReading(r *http.Request, j *judgement) (ledger.Reading, bool) {
	var all [3]ledger.Reading
	n := g.readings(r, j, &all)
	return all[0], n > 0
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
	coded              bool              // it has a Content-Encoding, and so do the validators
	seen               bool              // all of the text was
	text               []byte            // decoded, as far as it counts
	hash               [sha256.Size]byte // of the text, all zero where that was not seen
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
