package documents

import (
	"fmt"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// shownFiles returns the files in a document: each code block after a line "`NAME`:".
func shownFiles(text string) map[string]string {
	files := make(map[string]string)
	for _, m := range regexp.MustCompile("(?ms)^`([\\w./-]+)`:\n\n```\\w*\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		files[m[1]] = m[2]
	}
	return files
}

// siteAddress matches the address of a site at the beginning of a line or after a
// comma.
var siteAddress = regexp.MustCompile(`(?m)(^|, )((?:[\w*-]+\.)*example\.com|:80|https://)( \{$|, )`)

// serve runs the Caddyfile of a guide, with these replacements. A port replaces names
// and their certificates. A test application replaces app:8080. It responds with a
// greeting, and with the guide's robots.txt. The same application over FastCGI replaces
// the socket of PHP. A folder with an empty index.php replaces /srv/www. The guide's
// next.txt replaces /srv/next.txt.
func (g *guide) serve(t *testing.T, caddyfile string) {
	t.Helper()
	g.port = harness.FreePort(t)
	admin := harness.FreePort(t)
	g.admin = "127.0.0.1:" + admin
	origin := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		g.hello(w, r)
		return true
	})
	php, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = php.Close() })
	go func() { _ = fcgi.Serve(php, http.HandlerFunc(g.hello)) }() // returns once its listener is closed

	www := harness.Files(t, map[string]string{"index.php": ""}) // php_fastcgi checks that it exists

	caddyfile = siteAddress.ReplaceAllStringFunc(caddyfile, func(address string) string {
		m := siteAddress.FindStringSubmatch(address)
		if host := m[2]; strings.HasSuffix(host, ".com") {
			return m[1] + "http://" + host + ":" + g.port + m[3]
		}
		return m[1] + "http://:" + g.port + m[3]
	})
	caddyfile = strings.NewReplacer(
		"app:8080", origin.Address(),
		"unix//run/php/php-fpm.sock", php.Addr().String(),
		"/srv/www", www,
		"/srv/next.txt", filepath.Join(g.dir, "next.txt"),
	).Replace(caddyfile)
	options := "\tadmin " + g.admin + "\n\tpersist_config off\n\tauto_https off\n"
	if rest, ok := strings.CutPrefix(caddyfile, "{\n"); ok {
		caddyfile = "{\n" + options + rest
	} else {
		caddyfile = "{\n" + options + "}\n" + caddyfile
	}
	harness.Run(t, harness.Caddyfile(t, caddyfile), nil, "127.0.0.1:"+g.port, g.admin)
	g.show = strings.NewReplacer("http://example.com:"+g.port, "https://example.com", ".example.com:"+g.port, ".example.com", "http://example.com", "https://example.com", ":"+g.port, "", admin, "2019")
	g.unsettled = time.Now().Add(settling)
}

// hello is the test application. It serves the robots.txt from the guide's folder for
// the host, or else the guide's robots.txt.
func (g *guide) hello(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	text, err := os.ReadFile(filepath.Join(g.dir, host, "robots.txt"))
	if err != nil {
		text, err = os.ReadFile(filepath.Join(g.dir, "robots.txt"))
	}
	switch {
	case r.URL.Path != "/robots.txt":
		fmt.Fprintf(w, "Hello from %s.\n", r.URL.Path)
	case err != nil:
		http.NotFound(w, r)
	default:
		_, _ = w.Write(text)
	}
}
