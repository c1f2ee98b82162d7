package simulate

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// A mode is how a site answers for its robots.txt.
type mode uint8

const (
	same    mode = iota // everybody the same
	turns               // two upstreams take turns: the text and the one before
	byAgent             // crawlers whose name begins with G or a later letter get the one before
	fails               // 503
	hangs               // never
	missing             // 404
	refuses             // 403 for the guard, the text for clients
	limits              // 429
	numModes
)

func (m mode) String() string {
	return [...]string{"answers", "takes turns with the text before", "differs by User-Agent", "answers 503", "hangs", "answers 404", "refuses the guard", "answers 429"}[m]
}

// site is an origin: what its owner serves for /robots.txt.
type site struct {
	host         string
	text, before string
	maxAge       time.Duration // 0 for none
	mode         mode
	asked        int                  // how often
	changed      time.Time            // when it began to answer as it does
	unclear      time.Time            // until when crawlers may have been served several texts
	settled      time.Time            // since when nobody could be served anything but the text
	past         []served             // all that anybody was served, the latest last
	phases       []phase              // how it has answered, the latest last
	way          way                  // where it redirects to
	stamps       bool                 // it writes the time into a comment
	led          map[string]time.Time // when it redirected a crawler last, by User-Agent
}

// phase is how a site answers from a time on.
type phase struct {
	mode mode
	text string
	long bool // not everybody comes to it
	from time.Time
}

// hasOneText reports whether nobody is served another text than the site's in a mode.
func (m mode) hasOneText() bool { return m == same || m == fails || m == hangs || m == limits }

// isAnswered reports whether a site says what its rules are, or that it has none.
func (m mode) isAnswered() bool { return m != fails && m != hangs && m != limits }

// since returns how a site has answered since a time.
func (s *site) since(at time.Time) []phase {
	for n := len(s.phases) - 1; n > 0; n-- {
		if !s.phases[n].from.After(at) {
			return s.phases[n:]
		}
	}
	return s.phases
}

// answeredUntil returns when the site ceased to answer, now if it still does. failed says that
// it did not answer at some time before that since it has settled.
func (s *site) answeredUntil() (end time.Time, failed bool) {
	end = time.Now()
	phases := s.since(s.settled)
	for len(phases) > 0 && !phases[len(phases)-1].mode.isAnswered() {
		end, phases = phases[len(phases)-1].from, phases[:len(phases)-1]
	}
	return end, slices.ContainsFunc(phases, func(p phase) bool { return !p.mode.isAnswered() })
}

// served is a text with when it was served first and last.
type served struct {
	text        string
	first, last time.Time
}

// change makes a site answer otherwise.
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

// answer is what a client gets for /robots.txt. guard says that it is the guard, by itself.
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

// note remembers that a text was served; "" is that there is none.
func (s *site) note(text string, now time.Time) {
	for i := range s.past {
		if s.past[i].text == text {
			s.past[i].last = now
			return
		}
	}
	s.past = append(s.past, served{text, now, now})
}

// Prepare implements [origin.Source].
func (i *instance) Prepare(_ *http.Request, key policy.Key) (origin.Fetch, bool) {
	w := i.world
	s := w.site(key.Host)
	if s == nil {
		return nil, false
	}
	return func(ctx context.Context, _ *policy.Version) policy.Answer {
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

// ServeHTTP serves the robots.txt as clients get it, and a page at all other paths.
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
	i.dirty.Store(true) // with who has read it
	maps.Copy(rw.Header(), a.Header)
	rw.WriteHeader(a.Status)
	_, err := rw.Write(a.Body)
	return err
}
