package policy

import (
	"strings"
	"testing"
)

func TestIsSitemap(t *testing.T) {
	robots := Parse([]byte(strings.Join([]string{
		"User-agent: *", "Sitemap: https://cdn.example/all%20pages?x=1", "Sitemap: /relative.xml", "site-map: https://example.com/map.php", "Disallow: /x",
		"Sitemap: https://cdn.example/more%20pages", "Sitemap: https://a_b-c.example:8443/port", "Sitemap: https://example.com/query?x=1", "Sitemap: http://example.com/insecure",
		"Sitemap: relative/relative2", "Sitemap: https:///nowhere", "Sitemap: https://a:b/no-port", "Sitemap: https://example.com?x=/no-path", "Sitemap: https://example.com",
	}, "\n")))
	for path, want := range map[string]bool{
		"/all pages": true, "/map.php": true, "/relative.xml": false, "/": false, "/sitemap.xml": true, "/en/Sitemap_index.xml": true,
		"/sitemap-3.xml.gz": true, "/sitemaps.txt": true, "/sitemap": false, "/sitemap/": false, "/my-sitemap.xml": true, "/sitemap.html": false,
		"/wp-sitemap-posts-post-1.xml": true, "/wp-sitemap.xml": true, "/page-sitemap2.xml": true, "/SITE-MAP.xml": false, "/sitemap/page.xml": false, "/sitema.xml": false,
		"/all%20pages": false, "/more pages": true, "/more%20pages": false, "/port": true, "/query": true, "/query?x=1": false, "/insecure": true,
		"/relative2": false, "relative/relative2": false, "/nowhere": false, "/no-port": false, "/no-path": false, "": false, "/site": false, "sitemap.txt.gz": true,
	} {
		if got := robots.IsSitemap(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if (*Robots)(nil).IsSitemap("/map.php") || !(*Robots)(nil).IsSitemap("/sitemap.xml") {
		t.Error("a typical name is not recognized without a file")
	}
}
