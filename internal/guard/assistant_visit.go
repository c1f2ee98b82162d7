package guard

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// passBrowserRequest passes a browser's request on. If a person followed a link in an AI assistant to this
// page, passBrowserRequest counts the visit by site and assistant. It stores nothing else.
func (g *Guard) passBrowserRequest(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	referer := r.Header["Referer"]
	if len(referer) != 1 {
		return next.ServeHTTP(w, r)
	}
	from, ok := responseaudit.FindAssistant(referer[0])
	if !ok || !isPageNavigation(r) {
		return next.ServeHTTP(w, r)
	}
	site := g.siteForRequest(r).Label // Later handlers may change the request.
	recorder := newResponseRecorder(w, r.Method)
	err := next.ServeHTTP(&recorder, r)
	if code := responseStatus(r, recorder.status, err, true); code >= 200 && code < 300 || code == http.StatusNotModified {
		g.state.Metrics.CountAssistantVisit(from)
		g.state.Ledger.RecordAssistantVisit(site, from, time.Now())
	}
	return err
}

// isPageNavigation reports whether a browser's request opens a page. Requests for images, scripts
// and other parts of a page, and prefetches, do not.
func isPageNavigation(r *http.Request) bool {
	if r.Method != http.MethodGet || r.Header.Get("User-Agent") == "" ||
		strings.HasPrefix(r.Header.Get("Sec-Purpose"), "prefetch") || r.Header.Get("Purpose") == "prefetch" {
		return false
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" {
		return dest == "document"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}
