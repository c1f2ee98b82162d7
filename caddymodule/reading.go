package caddymodule

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"net/netip"
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
	// Handlers behind may change the request.
	a := asking{site: g.siteOf(r), plain: originalRequest(r).URL.RawQuery == "", asksForFile: asksForFile(r), unsure: j != nil && j.identity != identityVerified && maybeInvented(r), witness: witnessOf(r)}
	a.exact, a.canonical = r.Host == a.site.own.Host, isCanonical(r, a.site.own)
	if j != nil {
		a.readers = g.readersOf(r, j)
	}
	asks := r.Clone(r.Context())
	watched := watch(w, r.Method)
	err := next.ServeHTTP(watched, r)
	answer := watched.answer(err)
	now := time.Now()
	entry := g.state.cache.Get(a.site.key)
	if g.sourceKey == "" && entry != nil && a.exact && a.asksForFile && answer.differs(entry.Standing()) {
		entry.Doubt(now)
	}
	if j == nil || !answer.isReading(r.Method) {
		return err
	}
	read := ledger.Reading{At: now, Status: answer.status, Hash: answer.hash}
	if a.canonical && a.plain && !a.unsure {
		g.noteReading(asks, j, a, entry, answer, &read)
	}
	g.metrics.readBy(j.site.label, g.labelOf(j), now)
	g.recordRead(asks, j, read)
	return err
}

// asking is a request for a robots.txt as it came.
type asking struct {
	site        site
	exact       bool // it names the site by the very authority that the guard uses
	canonical   bool // or by that with another port
	plain       bool // it has no query
	asksForFile bool
	unsure      bool // the client may have written its address itself
	witness     witness
	readers     []ledger.Reader
}

// noteReading takes note of what a crawler was served. A verified one is believed;
// for another the site is asked whether it serves that by itself.
func (g *guard) noteReading(r *http.Request, j *judgement, a asking, entry *policy.Entry, answer robotsAnswer, read *ledger.Reading) {
	var standing *policy.Standing
	if entry != nil {
		standing = entry.Standing()
	}
	served := g.state.served.site(j.site)
	switch {
	case answer.status == http.StatusNotModified:
		if answer.etag == "" && g.knows(a.readers, read.At) {
			return // it holds what it was served before; texts may share a date
		}
		if read.Hash = versionOf(answer, standing, served); read.Hash == [sha256.Size]byte{} && g.knows(a.readers, read.At) {
			return
		}
	case answer.status == http.StatusOK && answer.coded && read.Hash == [sha256.Size]byte{} && g.sourceKey == "":
		read.Hash = codedText
	}
	for _, reader := range a.readers {
		g.state.readers.Read(reader, *read)
	}
	if g.sourceKey != "" || read.Hash == [sha256.Size]byte{} {
		return
	}
	if entry == nil {
		entry = g.state.cache.Add(a.site.key, a.site.segment)
		g.state.want(a.site)
	}
	entry.Saw(read.Hash, read.At)
	if a.exact && a.asksForFile && answer.status == http.StatusOK && served.saw(a.witness, j.identity == identityVerified, read.At) &&
		standing != nil && (standing.Good == nil || answer.differs(standing)) {
		entry.Hasten() // the guard may be refused what this client was served
	}
	known := standing != nil && standing.Good != nil
	switch {
	case known && standing.Good.Hash == read.Hash:
	case j.identity == identityVerified && a.exact && answer.hash != [sha256.Size]byte{}:
		header := http.Header{"Etag": {answer.etag}, "Last-Modified": {answer.lastModified}}
		g.state.served.confirm(j.site, operatorClient(j), netip.Prefix{}, policy.Answer{Status: answer.status, Header: header, Body: answer.text}, read.At)
	case known && g.textOf(r, j, read.Hash, standing, read.At) == nil:
		g.askSite(r, j, read.Hash, read.At, g.unpacks(*read, a.readers))
	}
}

// codedText stands for a text in a coding that is not unpacked here: what the site
// serves to such a crawler is then what it was served.
var codedText = sha256.Sum256([]byte("a robots.txt in a Content-Encoding that the guard does not unpack"))

// unpacks returns what puts the text that a site serves to a crawler in the place
// of codedText in its reading, nil where that is another.
func (g *guard) unpacks(read ledger.Reading, readers []ledger.Reader) func(hash [sha256.Size]byte) {
	if read.Hash != codedText {
		return nil
	}
	return func(hash [sha256.Size]byte) {
		for _, reader := range readers {
			if last, ok := g.state.readers.Last(reader); ok && last == read {
				g.state.readers.Read(reader, ledger.Reading{At: read.At, Status: read.Status, Hash: hash})
			}
		}
	}
}

// knows reports whether it is known what a crawler was served in the last day, so
// that "not modified" tells nothing new.
func (g *guard) knows(readers []ledger.Reader, now time.Time) bool {
	for _, reader := range readers {
		if last, ok := g.state.readers.Last(reader); ok && last.Hash != [sha256.Size]byte{} && now.Sub(last.At) < policy.MaxAge {
			return true
		}
	}
	return false
}

// versionOf returns the hash of the text that a client holds after a 304, the one
// with these validators, all zero where that is not known.
func versionOf(answer robotsAnswer, standing *policy.Standing, served *servedSite) (hash [sha256.Size]byte) {
	if standing != nil && standing.Good != nil {
		for _, v := range append([]*policy.Version{standing.Good}, standing.Past...) {
			if answer.validates(v) {
				return v.Hash
			}
		}
	}
	if v := served.tagged(answer); v != nil {
		return v.Hash
	}
	return hash
}

// validates reports whether an answer has the validators of a version.
func (a robotsAnswer) validates(v *policy.Version) bool {
	if a.etag != "" || v.ETag != "" {
		return a.etag == v.ETag
	}
	return a.lastModified != "" && a.lastModified == v.LastModified
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
	reader := ledger.Reader{Site: j.site.own, Crawler: "operator " + operatorOf(j), Invented: !j.site.named}
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
