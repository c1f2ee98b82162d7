package neighbours

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
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
