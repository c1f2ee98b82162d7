package guard

import (
	"io"
	"net/http"
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
		got := parity.RobotsResponse{Status: d.status, Location: d.Header().Get("Location"), HTML: origin.IsWebPage(d.status, d.Header(), d.start)}
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
		if got, ok := origin.ResponseOf(answer); ok {
			g.shared.deliveries.Fetched(label, got)
		}
		return answer
	}
}

// SelfTestSource returns how the self-test fetches the robots.txt of the server that the guard is
// for, nil for a guard that answers questions of another proxy.
func (g *Guard) SelfTestSource() *origin.Server {
	if g.Forwarded != nil {
		return nil
	}
	if source, ok := g.Source.(*origin.Server); ok {
		return source
	}
	return origin.NewServer(false)
}

// NoteSelfTest notes what the self-test got by the name of a crawler at a site that sends
// browsers a robots.txt.
func (s *State) NoteSelfTest(f parity.Fetcher, got parity.RobotsResponse) {
	s.deliveries.Test(f, got, time.Now())
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
