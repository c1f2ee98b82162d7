package guard

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/internal/readers"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// passRobots passes a request for /robots.txt on and looks at the answer. Who
// reads it is held to what it was served, and to nothing that others were; an
// answer that is not what our copy says makes the copy due.
func (g *Guard) passRobots(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	// Handlers behind may change the request.
	a := asking{site: g.siteOf(r), asksForFile: asksForFile(r), witness: witnessOf(r), from: request.ClientAddr(r)}
	a.exact = r.Host == a.site.Own().Host
	if j != nil {
		a.readers = g.readBy(r, j)
		a.sure = isCanonical(r, *a.site.Own()) && request.OriginalRequest(r).URL.RawQuery == "" && (j.Identity == verify.Verified || !request.MaybeInvented(r))
	}
	asks := r.Clone(r.Context())
	watched := watch(w, r.Method)
	err := next.ServeHTTP(watched, r)
	answer := watched.seen(err)
	if code := statusCode(r, watched.status, err, true); j != nil && code != 0 {
		g.countAnswer(j, parity.RobotsTxt, code, watched.bytes())
	}
	answer.location = placeOf(answer, *a.site.Own())
	now := time.Now()
	entry := g.shared.Cache.Get(a.site.Key)
	if g.SourceKey == "" && entry != nil && a.exact && a.asksForFile && answer.differs(entry.State()) {
		entry.MarkSuspect(now)
	}
	if j != nil && entry != nil && entry.Suspect() {
		g.state(asks, entry, a.site, false, now, 0) // from when the guard knows of a change its grace counts
	}
	if j != nil && r.Method == http.MethodGet && isRedirect(answer.status) && a.sure {
		g.rememberRedirect(asks, a, entry, answer, now)
	}
	if j == nil || !answer.isReading(r.Method) {
		return err
	}
	read := ledger.Reading{At: now, Status: answer.status, Hash: answer.hash}
	if a.sure {
		if g.shared.served.WasLedAbroad(addr.Network(a.from), urlOf(a.site.Own().Host, a.site.Own().Secure, "/robots.txt"), now) {
			read = ledger.Reading{At: now, Status: http.StatusFound} // it may have read that of another site
		}
		g.rememberReading(asks, j, a, entry, answer, &read)
	}
	g.recordReading(asks, j, read)
	return err
}

// asking is a request for a robots.txt as it came.
type asking struct {
	site        *request.Site
	exact       bool // it names the site by the very authority that the guard uses
	asksForFile bool
	witness     origin.Witness
	from        netip.Addr

	// Of a crawler: who reads the answer, and whether that is sure to be theirs of this site.
	// The port may be another, but there is no query, and the client cannot have written its
	// address itself.
	readers []ledger.Reader
	sure    bool
}

// rememberReading remembers what a crawler was served. A verified one is believed;
// for another the site is asked whether it serves that by itself.
func (g *Guard) rememberReading(r *http.Request, j *Judgement, a asking, entry *policy.Entry, answer robotsAnswer, read *ledger.Reading) {
	var state *policy.State
	if entry != nil {
		state = entry.State()
	}
	served := g.shared.served.Site(*j.Site.Own())
	switch {
	case answer.status == http.StatusNotModified:
		if answer.etag == "" && g.knows(a.readers, read.At) {
			return // it holds what it was served before; texts may share a date
		}
		if read.Hash = versionOf(answer, state, served); read.Hash == [sha256.Size]byte{} && g.knows(a.readers, read.At) {
			return
		}
	case answer.status == http.StatusOK && answer.coded && read.Hash == [sha256.Size]byte{} && g.SourceKey == "":
		read.Hash = codedText
	}
	for _, reader := range a.readers {
		g.shared.readers.Read(reader, *read)
	}
	if g.SourceKey != "" || read.Hash == [sha256.Size]byte{} {
		return
	}
	if entry == nil {
		entry = g.meet(g.sitesOf(r).Server, a.site)
	}
	entry.Saw(read.Hash, read.At)
	for _, former := range entry.Former() {
		if before := g.shared.Cache.Get(former); before != nil {
			before.Saw(read.Hash, read.At) // should a configuration go back to it
		}
	}
	if a.exact && a.asksForFile && answer.status == http.StatusOK && served.Saw(a.witness, j.Identity == verify.Verified, read.At) &&
		state != nil && (state.Good == nil || answer.differs(state)) {
		entry.MakeDue() // the guard may be refused what this client was served
	}
	if state == nil && a.exact {
		g.state(r, entry, a.site, false, read.At, 0) // else nobody knows what it read once the owner changes that
	}
	known := state != nil && state.Good != nil
	switch {
	case known && state.Good.Hash == read.Hash:
	case j.Identity == verify.Verified && a.exact && answer.hash != [sha256.Size]byte{}:
		header := http.Header{"Etag": {answer.etag}, "Last-Modified": {answer.lastModified}}
		g.shared.served.Confirm(*j.Site.Own(), operatorClient(j), netip.Prefix{}, policy.Answer{Status: answer.status, Header: header, Body: answer.text}, read.At)
	case known && g.textOf(r, j, *read, state, read.At) == nil:
		g.askSite(r, j, read.Hash, read.At, g.unpacks(*read, a.readers))
	}
}

// codedText stands for a text in a coding that is not unpacked here: what the site
// serves to such a crawler is then what it was served.
var codedText = sha256.Sum256([]byte("a robots.txt in a Content-Encoding that the guard does not unpack"))

// unpacks returns what puts the text that a site serves to a crawler in the place
// of codedText in its reading, nil where that is another.
func (g *Guard) unpacks(read ledger.Reading, readers []ledger.Reader) func(hash [sha256.Size]byte) {
	if read.Hash != codedText {
		return nil
	}
	return func(hash [sha256.Size]byte) {
		for _, reader := range readers {
			if last, ok := g.shared.readers.Last(reader); ok && last == read {
				g.shared.readers.Read(reader, ledger.Reading{At: read.At, Status: read.Status, Hash: hash})
			}
		}
	}
}

// knows reports whether it is known what a crawler was served in the last day, so
// that "not modified" tells nothing new.
func (g *Guard) knows(readers []ledger.Reader, now time.Time) bool {
	for _, reader := range readers {
		if last, ok := g.lastRead(reader); ok && last.Hash != [sha256.Size]byte{} && now.Sub(last.At) < policy.MaxAge {
			return true
		}
	}
	return false
}

// versionOf returns the hash of the text that a client holds after a 304, the one
// with these validators, all zero where that is not known.
func versionOf(answer robotsAnswer, state *policy.State, served *readers.SiteTexts) (hash [sha256.Size]byte) {
	if state != nil && state.Good != nil {
		for _, v := range append([]*policy.Version{state.Good}, state.Past...) {
			if answer.validates(v) {
				return v.Hash
			}
		}
	}
	if v := served.Find(answer.validates); v != nil {
		return v.Hash
	}
	return hash
}

// isCanonical reports whether a request names its site as the guard does, but for
// the port, which a proxy may map.
func isCanonical(r *http.Request, own policy.Key) bool {
	name, _ := addr.CutPort(own.Host)
	sent, _ := addr.CutPort(r.Host)
	if sent != name || !request.IsTrustedProxy(r) {
		return sent == name
	}
	forwarded, _ := addr.CutPort(request.LastForwarded(r.Header, request.ForwardedHost))
	asked, _ := addr.CutPort(own.Forwarded)
	return forwarded == "" || forwarded == cmp.Or(asked, name)
}

// asksForFile reports whether the answer to a request can tell something about
// the file that a crawler gets. What is answered to other methods, to a query or
// to credentials the client brings about by itself.
func asksForFile(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && request.OriginalRequest(r).URL.RawQuery == "" &&
		r.Header.Get("Cookie") == "" && r.Header.Get("Authorization") == ""
}

// readersOf tells which crawler it is that reads. What a verified crawler reads
// its operator may tell to all of its crawlers, of whom each may be served
// another text, so it is kept by both.
func (g *Guard) readersOf(r *http.Request, j *Judgement) []ledger.Reader {
	if j.Identity != verify.Verified {
		return []ledger.Reader{g.claimedReader(r, j)}
	}
	reader := ledger.Reader{Site: *j.Site.Own(), Crawler: "operator " + operatorOf(j), Invented: !j.Site.Named}
	own := reader
	own.Crawler += " " + judge.FoldName(j.Client.Name())
	return []ledger.Reader{own, reader}
}

// readBy tells whose reading it is that a request makes. Whoever likes has a preview, an
// assistant or a tool of an operator fetch the file: that tells its crawlers nothing.
func (g *Guard) readBy(r *http.Request, j *Judgement) []ledger.Reader {
	all := g.readersOf(r, j)
	if c := j.Client.Crawler; c != nil && (c.UserTriggered || !c.Class.JudgedByWildcard()) {
		return all[:1]
	}
	return all
}

// claimedReader is a crawler of which nothing but its name is known: it is told
// from others by the network that it comes from.
func (g *Guard) claimedReader(r *http.Request, j *Judgement) ledger.Reader {
	reader := ledger.Reader{Site: *j.Site.Own(), Crawler: judge.OtherName, Network: addr.Network(request.ClientAddr(r)), Invented: !j.Site.Named}
	if name := j.KnownName(); name != "" {
		reader.Crawler = judge.FoldName(name)
	}
	return reader
}

func operatorOf(j *Judgement) string {
	return cmp.Or(j.Client.Crawler.Operator, j.Client.Crawler.Token)
}

// readings returns what a crawler has read last: how many, the latest first. A
// verified one may have read it before its first address was verified. Nobody knows what
// one has read that was redirected, whatever it had read before.
func (g *Guard) readings(r *http.Request, j *Judgement, all *[3]ledger.Reading) (n int) {
	who := g.readersOf(r, j)
	if j.Identity == verify.Verified {
		who = append(who, g.claimedReader(r, j))
	}
	for _, reader := range who {
		if last, ok := g.lastRead(reader); ok {
			all[n] = last
			n++
		}
	}
	slices.SortFunc(all[:n], func(a, b ledger.Reading) int { return b.At.Compare(a.At) })
	if last := slices.IndexFunc(all[:n], func(read ledger.Reading) bool { return isRedirect(read.Status) }); last >= 0 {
		return last
	}
	return n
}

// lastReading returns what a crawler has read last.
func (g *Guard) lastReading(r *http.Request, j *Judgement) (ledger.Reading, bool) {
	var all [3]ledger.Reading
	if g.readings(r, j, &all) == 0 {
		return ledger.Reading{}, false
	}
	return all[0], true
}

// hasRead tells what a crawler knows of the rules it broke, as far as the guard
// has seen: that it never read the file, or when, and whether what it read was
// the current version ("current") or an older one ("old").
func (g *Guard) hasRead(r *http.Request, j *Judgement) (what string, at time.Time) {
	last, ok := g.lastReading(r, j)
	switch {
	case !ok || j.Version == nil:
		return "never", time.Time{}
	case last.Hash == j.Version.Hash, !last.At.Before(j.Version.FirstRead):
		return "current", last.At
	}
	return "old", last.At
}
