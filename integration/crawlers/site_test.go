package crawlers

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// links are the links on the first page, as the author of a page would write them.
// Every site has the same pages.
var links = []string{
	// Plain paths, some with a common prefix.
	"/public/1.html", "/public/2.html", "/private/1.html", "/private/2.html",
	"/private", "/private.html", "/privately/1.html", "/Private/1.html",
	"/docs/a.pdf", "/docs/b.PDF", "/docs/a.pdf.html", "/docs/plan.html",
	"/shop/item1/view.html", "/shop/item1/edit.html", "/shop/item2/view.html", "/shop/item2/edit.html",
	"/tie/1.html", "/folder", "/folder2/index.html",
	// Queries.
	"/search?q=1", "/search?sort=up&q=2", "/list?page=2", "/list?page=2&sort=up", "/docs/a.pdf?page=1", "/search",
	// Escapes in several spellings.
	"/~joe/1.html", "/%7Ejoe/2.html", "/caf%C3%A9/1.html", "/caf%c3%a9/2.html", "/café/3.html",
	"/a%20b/1.html", "/a b/2.html", "/%70rivate/3.html", "/priv%61te/4.html", "/pub%6Cic/3.html",
	"/AC%2FDC/1.html", "/AC/DC/2.html", "/100%25.html",
	// Characters that only some clients encode.
	"/comma,1.html", "/semi;v=1/1.html", "/quote'1.html", "/paren(1).html", "/star*1.html",
	"/dollar$1.html", "/plus+1.html", "/at@1.html", "/bang!1.html", "/pipe|1.html", "/brace{1}.html",
	"/bracket[1].html", "/tilde~1.html", "/colon:1.html",
	// Slashes, dots and fragments.
	"/public//4.html", "/private//5.html", "/public/../private/6.html", "/public/./5.html",
	"/public/%2e%2e/private/7.html", "/public/1.html#part",
	// Redirects. The second leads to a page that is often disallowed.
	"/go/public", "/go/private",
	"/long/" + strings.Repeat("x", 200) + ".html",
}

// redirects are part of the sites' configuration.
var redirects = map[string]string{"/go/public": "/public/6.html", "/go/private": "/private/8.html"}

const page = "<!doctype html><title>A page</title><p>Some words."

func firstPage() string {
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8><title>A site</title>\n")
	for _, link := range links {
		fmt.Fprintf(&b, "<p><a href=\"%s\">%s</a>\n", html.EscapeString(link), html.EscapeString(link))
	}
	return b.String()
}

// writeSite creates a folder with the site and, unless robots is nil, a robots.txt.
func writeSite(t *testing.T, folder string, robots *string) {
	t.Helper()
	write := func(name, text string) {
		name = filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("index.html", firstPage())
	if robots != nil {
		write("robots.txt", *robots)
	}
	for _, link := range links {
		if redirects[link] != "" {
			link = redirects[link]
		}
		link, _, _ = strings.Cut(link, "#")
		link, _, _ = strings.Cut(link, "?")
		name, err := url.PathUnescape(link)
		if err != nil {
			t.Fatal(err)
		}
		switch name = path.Clean(name); name {
		case "/private", "/folder":
			name += "/index.html" // folders, to which file_server redirects
		}
		write(name, page)
	}
}

// newOrigin returns the origin of all sites behind reverse_proxy. The host selects the
// site. Paths that a file system cannot have are pages as well.
func newOrigin(t *testing.T, robots func(host string) *string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := page
		switch r.URL.Path {
		case "/robots.txt":
			file := robots(r.Host)
			if file == nil {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte(*file))
			return
		case "/":
			text = firstPage()
		case "/private", "/folder":
			http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}
