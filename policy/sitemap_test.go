package policy

import "testing"

func TestIsSitemap(t *testing.T) {
	robots := Parse([]byte("User-agent: *\nSitemap: https://cdn.example/all%20pages?x=1\nSitemap: /relative.xml\nsite-map: https://example.com/map.php\nDisallow: /x\n"))
	for path, want := range map[string]bool{
		"/all pages": true, "/map.php": true, "/relative.xml": false, "/": false, "/sitemap.xml": true, "/en/Sitemap_index.xml": true,
		"/sitemap-3.xml.gz": true, "/sitemaps.txt": true, "/sitemap": false, "/sitemap/": false, "/my-sitemap.xml": false, "/sitemap.html": false,
	} {
		if got := robots.IsSitemap(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	if (*Robots)(nil).IsSitemap("/map.php") || !(*Robots)(nil).IsSitemap("/sitemap.xml") {
		t.Error("without a file names alone tell")
	}
}
