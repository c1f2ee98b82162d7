package guard

import (
	"net/http"
	"net/url"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// isRedirect reports whether an answer sends a crawler elsewhere for the file.
func isRedirect(status int) bool {
	return status >= 300 && status < 400 && status != http.StatusNotModified
}

// placeOf returns where an answer for the robots.txt of a site redirects to, as
// [policy.Answer] has it, "" for nowhere.
func placeOf(a robotsAnswer, own policy.Key) string {
	if !isRedirect(a.status) || a.location == "" {
		return ""
	}
	base := url.URL{Scheme: request.SchemeOf(own.Secure), Host: own.Host, Path: "/robots.txt"}
	to, err := base.Parse(a.location)
	if err != nil {
		return ""
	}
	to.Fragment, to.RawFragment, to.User = "", "", nil
	if to.Path == "" {
		to.Path = "/" // as it is asked for
	}
	if to.Scheme == base.Scheme && request.NormalHost(to.Host, own.Secure) == own.Host {
		return to.RequestURI()
	}
	return to.String()
}

// rememberRedirect remembers that a crawler was redirected for the file: nobody knows what
// it has read then, whatever it had read before. Where nothing is known of the site the guard
// reads the file as well, lest it refuse the next steps to it.
func (g *Guard) rememberRedirect(r *http.Request, a asking, entry *policy.Entry, answer robotsAnswer, now time.Time) {
	for _, reader := range a.readers {
		g.shared.readers.Read(reader, ledger.Reading{At: now, Status: answer.status})
	}
	if g.SourceKey == "" && a.exact && entry == nil {
		entry = g.meet(g.sitesOf(r).Server, a.site)
		g.state(r, entry, a.site, false, now, 0)
	}
	if g.SourceKey == "" && a.asksForFile {
		g.shared.served.Led(*a.site.Own(), addr.Network(a.from), answer.location, now)
		g.shared.served.LedAbroad(addr.Network(a.from), placeAbroad(answer.location), now)
	}
}

// followsRedirect reports whether a client may be on the way to a robots.txt, of this site or
// of another one, that redirects to what it asks for. A false name gains nothing by that.
func (g *Guard) followsRedirect(r *http.Request, j *Judgement, entry *policy.Entry, now time.Time) bool {
	return j.Identity != verify.Spoofed && (g.wasLed(r, j, entry.State(), now) || g.leadsHere(r, j, now))
}

// wasLed reports whether a client asks for what it was just redirected to for the file,
// which could not be read here since then: it may be slow, or fail. That is said a few
// times an hour only.
func (g *Guard) wasLed(r *http.Request, j *Judgement, state *policy.State, now time.Time) bool {
	if g.SourceKey != "" || !g.shared.served.Leads(now) {
		return false
	}
	var since time.Time // never, where it is judged by what its neighbours have
	if state != nil && state.Good != nil {
		since = state.Good.LastRead
	}
	known, network := g.shared.served.Site(*j.Site.Own()), addr.Network(request.ClientAddr(r))
	return known.WasLed(network, j.Target, since, now) && known.MayPass(network, now)
}
