package guard

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// maxPageStart bounds the part of a response that is examined for HTML, in bytes.
const maxPageStart = 4096

// delivered records the start of a response to a request for robots.txt.
type delivered struct {
	answer
	start []byte
}

// Write implements [http.ResponseWriter].
func (d *delivered) Write(p []byte) (int, error) {
	if d.status == 0 {
		d.status = http.StatusOK
	}
	d.start = append(d.start, p[:min(len(p), maxPageStart-len(d.start))]...)
	return d.answer.Write(p)
}

// ReadFrom implements [io.ReaderFrom], so that Write sees all bytes.
func (d *delivered) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{d}, r)
}

// observeDelivery lets serve answer a request for robots.txt and notes whether a crawler gets
// something else instead of the file. It observes clients that the registry knows as crawlers
// and that are not spoofed, since a site may well refuse those.
func (g *Guard) observeDelivery(w http.ResponseWriter, r *http.Request, j *Judgement, serve func(http.ResponseWriter) error) (err error) {
	if j == nil || j.Identity == verify.Spoofed || !j.Client.Class.IsCrawler() || j.KnownName() == "" || !isPlainFetch(r) {
		return serve(w)
	}
	d, ended := &delivered{answer: answer{passing: passTo(w), method: r.Method}}, false
	network := addr.Network(request.ClientAddr(r)) // handlers behind may change the request
	defer func() {
		got := parity.RobotsResponse{Status: d.status, Location: d.Header().Get("Location"), HTML: isWebPage(d.status, d.Header(), d.start)}
		switch {
		case d.status == 0 && (err != nil || r.Context().Err() != nil):
			return // an error route answers, or the client left
		case d.status == 0 && ended:
			got.Status = http.StatusOK // no handler answered: Caddy sends an empty body
		}
		g.noteDelivery(j, parity.Fetcher{Network: network}, got)
	}()
	err = serve(d)
	ended = true
	return err
}

// isPlainFetch reports whether a request for robots.txt is one as crawlers send it, so that
// the response does not depend on what else the client sent.
func isPlainFetch(r *http.Request) bool {
	return r.Method == http.MethodGet && request.OriginalRequest(r).URL.RawQuery == "" &&
		r.Header.Get("Cookie") == "" && r.Header.Get("Authorization") == "" && r.Header.Get("Range") == ""
}

// noteDelivery notes what a crawler got, unless the guard's own fetch finds the file by the
// same redirect.
func (g *Guard) noteDelivery(j *Judgement, f parity.Fetcher, got parity.RobotsResponse) {
	if entry := g.shared.Cache.Get(j.Site.Key); entry != nil && got.Location != "" {
		if state := entry.State(); state != nil && len(state.Via) > 0 && state.Good != nil && state.Good.Robots.Restricts() {
			got.Location = "/robots.txt"
		}
	}
	f.Site, f.Token, f.Class = j.Site.Label, j.KnownName(), j.Client.Class.String()
	f.Search, f.Verified = judge.IsSearchEngine(j.Client.Class, j.Identity), j.Identity == verify.Verified
	g.shared.deliveries.Note(f, got, time.Now())
}

// noteOwnFetch returns fetch, which then notes what the guard itself gets at a site.
func (g *Guard) noteOwnFetch(site *request.Site, fetch func() policy.Answer) func() policy.Answer {
	if g.SourceKey != "" {
		return fetch
	}
	label := site.Label
	return func() policy.Answer {
		answer := fetch()
		if got, ok := responseOf(answer); ok {
			g.shared.deliveries.Fetched(label, got)
		}
		return answer
	}
}

// responseOf returns the first response of a fetch, which may have followed redirects to a
// page. ok is false if it is not known, as after a timeout.
func responseOf(a policy.Answer) (r parity.RobotsResponse, ok bool) {
	r = parity.RobotsResponse{Status: a.Status, HTML: isWebPage(a.Status, a.Header, a.Body)}
	switch isFile := a.Err == nil && a.Status == http.StatusOK && !r.HTML; {
	case errors.Is(a.Err, origin.ErrBrokeOff) && len(a.Via) == 0:
		return parity.RobotsResponse{}, true
	case len(a.Via) > 0 && !isFile:
		return parity.RobotsResponse{Status: http.StatusFound, Location: a.Via[0]}, true
	case a.Status == 0:
		return r, false
	}
	r.Location = a.Header.Get("Location")
	return r, true
}

// isWebPage reports whether a response is an HTML page. Of a response that may be a file the
// body decides, since some servers send a robots.txt as text/html.
func isWebPage(status int, header http.Header, start []byte) bool {
	isHTML := strings.HasPrefix(header.Get("Content-Type"), "text/html") || strings.HasPrefix(header.Get("Content-Type"), "application/xhtml")
	isCoded := header.Get("Content-Encoding") != ""
	switch {
	case len(start) == 0 || isCoded:
		return isHTML && status != http.StatusOK
	case status != http.StatusOK && isHTML:
		return true
	}
	findings, _ := policy.Parse(start).Findings()
	return slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML })
}

// Withheld returns the crawlers that get something else instead of a robots.txt.
func (s *State) Withheld(now time.Time) []parity.Withheld { return s.deliveries.Find("", now) }

// WithheldAt returns in words which crawlers get something else instead of the robots.txt with
// a key.
func (s *State) WithheldAt(key policy.Key) (found []string) {
	now := time.Now()
	s.presences.mu.Lock()
	sites := s.presences.with(key)
	s.presences.mu.Unlock()
	if key.Source == "" {
		sites[request.NewSite(key).Label] = nil
	}
	for label := range sites {
		for _, w := range s.deliveries.Find(label, now) {
			found = append(found, w.Says(now))
		}
	}
	return found
}
