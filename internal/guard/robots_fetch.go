package guard

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// robotsFetch is a client's request for robots.txt, before later handlers change it.
type robotsFetch struct {
	r    *http.Request
	j    *Judgement // nil for a client without a judgement
	site *site.Site
	of   copies.RequestHost
	// exact means that the Host field is the authority of the site's key, so the guard would get
	// the same response.
	exact bool
	// plain means no query, no Range, no preconditions and no escapes in the path. anonymous means
	// no credentials and no cookie. With both, the client did not influence the content of the
	// response. Some servers answer /%72obots.txt with another page, and no crawler requests this
	// path.
	plain, anonymous bool
}

// passRobots passes a request for /robots.txt on and records the response.
func (g *Guard) passRobots(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	site, original := g.siteForRequest(r), site.OriginalRequest(r).URL
	f := &robotsFetch{
		r: r.Clone(r.Context()), j: j, site: site, of: g.copiesOf(r, site), exact: r.Host == site.Own().Host,
		plain:     original.RawQuery == "" && original.RawPath == "" && r.Header.Get("Range")+r.Header.Get("If-Match")+r.Header.Get("If-Unmodified-Since") == "",
		anonymous: r.Header.Get("Cookie") == "" && r.Header.Get("Authorization") == "",
	}
	if j != nil {
		r = readable(r)
	}
	recorder := recordRobots(w, r.Method)
	defer func() {
		if reason := recover(); reason != nil { // for example abort, which closes the connection
			if j != nil && recorder.status == 0 {
				g.noteRobotsResponse(f, robotsResponse{}, recorder.isPage)
			}
			panic(reason)
		}
	}()
	err := next.ServeHTTP(recorder, r)
	response := recorder.response(err)
	code := statusCode(r, recorder.status, err, true)
	if j != nil && code != 0 {
		g.countResponse(j, responseaudit.KindRobotsTxt, code, recorder.bytes())
	}
	if j != nil && code != 0 && !response.byError { // the client got this response, not the response of an error route
		g.noteRobotsResponse(f, response, recorder.isPage)
	}
	g.noteResponse(f, response)
	return err
}

// noteResponse evaluates a response for /robots.txt. It records the served file for the crawler's
// product token. If the rules differ from our copy, the copy becomes due.
func (g *Guard) noteResponse(f *robotsFetch, response robotsResponse) {
	now := time.Now()
	entry := g.shared.Cache.Get(f.site.Key)
	reads := f.r.Method == http.MethodGet || f.r.Method == http.MethodHead
	if g.SourceKey == "" && entry != nil && f.exact && f.plain && f.anonymous && reads && response.differs(entry.State(), f.site.Own()) {
		entry.MarkPossiblyChanged(now)
	}
	if place := redirectTargetOf(response.location, f.site.Own()); place != "" && f.exact && f.plain {
		g.recordRedirectTargets(f.site, []string{place})
	}
	if f.j == nil {
		return
	}
	counts := g.SourceKey == "" && f.r.Method == http.MethodGet && f.plain && f.j.Verification != verify.Spoofed
	if counts && !isRedirect(response.status) { // redirects are recorded below, with the guard's own result
		g.noteServed(f, entry, response, now)
	}
	if entry == nil && f.exact {
		entry = g.getOrCreateEntry(f.site)
	}
	if entry != nil && (entry.State() == nil || entry.PossiblyChanged()) { // grace starts when the guard learns of a change
		var until time.Time
		if isRedirect(response.status) { // the guard should know all redirects before the client follows them
			until = now.Add(g.FetchWait)
		}
		g.fetchAndWait(f.r, entry, f.site, until)
	}
	if entry != nil && isRedirect(response.status) {
		if state := entry.State(); state != nil {
			g.recordRedirectTargets(f.site, state.RedirectTargets) // the state may come from the storage
		}
		if counts {
			g.noteRedirected(f, entry.State(), response, now)
		}
	}
	if response.deliversRules(f.r.Method) && !site.IsEarly(f.r) { // early data does not prove the address
		read := ledger.RobotsFetch{At: now.UnixMilli(), Status: response.status, Version: response.hash}
		g.recordRobotsFetch(f.r, f.j, read)
	}
}

// isRedirect reports whether a status redirects.
func isRedirect(status int) bool {
	return status >= 300 && status < 400 && status != http.StatusNotModified
}

// readable returns a request whose response the guard can read and compare: complete and without a
// content coding.
func readable(r *http.Request) *http.Request {
	plain := r.WithContext(r.Context())
	plain.Header = r.Header.Clone()
	for _, name := range []string{"Accept-Encoding", "If-None-Match", "If-Modified-Since"} {
		plain.Header.Del(name)
	}
	return plain
}

// noteServed records the file served to a crawler. A response for a missing file equals a file
// without rules.
func (g *Guard) noteServed(f *robotsFetch, entry *policy.Entry, response robotsResponse, now time.Time) {
	text := response.text
	switch (policy.FetchResult{Status: response.status}).AccessResult() {
	case policy.Successful:
	case policy.Unavailable:
		if response.byError && hasErrorRoutes(f.r) && !g.isWithoutRules(f, entry, now) {
			return
		}
		text = nil
		response.hash = sha256.Sum256(nil)
	default:
		return
	}
	if response.hash == [sha256.Size]byte{} {
		g.shared.Copies.RecordServedUnknown(f.of, tokenOf(f.j), now)
		return
	}
	version := &policy.Version{Hash: response.hash, Lifetime: response.lifetime}
	if good := entry.Current(); good != nil && good.Hash == response.hash {
		version.Robots, version.Derived = good.Robots, good.Derived
	} else {
		version.Robots = policy.Parse(text)
		version.Derived = deriveNames(version.Robots)
	}
	g.shared.Copies.RecordServed(f.of, tokenOf(f.j), version, now)
	if good := entry.Current(); good != nil && version.Robots.HasGroups() && refusesUs(good.Status) && f.exact && f.anonymous {
		g.logRefused(f.site, good.Status)
	}
}

// noteRedirected records the file behind a redirect: the guard's result for the same redirect, or
// an unknown file.
func (g *Guard) noteRedirected(f *robotsFetch, state *policy.State, response robotsResponse, now time.Time) {
	if state == nil || state.Current == nil || state.Failures > 0 || len(state.RedirectTargets) == 0 || state.RedirectTargets[0] != redirectTargetOf(response.location, f.site.Own()) {
		g.shared.Copies.RecordServedUnknown(f.of, tokenOf(f.j), now)
		return
	}
	g.shared.Copies.RecordServed(f.of, tokenOf(f.j), state.Current, now)
}

// hasErrorRoutes reports whether the server has handle_errors, which may serve a robots.txt.
func hasErrorRoutes(r *http.Request) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return ok && server.Errors != nil && len(server.Errors.Routes) > 0
}

// isWithoutRules reports whether the site serves a file without rules to the guard, too. If the
// guard's copy has rules, isWithoutRules fetches the file again.
func (g *Guard) isWithoutRules(f *robotsFetch, entry *policy.Entry, now time.Time) bool {
	if entry.Current() == nil {
		return false
	}
	if entry.Current().Robots.HasGroups() {
		entry.MarkPossiblyChanged(now)
		g.fetchAndWait(f.r, entry, f.site, time.Now().Add(g.FetchWait))
	}
	return !entry.Current().Robots.HasGroups()
}

// refusesUs reports whether a status means a firewall or address list that refuses the guard, and
// not a missing file.
func refusesUs(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusNotFound && status != http.StatusGone
}

// tokenOf returns the product token of a judgement's client.
func tokenOf(j *Judgement) string {
	if crawler := j.Client.Crawler; crawler != nil {
		return crawler.Token
	}
	return j.Client.Name()
}

// copiesOf returns the key and settings of the stored files of a site.
func (g *Guard) copiesOf(r *http.Request, s *site.Site) copies.RequestHost {
	of := copies.RequestHost{Configured: s.Segment == policy.ConfiguredHosts, Grace: g.Grace}
	if s.Key.Source != "" {
		of.Host = copies.Host{Source: s.Key.Source, ForwardedHost: s.Key.ForwardedHost}
		return of
	}
	of.Proxied = site.IsTrustedProxy(r)
	name, port := addr.SplitPort(s.Key.Host)
	of.Host = copies.Host{Secure: s.Key.Secure, Name: name, ForwardedHost: s.Key.ForwardedHost}
	if of.Port = site.PortOf(port); of.Port == 0 {
		of.Port = site.ListenerPort(r, s.Key.Secure, of.Proxied)
	}
	return of
}

// getOrCreateEntry returns the cache entry of a site, and creates the entry if needed.
func (g *Guard) getOrCreateEntry(s *site.Site) *policy.Entry {
	return g.shared.Cache.GetOrCreate(s.Key, s.Segment)
}

// hasRead returns whether the crawler has fetched the robots.txt, as far as the ledgers of all
// instances contain the fetch: "never", the "current" version or an "old" version, and when. The
// first result is "" if no ledger has a row for this crawler alone. No verdict depends on it.
func (g *Guard) hasRead(r *http.Request, j *Judgement) (what string, at time.Time) {
	q := g.ledgerRequest(r, j, time.Now())
	var last ledger.RobotsFetch
	hasRow := false
	for _, l := range []*ledger.Ledger{g.shared.Ledger, g.shared.Memory.PeerLedger()} {
		if l == nil {
			continue
		}
		fetch, ok := l.LastRobotsFetch(&q)
		hasRow = hasRow || ok
		if fetch.At > last.At {
			last = fetch
		}
	}
	switch {
	case !hasRow:
		return "", time.Time{}
	case last.At == 0 || j.Version == nil:
		return "never", time.Time{}
	case last.Version == j.Version.Hash, last.At > j.Version.FirstFetched.UnixMilli():
		return "current", ledger.Time(last.At)
	}
	return "old", ledger.Time(last.At)
}

// mayUseOther reports whether a crawler may be using a file that allows a request disallowed by our
// copy.
func (g *Guard) mayUseOther(r *http.Request, j *Judgement, state *policy.State, now time.Time) bool {
	others, lost := g.recordCopyAndFindOthers(r, j, state, now)
	return lost || slices.ContainsFunc(others, func(v *policy.Version) bool { return g.allows(r, j, v) })
}

// recordCopyAndFindOthers records our copy, and returns the other files that a crawler may be using.
// lost means that a further file may exist but is no longer stored.
func (g *Guard) recordCopyAndFindOthers(r *http.Request, j *Judgement, state *policy.State, now time.Time) (others []*policy.Version, lost bool) {
	of, token := g.copiesOf(r, j.Site), tokenOf(j)
	if j.Verification == verify.Spoofed {
		token = "" // a spoofed name gains nothing from files served to it
	}
	if state.Failures > 0 && state.FailingSince.Before(now) {
		now = state.FailingSince // the time of failing fetches does not count
	}
	g.shared.Copies.RecordCurrent(of, state, now)
	return g.shared.Copies.PossiblyUsed(of.Host, token, state.Current, now, g.graceOf(j))
}
