package simulate

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// page returns the response of an instance to a request for the robots.txt of a host,
// with the owner's rules.
func (i *instance) page(host string) *httptest.ResponseRecorder {
	rw := httptest.NewRecorder()
	r := i.request(rw, host, "/robots.txt")
	i.servePage(rw, r)
	return rw
}

// text returns the body of page. It is cached as long as the page is the same.
func (i *instance) text(host string) string {
	known := i.published.texts[host]
	if known.request == nil {
		known.request = i.request(httptest.NewRecorder(), host, "/robots.txt")
	}
	if page, _ := i.published.Page(known.request); page != known.page || page == nil {
		known.page, known.text = page, i.page(host).Body.String()
	}
	i.published.texts[host] = known
	return known.text
}

// knownPage is a page with its body.
type knownPage struct {
	request *http.Request
	page    *publish.Page
	text    string
}

func (i *instance) servePage(rw http.ResponseWriter, r *http.Request) {
	page, until := i.published.Page(r)
	if page == nil {
		i.world.servesByItself(rw, r.Host)
		return
	}
	page.Serve(rw, r, managed.CacheLifetime(i.world.owner.maxAge, time.Now(), until))
}

// shows returns the robots.txt of a site at an instance.
func (i *instance) shows(s *site) string {
	if i.world.owner == nil {
		return s.shown()
	}
	return i.text(s.host)
}

// fetchPage returns the guard's fetch of the published robots.txt.
func (i *instance) fetchPage(s *site) policy.FetchResult {
	w := i.page(s.host)
	i.world.mu.Lock()
	defer i.world.mu.Unlock()
	i.sawText(s, w.Body.String())
	i.gets(s, w.Body.String())
	return policy.FetchResult{Status: w.Code, Body: w.Body.Bytes(), Header: w.Header()}
}

// servesByItself writes the site's own response for robots.txt, without the owner's
// rules.
func (w *world) servesByItself(rw http.ResponseWriter, host string) {
	b := w.owner.bases[w.site(host)]
	if b == nil {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	w.mu.Lock()
	a := b.answer()
	w.mu.Unlock()
	maps.Copy(rw.Header(), a.Header)
	rw.WriteHeader(a.Status)
	_, _ = rw.Write(a.Body) // a recorder never fails
}
