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

// robotsRequest is a client's request for robots.txt, before later handlers change it.
type robotsRequest struct {
	r           *http.Request
	j           *Judgement // j is nil for a client without a judgement.
	site        *site.Site
	requestHost copies.RequestHost
	// hasExactHost is true if the Host field is the authority of the site's key, so that the
	// guard's own fetch would get the same response.
	hasExactHost bool
	// isPlain means no query, no Range, no If-Match, no If-Unmodified-Since and no escapes in the
	// path: the guard has removed the other preconditions. isAnonymous means no credentials and no
	// cookie. With both, the response is probably the same for all clients. Some servers answer
	// /%72obots.txt with another page, and no crawler requests this path.
	isPlain, isAnonymous bool
}

// passRobotsRequest passes a request for /robots.txt on and records the response.
func (g *Guard) passRobotsRequest(w http.ResponseWriter, r *http.Request, j *Judgement, next caddyhttp.Handler) error {
	s, original := g.siteForRequest(r), site.OriginalRequest(r).URL
	f := &robotsRequest{
		r: r.Clone(r.Context()), j: j, site: s, requestHost: g.newRequestHost(r, s), hasExactHost: r.Host == s.OwnKey().Host,
		isPlain:     original.RawQuery == "" && original.RawPath == "" && r.Header.Get("Range")+r.Header.Get("If-Match")+r.Header.Get("If-Unmodified-Since") == "",
		isAnonymous: r.Header.Get("Cookie") == "" && r.Header.Get("Authorization") == "",
	}
	if j != nil {
		r = requestPlainResponse(r)
	}
	recorder := newRobotsRecorder(w, r.Method)
	defer func() {
		if reason := recover(); reason != nil { // For example, the handler abort panics to close the connection.
			if j != nil && recorder.status == 0 {
				g.recordForAudit(f, robotsResponse{}, recorder.isPage)
			}
			panic(reason)
		}
	}()
	err := next.ServeHTTP(recorder, r)
	response := recorder.buildResponse(err)
	code := responseStatus(r, recorder.status, err, true)
	if j != nil && code != 0 {
		g.countResponse(j, responseaudit.KindRobotsTxt, code, recorder.sentBytes())
	}
	// The client got this response, not the response of an error route.
	if j != nil && code != 0 && !response.isErrorStatus {
		g.recordForAudit(f, response, recorder.isPage)
	}
	g.recordRobotsResponse(f, response)
	return err
}

// recordRobotsResponse evaluates the response to a client's request for /robots.txt. It records the
// served file for the crawler's product token. If the served rules differ from the guard's copy,
// the guard's copy becomes due.
func (g *Guard) recordRobotsResponse(f *robotsRequest, response robotsResponse) {
	now := time.Now()
	entry := g.state.Cache.Get(f.site.Key)
	reads := f.r.Method == http.MethodGet || f.r.Method == http.MethodHead
	if g.SourceKey == "" && entry != nil && f.hasExactHost && f.isPlain && f.isAnonymous && reads && response.differsFromCopy(entry.State(), f.site.OwnKey()) {
		entry.MarkPossiblyChanged(now)
	}
	if place := resolveRedirectTarget(response.location, f.site.OwnKey()); place != "" && f.hasExactHost && f.isPlain {
		g.recordRedirectTargets(f.site, []string{place})
	}
	if f.j == nil {
		return
	}
	counts := g.SourceKey == "" && f.r.Method == http.MethodGet && f.isPlain && f.j.Verification != verify.Spoofed
	if counts && !isRedirect(response.status) { // Redirects are recorded below, with the guard's own result.
		g.recordServedRobots(f, entry, response, now)
	}
	if entry == nil && f.hasExactHost {
		entry = g.getOrCreateEntry(f.site)
	}
	// The fetch is now, because the grace of the old file starts when the guard has fetched the
	// change.
	if entry != nil && (entry.State() == nil || entry.IsPossiblyChanged()) {
		var until time.Time
		if isRedirect(response.status) { // The guard should know all redirects before the client follows them.
			until = now.Add(g.FetchWait)
		}
		g.fetchAndWait(f.r, entry, f.site, until)
	}
	if entry != nil && isRedirect(response.status) {
		if state := entry.State(); state != nil {
			g.recordRedirectTargets(f.site, state.RedirectTargets) // The state may come from the storage.
		}
		if counts {
			g.recordRedirectedRobots(f, entry.State(), response, now)
		}
	}
	if response.deliversRules(f.r.Method) && !site.IsEarlyData(f.r) { // Early data does not prove the address.
		read := ledger.RobotsFetch{At: now.UnixMilli(), Status: response.status, Version: response.hash}
		g.recordRobotsFetch(f.r, f.j, read)
	}
}

// isRedirect reports whether a status redirects.
func isRedirect(status int) bool {
	return status >= 300 && status < 400 && status != http.StatusNotModified
}

// requestPlainResponse returns a copy of a request without the fields that make a response
// compressed or 304, so that the guard can read and compare the response.
func requestPlainResponse(r *http.Request) *http.Request {
	plain := r.WithContext(r.Context())
	plain.Header = r.Header.Clone()
	for _, name := range []string{"Accept-Encoding", "If-None-Match", "If-Modified-Since"} {
		plain.Header.Del(name)
	}
	return plain
}

// recordServedRobots records the robots.txt that a crawler got, as a file that the crawler may be
// using. A response for a missing file counts as a file without rules.
func (g *Guard) recordServedRobots(f *robotsRequest, entry *policy.Entry, response robotsResponse, now time.Time) {
	text := response.text
	switch (policy.FetchResult{Status: response.status}).AccessResult() {
	case policy.Successful:
	case policy.Unavailable:
		if response.isAborted {
			return // The client does not know this status.
		}
		if response.isErrorStatus && hasErrorRoutes(f.r) && !g.siteServesNoRules(f, entry, now) {
			return
		}
		text = nil
		response.hash = sha256.Sum256(nil)
	default:
		return
	}
	if response.hash == [sha256.Size]byte{} && response.isAborted {
		return // Otherwise, a client that aborts its request could make all requests under its name stale.
	}
	if response.hash == [sha256.Size]byte{} {
		g.state.Copies.RecordServedUnreadable(f.requestHost, productToken(f.j), now)
		return
	}
	version := &policy.Version{Hash: response.hash, Lifetime: response.lifetime}
	if good := entry.Current(); good != nil && good.Hash == response.hash {
		version.Robots, version.Derived = good.Robots, good.Derived
	} else {
		version.Robots = policy.Parse(text)
		version.Derived = newOverlayCache(version.Robots)
	}
	g.state.Copies.RecordServedFile(f.requestHost, productToken(f.j), version, now)
	if good := entry.Current(); good != nil && version.Robots.HasGroups() && isRefusal(good.Status) && f.hasExactHost && f.isAnonymous {
		g.logRefused(f.site, good.Status)
	}
}

// recordRedirectedRobots records the robots.txt that a crawler gets by following a redirect. If the
// guard's own fetch followed the same redirect, this is the guard's copy, else an unknown file.
func (g *Guard) recordRedirectedRobots(f *robotsRequest, state *policy.State, response robotsResponse, now time.Time) {
	if state == nil || state.Current == nil || state.FailureCount > 0 || len(state.RedirectTargets) == 0 || state.RedirectTargets[0] != resolveRedirectTarget(response.location, f.site.OwnKey()) {
		g.state.Copies.RecordServedUnreadable(f.requestHost, productToken(f.j), now)
		return
	}
	g.state.Copies.RecordServedFile(f.requestHost, productToken(f.j), state.Current, now)
}

// hasErrorRoutes reports whether the server has handle_errors, which may serve a robots.txt.
func hasErrorRoutes(r *http.Request) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return ok && server.Errors != nil && len(server.Errors.Routes) > 0
}

// siteServesNoRules reports whether the site also serves the guard a file without rules, and not
// only this client. If the guard's copy has rules, it fetches the file again first.
func (g *Guard) siteServesNoRules(f *robotsRequest, entry *policy.Entry, now time.Time) bool {
	if entry.Current() == nil {
		return false
	}
	if entry.Current().Robots.HasGroups() {
		entry.MarkPossiblyChanged(now)
		g.fetchAndWait(f.r, entry, f.site, time.Now().Add(g.FetchWait))
	}
	return !entry.Current().Robots.HasGroups()
}

// isRefusal reports whether a status means that the site refuses the guard, for example by a
// firewall, and not that the file is missing.
func isRefusal(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusNotFound && status != http.StatusGone
}

// productToken returns the product token of a judgement's client.
func productToken(j *Judgement) string {
	if crawler := j.Client.Crawler; crawler != nil {
		return crawler.Token
	}
	return j.Client.Name()
}

// newRequestHost returns the key under which package copies stores the files of a site, with the
// settings for it.
func (g *Guard) newRequestHost(r *http.Request, s *site.Site) copies.RequestHost {
	of := copies.RequestHost{Configured: s.CacheSegment == policy.ConfiguredHosts, Grace: g.Grace}
	if s.Key.Source != "" {
		of.Host = copies.Host{Source: s.Key.Source, ForwardedHost: s.Key.ForwardedHost}
		return of
	}
	of.BehindProxy = site.IsTrustedProxy(r)
	name, port := addr.SplitPort(s.Key.Host)
	of.Host = copies.Host{Secure: s.Key.IsHTTPS, Name: name, ForwardedHost: s.Key.ForwardedHost}
	if of.Port = site.ParsePort(port); of.Port == 0 {
		of.Port = site.ListenerPort(r, s.Key.IsHTTPS, of.BehindProxy)
	}
	return of
}

// getOrCreateEntry returns the cache entry of a site, and creates the entry if needed.
func (g *Guard) getOrCreateEntry(s *site.Site) *policy.Entry {
	return g.state.Cache.GetOrCreate(s.Key, s.CacheSegment)
}

// describeLastRobotsFetch describes for the log which robots.txt a crawler fetched last, as far as
// the ledgers of all instances know: "never" for none, the "current" version, or an "old" version,
// and when. describeLastRobotsFetch returns "" if no ledger has a row for this crawler alone. No
// verdict depends on it.
func (g *Guard) describeLastRobotsFetch(r *http.Request, j *Judgement) (what string, at time.Time) {
	q := g.ledgerRequest(r, j, time.Now())
	var last ledger.RobotsFetch
	hasRow := false
	for _, l := range []*ledger.Ledger{g.state.Ledger, g.state.Memory.PeerLedger()} {
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
		return "current", ledger.FromUnixMilli(last.At)
	}
	return "old", ledger.FromUnixMilli(last.At)
}

// mayUseAllowingVersion reports whether a crawler may be using another file than the guard's copy that
// allows a request. Then a request that the guard's copy disallows is stale.
func (g *Guard) mayUseAllowingVersion(r *http.Request, j *Judgement, state *policy.State, now time.Time) bool {
	others, lost := g.recordCopyAndFindOthers(r, j, state, now)
	return lost || slices.ContainsFunc(others, func(v *policy.Version) bool { return g.versionAllows(r, j, v) })
}

// recordCopyAndFindOthers records the current version as the guard's copy, and returns the other
// files that a crawler may be using. lost is true if it may also be using a file whose rules are
// unknown.
func (g *Guard) recordCopyAndFindOthers(r *http.Request, j *Judgement, state *policy.State, now time.Time) (others []*policy.Version, lost bool) {
	of, token := g.newRequestHost(r, j.Site), productToken(j)
	if j.Verification == verify.Spoofed {
		token = "" // A spoofed name gains nothing from files that were served to it.
	}
	if state.FailureCount > 0 && state.FailingSince.Before(now) {
		now = state.FailingSince // The time of failing fetches does not count.
	}
	g.state.Copies.RecordCurrentCopy(of, state, now)
	return g.state.Copies.PossiblyUsedVersions(of.Host, token, state.Current, now, g.gracePeriod(j))
}
