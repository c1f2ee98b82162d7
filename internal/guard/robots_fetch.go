package guard

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// robotsFetch is a request for a robots.txt as it came. Handlers behind the guard may change
// the request.
type robotsFetch struct {
	r    *http.Request
	j    *Judgement // nil if the client is not judged
	site *request.Site
	of   copies.Of
	// exact says that the request names the site by the authority that the guard uses, so the
	// response shows what the guard would get.
	exact bool
	// plain says that the client has no part in the content of the response: it sent no query
	// and no Range. With credentials or a cookie it may get a file of its own.
	plain, anonymous bool
}

// passRobots passes a request for /robots.txt on and notes the response.
func (g *Guard) passRobots(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	site := g.siteOf(r)
	f := &robotsFetch{
		r: r.Clone(r.Context()), j: j, site: site, of: g.copiesOf(r, site), exact: r.Host == site.Own().Host,
		plain:     request.OriginalRequest(r).URL.RawQuery == "" && r.Header.Get("Range") == "",
		anonymous: r.Header.Get("Cookie") == "" && r.Header.Get("Authorization") == "",
	}
	if j != nil {
		r = readable(r)
	}
	recorder := recordRobots(w, r.Method)
	err := next.ServeHTTP(recorder, r)
	response := recorder.response(err)
	code := statusCode(r, recorder.status, err, true)
	if j != nil && code != 0 {
		g.countResponse(j, parity.RobotsTxt, code, recorder.bytes())
	}
	if j != nil && code != 0 && !response.byError { // the client got this response, and not that of an error route
		g.noteDelivery(f, response, recorder.isPage)
	}
	g.noteResponse(f, response)
	return err
}

// noteResponse notes what a response for /robots.txt shows. The file that a crawler was served
// counts for its product token. A response with other rules than our copy makes the copy due.
func (g *Guard) noteResponse(f *robotsFetch, response robotsResponse) {
	now := time.Now()
	entry := g.shared.Cache.Get(f.site.Key)
	reads := f.r.Method == http.MethodGet || f.r.Method == http.MethodHead
	if g.SourceKey == "" && entry != nil && f.exact && f.plain && f.anonymous && reads && response.differs(entry.State(), f.site.Own()) {
		entry.MarkSuspect(now)
	}
	if place := placeOf(response.location, f.site.Own()); place != "" && f.exact && f.plain {
		g.noteElsewhere(f.site, []string{place})
	}
	if f.j == nil {
		return
	}
	counts := g.SourceKey == "" && f.r.Method == http.MethodGet && f.plain && f.j.Identity != verify.Spoofed
	if counts {
		g.noteServed(f, entry, response, now)
	}
	if entry == nil && f.exact {
		entry = g.entryFor(f.site)
	}
	if entry != nil && (entry.State() == nil || entry.Suspect()) { // the grace counts from when the guard knows of a change
		var until time.Time
		if isRedirect(response.status) { // the client gets it once the guard knows all its steps, and is not blocked at one
			until = now.Add(g.FetchWait)
		}
		g.fetchAndWait(f.r, entry, f.site, until)
	}
	if entry != nil && isRedirect(response.status) {
		if state := entry.State(); state != nil {
			g.noteElsewhere(f.site, state.Via) // which may come from the storage
		}
		if counts {
			g.noteRedirected(f, entry.State(), response, now)
		}
	}
	if response.isReading(f.r.Method) && !request.IsEarly(f.r) { // anybody can send early data from another's address
		read := ledger.Reading{At: now, Status: response.status, Hash: response.hash}
		g.shared.readers.Read(g.reader(f.r, f.j), read)
		g.recordReading(f.r, f.j, read)
	}
}

// isRedirect reports whether a status redirects.
func isRedirect(status int) bool {
	return status >= 300 && status < 400 && status != http.StatusNotModified
}

// readable returns a request for a robots.txt whose response the guard can read and compare:
// without a coding, and whole.
func readable(r *http.Request) *http.Request {
	plain := r.WithContext(r.Context())
	plain.Header = r.Header.Clone()
	for _, name := range []string{"Accept-Encoding", "If-None-Match", "If-Modified-Since"} {
		plain.Header.Del(name)
	}
	return plain
}

// noteServed notes which file a crawler was served. A response that says that there is no file
// is a file without rules.
func (g *Guard) noteServed(f *robotsFetch, entry *policy.Entry, response robotsResponse, now time.Time) {
	text := response.text
	switch response.status {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden:
		if response.byError && hasErrorRoutes(f.r) && !g.isWithoutRules(f, entry, now) {
			return
		}
		text = nil
		response.hash = sha256.Sum256(nil)
	default:
		return
	}
	if response.hash == [sha256.Size]byte{} {
		g.shared.Copies.ServeUnknown(f.of, tokenOf(f.j), now)
		return
	}
	version := &policy.Version{Hash: response.hash, Lifetime: response.lifetime}
	if good := entry.Good(); good != nil && good.Hash == response.hash {
		version.Robots, version.Derived = good.Robots, good.Derived
	} else {
		version.Robots = policy.Parse(text)
		version.Derived = deriveNames(version.Robots)
	}
	g.shared.Copies.Serve(f.of, tokenOf(f.j), version, now)
	if good := entry.Good(); good != nil && response.status == http.StatusOK && version.Robots.HasGroups() && refusesUs(good.Status) && f.exact && f.anonymous {
		g.logRefused(f.site, good.Status)
	}
}

// noteRedirected notes which file a crawler gets by a redirect: what the guard found there, or
// one that is not known.
func (g *Guard) noteRedirected(f *robotsFetch, state *policy.State, response robotsResponse, now time.Time) {
	if state == nil || state.Good == nil || state.Failures > 0 || len(state.Via) == 0 || state.Via[0] != placeOf(response.location, f.site.Own()) {
		g.shared.Copies.ServeUnknown(f.of, tokenOf(f.j), now)
		return
	}
	g.shared.Copies.Serve(f.of, tokenOf(f.j), state.Good, now)
}

// hasErrorRoutes reports whether the server has handle_errors, which may serve a robots.txt.
func hasErrorRoutes(r *http.Request) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return ok && server.Errors != nil && len(server.Errors.Routes) > 0
}

// isWithoutRules reports whether the site serves no rules to the guard, either, which it asks
// if its copy has some.
func (g *Guard) isWithoutRules(f *robotsFetch, entry *policy.Entry, now time.Time) bool {
	if entry.Good() == nil {
		return false
	}
	if entry.Good().Robots.HasGroups() {
		entry.MarkSuspect(now)
		g.fetchAndWait(f.r, entry, f.site, time.Now().Add(g.FetchWait))
	}
	return !entry.Good().Robots.HasGroups()
}

// refusesUs reports whether a status refuses the guard the robots.txt, as a firewall or a list
// of addresses does, and does not say that there is none.
func refusesUs(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusNotFound && status != http.StatusGone
}

// tokenOf returns the product token of the client of a judgement.
func tokenOf(j *Judgement) string {
	if crawler := j.Client.Crawler; crawler != nil {
		return crawler.Token
	}
	return j.Client.Name()
}

// copiesOf returns by what the files of a site are kept.
func (g *Guard) copiesOf(r *http.Request, s *request.Site) copies.Of {
	of := copies.Of{Named: s.Segment == policy.Named, Grace: g.Grace}
	if s.Key.Source != "" {
		of.Host = copies.Host{Source: s.Key.Source, ForwardedHost: s.Key.ForwardedHost}
		return of
	}
	of.Proxied = request.IsTrustedProxy(r)
	name, port := addr.CutPort(s.Key.Host)
	of.Host = copies.Host{Secure: s.Key.Secure, Name: name, ForwardedHost: s.Key.ForwardedHost}
	if of.Port = request.PortOf(port); of.Port == 0 {
		of.Port = request.ListenerPort(r, s.Key.Secure, of.Proxied)
	}
	return of
}

// entryFor returns the cache entry of a site.
func (g *Guard) entryFor(s *request.Site) *policy.Entry { return g.shared.Cache.Add(s.Key, s.Segment) }

// reader returns by what the robots fetches of a crawler are kept for reports: one whose
// identity is not verified is told from others by the network of its address.
func (g *Guard) reader(r *http.Request, j *Judgement) ledger.Reader {
	reader := ledger.Reader{Site: *j.Site.Own(), Crawler: judge.FoldName(cmp.Or(j.KnownName(), judge.OtherName)), Invented: !j.Site.Named}
	if j.Identity != verify.Verified {
		reader.Network = addr.Network(request.ClientAddr(r))
	}
	return reader
}

// lastReading returns what a crawler has read last. No verdict depends on it.
func (g *Guard) lastReading(r *http.Request, j *Judgement) (ledger.Reading, bool) {
	return g.shared.readers.Last(g.reader(r, j))
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

// mayUseOther reports whether a crawler may be using a file that allows a request which our
// copy disallows. state is what is known of the site.
func (g *Guard) mayUseOther(r *http.Request, j *Judgement, state *policy.State, now time.Time) bool {
	others, lost := g.others(r, j, state, now)
	return lost || slices.ContainsFunc(others, func(v *policy.Version) bool { return g.allows(r, j, v) })
}

// others returns the files other than our copy that a crawler may be using. lost says that
// there may be one that is not known any more.
func (g *Guard) others(r *http.Request, j *Judgement, state *policy.State, now time.Time) (others []*policy.Version, lost bool) {
	of, token := g.copiesOf(r, j.Site), tokenOf(j)
	if j.Identity == verify.Spoofed {
		token = "" // a false name gains nothing by what it was served
	}
	if state.Failures > 0 && state.FailingSince.Before(now) {
		now = state.FailingSince // the time in which our fetches fail does not count
	}
	g.shared.Copies.Note(of, state, now)
	return g.shared.Copies.Others(of.Host, token, state.Good, now, g.graceOf(j))
}
