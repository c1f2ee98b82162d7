package neighbours

import (
	"net/http"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// newAuth returns an authentication service for forward_auth. A client that has logged
// in has a cookie. All other clients get the given status, with a redirect to a login
// page for a redirect status. The given paths are public.
func newAuth(t *testing.T, status int, free ...string) *harness.Origin {
	t.Helper()
	return harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		for _, path := range free {
			if r.Header.Get("X-Forwarded-Uri") == path {
				return true
			}
		}
		if _, err := r.Cookie("session"); err == nil {
			w.Header().Set("Remote-User", "anna")
			return true
		}
		if status == http.StatusFound {
			w.Header().Set("Location", "https://login.test/?to=a.test")
		}
		w.WriteHeader(status)
		return true
	}).AnswerSelfTest()
}

// TestBehindTrustedProxies checks that the self-test warns about a login even with
// trusted proxies.
func TestBehindTrustedProxies(t *testing.T) {
	t.Parallel()
	const trust = "servers {\ntrusted_proxies static 127.0.0.1/32\n}"
	s := serve(t, trust, "robots_guard enforce\nbasic_auth {\nanna $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG\n}\n")
	warned(t, s, true, refused)
}

// TestAuthentication checks sites that require a login. The guard can fetch robots.txt
// if a matcher or the service exempts it. Otherwise the self-test warns. The guard
// never sends a client's cookie.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	const (
		forward = " $AUTH {\nuri /verify\ncopy_headers Remote-User\n}\n"
		basic   = " {\nanna $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG\n}\n"
		rest    = "@rest not path /robots.txt\n"
	)
	for _, test := range []struct {
		name, handlers string
		auth           *harness.Origin
		status         int    // of a page without a login
		warning        string // of the self-test, "" if the guard can fetch the file
	}{
		{"forward_auth", "robots_guard enforce\nforward_auth" + forward, newAuth(t, 401), 401, refused},
		{"forward_auth with a login elsewhere", "robots_guard enforce\nforward_auth" + forward, newAuth(t, 302), 302, toLogin},
		{"forward_auth before the guard", "route {\nforward_auth" + forward + "robots_guard enforce\n}", newAuth(t, 401), 401, refused},
		{"with robots.txt exempt", "robots_guard enforce\n" + rest + "forward_auth @rest" + forward, newAuth(t, 302), 302, ""},
		{"exempt by the service", "robots_guard enforce\nforward_auth" + forward, newAuth(t, 401, "/robots.txt"), 401, ""},
		{"basic_auth", "robots_guard enforce\nbasic_auth" + basic, newAuth(t, 401), 401, refused},
		{"basic_auth with robots.txt exempt", "robots_guard enforce\n" + rest + "basic_auth @rest" + basic, newAuth(t, 401), 401, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "", test.handlers, "$AUTH", test.auth.Address())
			forbidden := test.status
			if test.warning == "" {
				s.Warm("/")
				forbidden = 403
			} else {
				warned(t, s, true, test.warning)
			}
			harness.Visits(t, s, []harness.Visit{
				{harness.Bingbot, "/private/x", forbidden, ""},
				{harness.Bingbot, "/p", test.status, ""},
				{harness.Firefox, "/p", test.status, ""},
			})
			session := harness.Header("Cookie", "session=1")
			if strings.HasPrefix(test.name, "forward_auth") {
				if a := harness.Get(t, s.URL("/private/x"), harness.Firefox, session); a.Status != 200 {
					t.Errorf("a client that has logged in gets %d", a.Status)
				}
			}
			for _, r := range test.auth.Seen() {
				if strings.HasPrefix(r.UserAgent(), "RobotsGuard") && r.Header.Get("Cookie") != "" {
					t.Errorf("the guard sends a cookie: %v", r.Header)
				}
			}
			if test.warning == "" {
				warned(t, s, true, "self-test: robots.txt was fetched")
				warned(t, s, false, refused)
				warned(t, s, false, toLogin)
			}
		})
	}
}
