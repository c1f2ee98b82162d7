package guard

import (
	"net/http"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestPlainSites has a client that is a browser where no robots.txt names it, at a site
// whose text comes to name it and ceases to, while another site stays as it is. Each time
// the first request after that is judged by what holds then.
func TestPlainSites(t *testing.T) {
	const plain = "User-agent: *\nDisallow: /private/\n\nUser-agent: Googlebot\nDisallow: /google/\n"
	g := testGuard(t, options{Enforce: true}, serving(plain))
	server := twoHosts()
	at := func(userAgent, url string) *Judgement {
		r := askAt(server, url)
		r.Header.Set("User-Agent", userAgent)
		return g.Judge(r)
	}
	const tool = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 ShopTool/2.0"
	isPlain := func(url string) bool { return g.namedSite(askAt(server, url)).isPlain(g.momentOf(g.Registry.Load())) }
	check := func(when string, named bool) {
		t.Helper()
		for range 3 {
			if j := at(tool, "http://a.example/"); (j != nil) != named {
				t.Errorf("%s: judged %t, want %t", when, j != nil, named)
			}
			if j := at(tool, "http://b.example/"); j != nil {
				t.Errorf("%s: judged at a site that does not name it", when)
			}
			if j := at("bingbot/2.0", "http://a.example/"); j == nil || j.Client.Name() != "bingbot" {
				t.Errorf("%s: bingbot is judged as %+v", when, j)
			}
		}
		if isPlain("http://a.example/") == named || !isPlain("http://b.example/") {
			t.Errorf("%s: what is remembered of the names is otherwise", when)
		}
	}
	become := func(text string) {
		t.Helper()
		entry := g.shared.Cache.Get(policy.Key{Host: "a.example", Site: "a.example"})
		if entry == nil {
			t.Fatal("nothing is known of the site")
		}
		readAs(entry, policy.Freshness{Default: time.Hour, Max: time.Hour}, func() policy.Answer {
			return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
		})
	}

	if isPlain("http://a.example/") {
		t.Error("what nobody has read is known to have no names")
	}
	for _, url := range []string{"http://a.example/", "http://b.example/"} {
		if j := at("bingbot/2.0", url); j == nil || j.Version == nil {
			t.Fatalf("%s is not judged by its rules", url)
		}
	}
	check("at first", false)
	become("User-agent: ShopTool\nDisallow: /\n")
	check("named", true)
	become(plain)
	check("named no longer", false)

	with, err := g.Registry.Load().With(uaident.Crawler{Token: "ShopTool", Class: uaident.SEO})
	if err != nil {
		t.Fatal(err)
	}
	before := g.Registry.Load()
	g.Registry.Replace(with)
	if at(tool, "http://a.example/") == nil {
		t.Error("a browser after the registry has come to know it")
	}
	g.Registry.Replace(before)
	check("known no longer", false)

	g.shared.Cache.Resize(policy.Named, policy.Bounds{Entries: 1, Reads: 1})
	at("bingbot/2.0", "http://b.example/")
	if g.shared.Cache.Get(policy.Key{Host: "a.example", Site: "a.example"}) != nil {
		t.Fatal("the cache has both")
	}
	if isPlain("http://a.example/") {
		t.Error("what the cache has dropped is known to have no names")
	}
}

// TestPlainSiteWithoutAText has a site of which nothing but an error is known, until that is
// dropped: from then on it is judged by the text that is known by another authority of it.
func TestPlainSiteWithoutAText(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving("User-agent: ShopTool\nDisallow: /\n"))
	fresh := policy.Freshness{Default: time.Hour, Max: time.Hour}
	at := func(key policy.Key, status int, text string) {
		<-g.shared.Cache.Add(key, policy.Named).Refresh(fresh, func() policy.Answer { return policy.Answer{Status: status, Body: []byte(text)} }, nil)
	}
	at(policy.Key{Host: "a.example:8080", Site: "a.example"}, http.StatusOK, "User-agent: ShopTool\nDisallow: /\n")
	at(policy.Key{Host: "a.example", Site: "a.example"}, http.StatusServiceUnavailable, "")
	r := askAt(twoHosts(), "http://a.example/")
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 ShopTool/2.0")
	for range 3 {
		if g.Judge(r) != nil {
			t.Error("it is named where nothing is known of the site by this authority but an error")
		}
	}
	g.shared.Cache.Get(policy.Key{Host: "a.example:8080", Site: "a.example"}).Use(time.Now().Add(time.Hour))
	g.shared.Cache.Resize(policy.Named, policy.Bounds{Entries: 1, Bytes: 1 << 20, Reads: 1})
	if g.shared.Cache.Get(policy.Key{Host: "a.example", Site: "a.example"}) != nil {
		t.Fatal("the cache has dropped the other one")
	}
	if g.Judge(r) == nil {
		t.Error("it is not named where the text of the other authority names it")
	}
}

// TestMomentsKeepNoRegistry replaces the registry while nobody asks a guard.
func TestMomentsKeepNoRegistry(t *testing.T) {
	g := testGuard(t, options{}, serving(mixedRobots))
	before := func() weak.Pointer[uaident.Registry] {
		registry, err := uaident.Default().With(uaident.Crawler{Token: "Quuxle", Class: uaident.SEO})
		if err != nil {
			t.Fatal(err)
		}
		if first := g.momentOf(registry); g.momentOf(registry) != first {
			t.Error("a moment is over though nothing has changed")
		}
		return weak.Make(registry)
	}()
	for range 5 {
		runtime.GC()
	}
	if before.Value() != nil {
		t.Error("the registry is kept")
	}
	runtime.KeepAlive(g)
}
