package neighbours

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const rules = "User-agent: *\nDisallow: /private/\n"

// servePHP runs an application behind FastCGI like php-fpm with a front controller,
// which also handles /robots.txt. asked counts the requests for pages.
func servePHP(t *testing.T, asked *atomic.Int64) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	app := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, rules)
			return
		}
		asked.Add(1)
		fmt.Fprintf(w, "php %s by %s", r.URL.Path, fcgi.ProcessEnv(r)["SCRIPT_FILENAME"])
	}
	go func() { _ = fcgi.Serve(listener, http.HandlerFunc(app)) }() // returns once its listener is closed
	return listener.Addr().String()
}

// TestPHP checks that the guard evaluates the requested URL and not the script to which
// php_fastcgi rewrites it. Blocked requests never reach PHP.
func TestPHP(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := harness.Serve(t, "http://a.test:$PORT {\nrobots_guard enforce\nroot $ROOT\nphp_fastcgi $PHP\nfile_server\n}",
		"$PHP", servePHP(t, &asked), "$ROOT", harness.Files(t, map[string]string{"index.php": "", "admin/index.php": "", "private/a.txt": "a file"}))
	s.Warm("/robots.txt")
	earlier := asked.Load()
	harness.Visits(t, s, []harness.Visit{
		{harness.Bingbot, "/private/x", 403, "bingbot"},
		{harness.Bingbot, "/private/a.txt", 403, "bingbot"},
		{harness.Bingbot, "/%70rivate/?a=b", 403, "bingbot"},
		{harness.Bingbot, "/robots.txt", 200, "Disallow"},
	})
	if n := asked.Load() - earlier; n != 0 {
		t.Errorf("PHP got %d requests for disallowed pages", n)
	}
	harness.Visits(t, s, []harness.Visit{
		{harness.Bingbot, "/page", 200, "php /page by "},
		{harness.Bingbot, "/index.php/private/x", 200, "/index.php"},
		{harness.Bingbot, "/admin/", 200, "/admin/index.php"},
		{harness.Firefox, "/private/x", 200, "php /private/x by "},
		{harness.Firefox, "/private/a.txt", 200, "a file"},
	})
	if n := asked.Load() - earlier; n != 4 {
		t.Errorf("PHP got %d requests, want 4", n)
	}
}

// TestHandlers serves robots.txt through Caddy handlers that change paths and
// responses. The guard uses the file as crawlers get it, evaluates the requested path,
// and counts each request once.
func TestHandlers(t *testing.T) {
	t.Parallel()
	root := harness.Files(t, map[string]string{
		"robots.txt": rules, "index.html": "page", "moved/x": "moved", "private/x": "secret", "error.html": "sorry",
		"host/robots.txt": "User-agent: *\nDisallow: /{{.Host}}/private/\n", "host/a.test/private/x": "secret", "host/page": "{{.Host}}",
	})
	bare := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
		}
		return r.URL.Path == "/robots.txt"
	})
	for _, test := range []struct {
		name, handlers                string
		forbidden, allowed, page, own string // own: a path that browsers get and crawlers do not
	}{
		{"try_files", "root $ROOT\ntry_files {path} /index.html\nfile_server", "/private/route", "/route", "page", "page"},
		{"rewrite of a disallowed path", "root $ROOT\nrewrite /private/* /moved/x\nfile_server", "/private/x", "/moved/x", "moved", "moved"},
		{"rewrite to a disallowed path", "root $ROOT\nrewrite /open /private/x\nfile_server", "/private/x", "/open", "secret", "secret"},
		{"uri", "root $ROOT\nuri strip_prefix /v1\nfile_server", "/private/x", "/v1/private/x", "secret", "secret"},
		{"templates", "root $ROOT/host\ntemplates {\nmime text/plain\n}\nheader /page Content-Type text/plain\nfile_server", "/a.test/private/x", "/page", "", "secret"},
		{"encode", "root $ROOT\nencode {\ngzip\nminimum_length 1\n}\nfile_server", "/private/x", "/moved/x", "moved", "secret"},
		{"intercept", "intercept {\n@none status 404\nhandle_response @none {\nroot $ROOT\nfile_server\n}\n}\nreverse_proxy $BARE", "/private/x", "/x", "origin /x", "origin /private/x"},
		{"handle_response", "reverse_proxy $BARE {\n@none status 404\nhandle_response @none {\nroot $ROOT\nfile_server\n}\n}", "/private/x", "/x", "origin /x", "origin /private/x"},
		{"handle_errors", "root $ROOT\nrewrite /robots.txt /none.txt\nfile_server\nhandle_errors 404 {\nrewrite /robots.txt\nfile_server {\nstatus 200\n}\n}", "/private/x", "/moved/x", "moved", "secret"},
		{"request_body", "request_body {\nmax_size 1KB\n}\nroot $ROOT\nfile_server", "/private/x", "/moved/x", "moved", "secret"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := harness.Serve(t, "http://a.test:$PORT {\nrobots_guard enforce\n"+test.handlers+"\n}", "$ROOT", root, "$BARE", bare.Address())
			s.Warm("/robots.txt")
			earlier := s.Metrics()
			packed := harness.Header("Accept-Encoding", "gzip")
			if a := harness.Get(t, s.URL(test.forbidden), harness.Bingbot, packed); a.Status != 403 || !strings.Contains(a.Body, "bingbot") && a.Header.Get("Content-Encoding") == "" {
				t.Errorf("%s: %d %q", test.forbidden, a.Status, a.Body)
			}
			harness.Visits(t, s, []harness.Visit{
				{harness.Bingbot, test.allowed, 200, test.page},
				{harness.Bingbot, test.forbidden + "?a=b", 403, "Disallow: "},
				{harness.Firefox, test.forbidden, 200, test.own},
			})
			now := s.Metrics()
			for verdict, want := range map[string]float64{"disallowed": 2, "allowed": 1, "unknown": 0} {
				piece := `verdict="` + verdict + `"`
				if n := now.Sum(harness.RequestsMetric, piece) - earlier.Sum(harness.RequestsMetric, piece); n != want {
					t.Errorf("counted %v as %s, want %v", n, verdict, want)
				}
			}
		})
	}
}
