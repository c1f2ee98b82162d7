package botauth

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOverTLS fetches over a real connection, with a client that follows redirects and stores
// cookies.
func TestOverTLS(t *testing.T) {
	var hits, elsewhere, cookies atomic.Int64
	var answer atomic.Value
	answer.Store("good")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != directoryPath {
			elsewhere.Add(1)
			return
		}
		hits.Add(1)
		if r.Header.Get("Cookie") != "" {
			cookies.Add(1)
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.Header().Set("Content-Type", directoryType)
		switch answer.Load() {
		case "redirect":
			http.Redirect(w, r, "/keys", http.StatusFound)
		case "cut off":
			w.Header().Set("Content-Length", "100000")
			fmt.Fprint(w, goodDirectory)
		default:
			fmt.Fprint(w, goodDirectory)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // errors of the handshake below
	server.StartTLS()
	defer server.Close()
	client := server.Client()
	client.Jar, _ = cookiejar.New(nil)
	f := newFixture(t, nil, func(o *Options) {
		o.Agents, o.Client = map[string]string{server.URL: testOperator}, client
	})
	for _, test := range []struct {
		answer string
		err    string
	}{
		{"good", ""},
		{"redirect", "status 302"},
		{"cut off", "unexpected EOF"},
		{"good", ""},
	} {
		answer.Store(test.answer)
		err := f.Refresh(t.Context(), server.URL)
		if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: error %v, want %q", test.answer, err, test.err)
		}
		if state := f.Directories()[0]; state.KeyCount != 1 {
			t.Errorf("%s: %d keys", test.answer, state.KeyCount)
		}
	}
	if hits.Load() != 4 || elsewhere.Load() != 0 || cookies.Load() != 0 {
		t.Errorf("%d requests for the directory, %d other requests, %d with a cookie", hits.Load(), elsewhere.Load(), cookies.Load())
	}

	// The certificate is not trusted.
	f = newFixture(t, nil, func(o *Options) { o.Agents, o.Client = map[string]string{server.URL: testOperator}, nil })
	if err := f.Refresh(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error %v", err)
	}
}
