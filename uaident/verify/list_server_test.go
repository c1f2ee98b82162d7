package verify

import (
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// listServer is an HTTPS server with one list, which tests change.
type listServer struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request)
	asked  int
}

func serveList(t *testing.T, text string) *listServer {
	s := &listServer{}
	s.says(text)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked++
		s.answer(w, r)
	}))
	s.Config.ErrorLog = log.New(&strings.Builder{}, "", 0) // hides errors about rejected certificates
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *listServer) does(answer func(w http.ResponseWriter, r *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *listServer) says(text string) {
	s.does(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) })
}

func (s *listServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// fetched returns a verifier after it loaded the list of a server, its clock, and the crawler of
// the list.
func fetched(t *testing.T, s *listServer) (*Verifier, *clock, *uaident.Crawler) {
	t.Helper()
	bar := &uaident.Crawler{Token: "BarBot", Class: uaident.Search, Verification: uaident.Verification{Ranges: []string{s.URL + "/list.json"}}}
	clock := newClock()
	v := configured(t, Options{Now: clock.Now, Transport: s.Client().Transport}, Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true})
	if got := v.Check(bar, netip.MustParseAddr("192.0.2.1")); got != (Finding{State: Unknown}) {
		t.Errorf("before the list is loaded: %v", got)
	}
	v.loadAll(t.Context(), v.isListDue)
	return v, clock, bar
}
