package guard

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// unguarded implements admin.RunningConfig for a state without sites.
type unguarded struct{ *State }

// TestNotify implements admin.RunningConfig.
func (unguarded) TestNotify(context.Context) []notify.TestResult { return nil }

func (unguarded) Fetch(context.Context, *policy.Entry) error { return errNoSite }

func (unguarded) Policy(string, string) *policy.Entry { return nil }

func (unguarded) Guard(string) (string, *admin.Guard) { return "", nil }

// adminAnswer returns the response of the admin API with the given state.
func adminAnswer(t *testing.T, s *State, method, target string) (status int, body string) {
	t.Helper()
	mux := http.NewServeMux()
	for _, route := range admin.New(func() admin.RunningConfig { return unguarded{s} }).Routes() {
		mux.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) {
			err := route.Handler.ServeHTTP(w, r)
			var failed caddy.APIError
			if errors.As(err, &failed) {
				http.Error(w, failed.Err.Error(), failed.HTTPStatus)
			} else if err != nil {
				t.Errorf("%s: %v", target, err)
			}
		})
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	if w.Code == http.StatusOK && (w.Header().Get("Content-Type") != "application/json" || !json.Valid(w.Body.Bytes())) {
		t.Errorf("%s is no JSON", target)
	}
	return w.Code, w.Body.String()
}

func TestAdminReports(t *testing.T) {
	g := recordingGuard(t, options{Enforce: true}, mixedRobots)
	g.visit(t, "bingbot/2.0", "http://example.com/", "192.0.2.1")
	g.visit(t, "bingbot/2.0", "http://example.com/private/<x>", "192.0.2.1")
	g.visit(t, "Googlebot/2.1", "http://example.com/google/x", "192.0.2.1")
	g.visit(t, "someinventedbot/2.1 (+http://x.example/)", "http://example.com/private/y", "192.0.2.1")
	for _, tc := range []struct {
		method, target string
		status         int
		want           string
	}{
		{"GET", "/robots_guard/summary", 200, `"requests": 4`},
		{"GET", "/robots_guard/summary?class=search&window=1h", 200, `"requests": 3`},
		{"GET", "/robots_guard/summary?site=example.org", 200, `"requests": 0`},
		{"GET", "/robots_guard/summary?identity=verified", 200, `"requests": 0`},
		{"GET", "/robots_guard/summary?window=2h", 400, "unknown window \"2h\""},
		{"GET", "/robots_guard/summary?class=x", 400, "unknown class \"x\""},
		{"GET", "/robots_guard/summary?identity=x", 400, "unknown identity \"x\""},
		{"POST", "/robots_guard/summary", 405, "use GET"},
		{"GET", "/robots_guard/crawlers", 200, `"token": "bingbot"`},
		{"GET", "/robots_guard/crawlers?limit=1", 200, `"next": "1"`},
		{"GET", "/robots_guard/crawlers?limit=1&after=2", 200, `"total": 3`},
		{"GET", "/robots_guard/crawlers?limit=0", 400, "limit \"0\" is not a number from 1 to 1000"},
		{"GET", "/robots_guard/crawlers?limit=1001", 400, "limit \"1001\" is not a number from 1 to 1000"},
		{"GET", "/robots_guard/crawlers?after=x", 400, "after \"x\" is not a number"},
		{"GET", "/robots_guard/crawlers/bingbot", 200, `"path": "/private/<x>"`},
		{"GET", "/robots_guard/crawlers/_other:crawler", 200, `"token": "_other"`},
		{"GET", "/robots_guard/crawlers/bingbot/evidence", 200, `"text": "User-agent: *\nDisallow: /private/`},
		{"GET", "/robots_guard/crawlers/bingbot?class=seo", 404, "GET /robots_guard/crawlers lists all"},
		{"GET", "/robots_guard/crawlers/nobody", 404, "no request of \"nobody\" is recorded"},
		{"GET", "/robots_guard/crawlers/nobody/evidence", 404, "no request of \"nobody\" is recorded"},
		{"GET", "/robots_guard/violations", 200, `"total": 3`},
		{"GET", "/robots_guard/violations?limit=2", 200, `"next": "2"`},
		{"GET", "/robots_guard/robots?site=example.com", 200, `"hits": 1`},
		{"GET", "/robots_guard/robots", 400, "the parameter site is missing"},
		{"GET", "/robots_guard/robots?site=example.org", 404, "there is no data for the site"},
		{"GET", "/robots_guard/impact", 200, `"blockable": 3`},
		{"GET", "/robots_guard/policies", 200, `"total": 1`},
	} {
		if status, body := adminAnswer(t, g.state, tc.method, tc.target); status != tc.status || !strings.Contains(body, tc.want) {
			t.Errorf("%s %s: %d %s, want %d %q", tc.method, tc.target, status, body, tc.status, tc.want)
		}
	}
}

// TestAdminReportsWithoutState checks the responses before any guard is configured.
func TestAdminReportsWithoutState(t *testing.T) {
	for _, target := range []string{"/robots_guard/summary", "/robots_guard/crawlers", "/robots_guard/violations", "/robots_guard/impact"} {
		if status, body := adminAnswer(t, nil, "GET", target); status != 200 || strings.Contains(body, "null") {
			t.Errorf("%s: %d %s", target, status, body)
		}
	}
}

// Accept implements admin.RunningConfig.
func (unguarded) Accept(string, string) error { return nil }

// Managed implements admin.RunningConfig.
func (unguarded) Managed() []*publish.Publisher { return nil }
