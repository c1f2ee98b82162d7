package admin

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// serveExplain responds with the verdict of the running server on a request. It uses the current
// robots.txt and the settings of the site:
//
//	POST /robots_guard/explain  {"user_agent": "...", "url": "https://example.com/x"}
//
// The optional "identity" is the assumed identity of the client: verified, claimed, unknown or
// spoofed. The default is claimed. The default of "method" is GET. The response is an
// [explain.Explanation] as JSON.
func (a *API) serveExplain(w http.ResponseWriter, r *http.Request) (any, error) {
	var asked struct {
		UserAgent string `json:"user_agent"`
		URL       string `json:"url"`
		Identity  string `json:"identity"`
		Method    string `json:"method"`
	}
	if err := readBody(w, r, &asked); err != nil {
		return nil, err
	}
	running := a.findRunning()
	host, guard := running.Guard(asked.URL)
	if host == "" {
		return nil, httpError(http.StatusBadRequest, "url %q has no host; write the full URL, such as https://example.com/path", asked.URL)
	}
	who, err := explain.ParseIdentity(asked.Identity)
	if err != nil {
		return nil, httpError(http.StatusBadRequest, "%v", err)
	}
	if guard == nil {
		return nil, httpError(http.StatusNotFound, "no robots_guard is configured for %q", host)
	}
	site := explain.Site{Registry: guard.Registry, Settings: guard.Settings, Rate: guard.Rate, HasGuard: true}
	e := site.Explain(cachedRules(running.Policies(), guard), explain.Request{UserAgent: asked.UserAgent, URL: asked.URL, Method: asked.Method, Identity: who})
	e.Handler.Site = guard.Site
	var notes []string
	if guard.HTTPSTarget != "" {
		notes = append(notes, "a request by http gets a redirect to https://"+guard.HTTPSTarget+", which is not judged; this is the result for the redirected request")
	}
	if guard.Ambiguous {
		notes = append(notes, explain.NoteSeveralGuards)
	}
	e.Handler.Note = strings.Join(notes, "; ")
	return e, nil
}

// cachedRules returns the cached robots.txt of a guard. It does not fetch a missing file.
func cachedRules(entries []*policy.Entry, guard *Guard) explain.RobotsFile {
	from := explain.RobotsFile{Name: guard.Key.String()}
	entry := entryForKey(entries, guard.Key)
	if entry == nil || entry.State() == nil {
		from.Note = "robots.txt was not fetched yet; the first request of a crawler starts a fetch"
		return from
	}
	state := entry.State()
	from.Robots, from.DisallowAll = state.EffectiveRules(time.Now(), guard.Fallback)
	from.Version, from.RedirectTargets = state.Current, state.RedirectTargets
	if state.FailureCount > 0 {
		from.Note = "the last fetches of robots.txt failed"
	}
	if len(state.Previous) > 0 {
		from.Note = "robots.txt changed recently; a crawler may still follow the previous version, which this result ignores"
	}
	return from
}

// entryForKey returns the cached robots.txt with a key, or nil. If the file comes from the site
// itself, entryForKey ignores the key's Site and ForwardedHost.
func entryForKey(entries []*policy.Entry, key policy.Key) *policy.Entry {
	if key.Source == "" {
		return findEntry(entries, key.String(), key.Server)
	}
	if i := slices.IndexFunc(entries, func(e *policy.Entry) bool { return e.Key() == key }); i >= 0 {
		return entries[i]
	}
	return nil
}
