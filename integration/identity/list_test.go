package identity

import (
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// listServer is an HTTPS server with an address list.
type listServer struct {
	*httptest.Server
	roots string // file with its certificate

	mu     sync.Mutex
	answer http.HandlerFunc
	asked  []http.Header
}

func newListServer(t *testing.T, answer http.HandlerFunc) *listServer {
	t.Helper()
	s := &listServer{answer: answer, roots: filepath.Join(t.TempDir(), "roots.pem")}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.Header)
		s.answer(w, r)
	}))
	s.Config.ErrorLog = log.New(new(strings.Builder), "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	harness.Write(t, s.roots, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	return s
}

// list returns the URL of the list.
func (s *listServer) list() string { return s.URL + "/bots.json" }

// does changes the response of the server and forgets earlier requests.
func (s *listServer) does(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.asked = answer, nil
}

func (s *listServer) requests() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

const listETag = `"v1"`

// listed responds with the list of the test's Googlebot.
func listed(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", listETag)
	if r.Header.Get("If-None-Match") == listETag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write([]byte(addressLists["googlebot.json"]))
}

func answering(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

// listing runs a server that fetches the list and saves it in store.
func listing(t *testing.T, s *listServer, store, home string) *harness.Server {
	t.Helper()
	harness.NameInstance(t, home, "00000000-0000-4000-8000-000000000001")
	site := "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n respond /robots.txt `" + identityRobots + "`\n respond page\n}"
	return harness.ServeWith(t, []string{"SSL_CERT_FILE=" + s.roots, "XDG_DATA_HOME=" + home}, site, "$GLOBAL", `storage file_system `+store+`
	robots_guard {
		storage on
		verify {
			ranges configured
			rdns off
		}
		crawler Googlebot {
			ranges url `+s.list()+`
		}
	}
	servers {
		trusted_proxies static 127.0.0.0/8
	}`)
}

// identityOf returns the server's identity for a Googlebot at an address.
func identityOf(t *testing.T, s *harness.Server, ip string) string {
	t.Helper()
	return harness.Get(t, s.URL("/"), harness.Googlebot, from(ip)).Header.Get("X-Identity")
}

// outdate sets the last check of the stored lists to more than a day ago, so that they
// are due.
func outdate(t *testing.T, store string) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(store, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "ranges.json" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var kept map[string]any
		if err := json.Unmarshal(text, &kept); err != nil {
			return err
		}
		for _, list := range kept["lists"].([]any) {
			list.(map[string]any)["checked"] = time.Now().Add(-25 * time.Hour)
			found++
		}
		if text, err = json.Marshal(kept); err != nil {
			return err
		}
		return os.WriteFile(name, text, 0o600)
	})
	if err != nil || found != 1 {
		t.Fatalf("%d lists are stored: %v", found, err)
	}
}

// TestListServer fetches an address list over HTTPS. The list survives restarts, and an
// invalid response does not replace a valid list.
func TestListServer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux the environment can make the server trust the test's certificate")
	}
	lists := newListServer(t, listed)
	store, home := t.TempDir(), t.TempDir()
	const unusable, read = "crawler address list cannot be used; using the previous list", "crawler address list fetched"

	s := listing(t, lists, store, home)
	harness.Eventually(t, "the list is read", func() bool { return identityOf(t, s, googlesAddress) == "verified" })
	if got := identityOf(t, s, somebodyElse); got != "spoofed" {
		t.Errorf("a spoofed client is %s", got)
	}
	m := s.Metrics()
	label := `list="` + lists.list() + `"`
	if n := m.Sum("caddy_robots_guard_address_list_prefixes", label); n != 3 {
		t.Errorf("the list has %v prefixes in the metrics, want 3", n)
	}
	if at := m.Sum("caddy_robots_guard_address_list_checked_timestamp_seconds", label); at < float64(time.Now().Add(-time.Hour).Unix()) {
		t.Errorf("the list was checked at %v", at)
	}
	if n := len(lists.requests()); n != 1 {
		t.Errorf("the list was fetched %d times, want once", n)
	}
	s.Stop()

	t.Run("stored across a restart", func(t *testing.T) {
		lists.does(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) })
		s := listing(t, lists, store, home)
		harness.Eventually(t, "the stored list is read", func() bool { return identityOf(t, s, googlesAddress) == "verified" })
		if got := identityOf(t, s, somebodyElse); got != "spoofed" {
			t.Errorf("a spoofed client is %s", got)
		}
		if n := len(lists.requests()); n != 0 {
			t.Errorf("the list was fetched %d times although it is stored", n)
		}
		s.Stop()
	})
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		log    string
		liar   string
	}{
		{"fails", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusInternalServerError) }, unusable, "spoofed"},
		{"poisoned", answering(`{"prefixes": [{"ipv4Prefix": "0.0.0.0/0"}]}`), unusable, "spoofed"},
		// It is unclear which list is correct, so the previous one can still verify
		// clients, but not refute them.
		{"shrunk", answering("203.0.113.0/28\n"), unusable, "unknown"},
		{"fails in doubt", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusInternalServerError) }, unusable, "unknown"},
		{"unchanged", listed, read, "spoofed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			outdate(t, store)
			lists.does(test.answer)
			s := listing(t, lists, store, home)
			s.Await(test.log, 1)
			if got := identityOf(t, s, googlesAddress); got != "verified" {
				t.Errorf("the genuine crawler is %s", got)
			}
			if got := identityOf(t, s, somebodyElse); got != test.liar {
				t.Errorf("a spoofed client is %s, want %s", got, test.liar)
			}
			if asked := lists.requests(); len(asked) == 0 || asked[0].Get("If-None-Match") != listETag {
				t.Errorf("a request without the ETag: %v", asked)
			}
			s.Stop()
		})
	}
}
