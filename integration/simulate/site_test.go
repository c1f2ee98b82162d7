package simulate

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	guardsite "github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// A mode is how a site answers requests for its robots.txt.
type mode uint8

const (
	same    mode = iota // all clients get the same file
	turns               // two upstreams alternate between the current and the previous file
	byAgent             // crawlers whose name begins with G or a later letter get the previous file
	fails               // 503
	hangs               // no response
	missing             // 404
	refuses             // 403 for the guard, the file for clients
	limits              // 429
	numModes
)

func (m mode) String() string {
	return [...]string{"answers", "takes turns with the text before", "differs by User-Agent", "answers 503", "hangs", "answers 404", "refuses the guard", "answers 429"}[m]
}

// site is an origin with its robots.txt.
type site struct {
	host         string
	text, before string
	maxAge       time.Duration // 0 for none
	mode         mode
	asked        int                  // number of requests
	changed      time.Time            // when the response last changed
	unclear      time.Time            // end of the time in which crawlers may have got different files
	settled      time.Time            // since when all clients get the current file
	past         []served             // all files that were served, the latest last
	phases       []phase              // the modes of the site, the latest last
	way          way                  // where it redirects to
	stamps       bool                 // writes the time into a comment
	led          map[string]time.Time // when it last redirected a crawler, by User-Agent
}

// phase is the mode of a site since a time.
type phase struct {
	mode mode
	text string
	long bool // some clients do not follow all its redirects
	from time.Time
}

// hasOneText reports whether no client gets a different file in a mode.
func (m mode) hasOneText() bool { return m == same || m == fails || m == hangs || m == limits }

// isAnswered reports whether a response states the rules of the site, or that it has
// none.
func (m mode) isAnswered() bool { return m != fails && m != hangs && m != limits }

// since returns the phases of a site since a time.
func (s *site) since(at time.Time) []phase {
	for n := len(s.phases) - 1; n > 0; n-- {
		if !s.phases[n].from.After(at) {
			return s.phases[n:]
		}
	}
	return s.phases
}

// answeredUntil returns the end of the last phase with an answer, or now. failed
// reports whether there was a phase without an answer before that, since the site has
// settled.
func (s *site) answeredUntil() (end time.Time, failed bool) {
	end = time.Now()
	phases := s.since(s.settled)
	for len(phases) > 0 && !phases[len(phases)-1].mode.isAnswered() {
		end, phases = phases[len(phases)-1].from, phases[:len(phases)-1]
	}
	return end, slices.ContainsFunc(phases, func(p phase) bool { return !p.mode.isAnswered() })
}

// served is a file with the times of its first and last response.
type served struct {
	text        string
	first, last time.Time
}

// change changes the mode and the file of a site.
func (s *site) change(m mode, text string, now time.Time) {
	if s.mode == turns || s.mode == byAgent {
		s.unclear = now
	}
	if text != s.text || !m.hasOneText() || !s.mode.hasOneText() {
		s.settled = now
	}
	if text != s.text {
		s.before, s.text = s.text, text
	}
	s.mode, s.changed = m, now
	s.phases = append(s.phases, phase{m, s.shown(), s.way.isLong(), now})
}

// answer returns the response to a request for /robots.txt. guard reports whether the
// guard itself sends the request.
func (s *site) answer(agent string, guard bool, now time.Time) (status int, text string) {
	s.asked++
	text = s.shown()
	switch s.mode {
	case turns:
		if s.asked%2 == 0 {
			text = s.before
		}
	case byAgent:
		if agent >= "G" {
			text = s.before
		}
	case fails, hangs:
		return http.StatusServiceUnavailable, ""
	case limits:
		return http.StatusTooManyRequests, ""
	case missing:
		s.note("", now)
		return http.StatusNotFound, ""
	case refuses:
		if guard {
			return http.StatusForbidden, ""
		}
	}
	s.note(text, now)
	return http.StatusOK, text
}

// note records that a file was served; "" stands for no file.
func (s *site) note(text string, now time.Time) {
	for i := range s.past {
		if s.past[i].text == text {
			s.past[i].last = now
			return
		}
	}
	s.past = append(s.past, served{text, now, now})
}

// Prepare implements [guardsite.Source].
func (i *instance) Prepare(_ *http.Request, key policy.Key) (guardsite.FetchFunc, bool) {
	w := i.world
	if isLargeTenant(key.Host) {
		return func(context.Context, *policy.Version) policy.FetchResult {
			i.dirty.Store(true)
			return fetchLarge(key.Host)
		}, true
	}
	s := w.site(key.Host)
	if s == nil {
		return nil, false
	}
	return func(ctx context.Context, _ *policy.Version) policy.FetchResult {
		i.dirty.Store(true)
		if w.owner != nil {
			return i.fetchPage(s)
		}
		return i.fetchFrom(ctx, s)
	}, true
}

func (s *site) header() http.Header {
	if s.maxAge == 0 {
		return nil
	}
	return http.Header{"Cache-Control": {"max-age=" + strconv.Itoa(int(s.maxAge.Seconds()))}}
}

// ServeHTTP serves the robots.txt for clients, and a page for every other path.
func (i *instance) ServeHTTP(rw http.ResponseWriter, r *http.Request) error {
	w := i.world
	if w.owner != nil && r.URL.Path == "/robots.txt" {
		i.dirty.Store(true)
		i.servePage(rw, r)
		return nil
	}
	w.mu.Lock()
	a, ok := w.answerAt(r.Host, r.RequestURI, r.UserAgent(), false)
	if s := w.site(r.Host); r.RequestURI == "/robots.txt" && a.Header.Get("Location") != "" {
		if s.led == nil {
			s.led = make(map[string]time.Time)
		}
		s.led[r.UserAgent()] = time.Now()
	}
	w.mu.Unlock()
	if !ok {
		time.Sleep(time.Duration(w.takes.Load()))
		rw.WriteHeader(http.StatusNoContent)
		return nil
	}
	i.dirty.Store(true) // the guard records the fetch
	maps.Copy(rw.Header(), a.Header)
	rw.WriteHeader(a.Status)
	_, err := rw.Write(a.Body)
	return err
}
