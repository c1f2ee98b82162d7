package dashboard

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// examples are the views of package report's examples.
type examples struct {
	t *testing.T
	// asked is what was asked for last.
	filter       report.Filter
	after, limit int
	// change changes what is answered.
	change func(any)
}

func (e *examples) read(name string, to any) {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "report", "testdata", name))
	if err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		e.t.Fatal(err)
	}
	if e.change != nil {
		e.change(to)
	}
}

func (e *examples) Summary(f report.Filter) (s report.Summary) {
	e.filter = f
	e.read("summary.json", &s)
	return s
}

func (e *examples) Crawlers(f report.Filter, after, limit int) (c report.Crawlers) {
	e.filter, e.after, e.limit = f, after, limit
	e.read("crawlers.json", &c)
	return c
}

func (e *examples) Crawler(f report.Filter, id string) (c report.CrawlerDetail, ok bool) {
	e.filter = f
	e.read("crawler.json", &c)
	return c, id == c.Crawler.ID
}

func (e *examples) Violations(f report.Filter, after, limit int) (v report.Violations) {
	e.filter, e.after, e.limit = f, after, limit
	e.read("violations.json", &v)
	return v
}

func (e *examples) Robots(f report.Filter) (r report.Robots, ok bool) {
	e.filter = f
	e.read("robots.json", &r)
	return r, f.Site == "example.com"
}

func (e *examples) Impact(f report.Filter) (i report.EnforceImpact) {
	e.filter = f
	e.read("impact.json", &i)
	return i
}

func (e *examples) ResponseAudit(f report.Filter) (p report.ResponseAudit) {
	e.filter = f
	e.read("parity.json", &p)
	return p
}

func (e *examples) Shadow(f report.Filter) (s report.ShadowTrials) {
	e.filter = f
	e.read("shadow.json", &s)
	return s
}

func (e *examples) ManagedRobots(f report.Filter) (m report.ManagedRobots, ok bool) {
	e.filter = f
	e.read("managed.json", &m)
	if f.Site == "" || f.Site == "example.com" {
		return m, true
	}
	return report.ManagedRobots{ViewHeader: m.ViewHeader, Managed: []report.ManagedSite{}}, false
}

func (e *examples) Evidence(f report.Filter, id string) (v report.Evidence, ok bool) {
	e.filter = f
	e.read("evidence.json", &v)
	return v, id == v.Crawler.ID
}

func ask(views Views, method, target string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://a.test"+target, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	New(func() Views { return views }, nil, nil).ServeHTTP(w, r)
	return w
}

func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		method, target string
		status         int
		contentType    string
		holds          string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "<title>Robots Guard"},
		{"GET", "/a/b/", 200, "text/html; charset=utf-8", "<title>Robots Guard"},
		{"HEAD", "/", 200, "text/html; charset=utf-8", ""},
		{"GET", "/style.css", 200, "text/css; charset=utf-8", "prefers-color-scheme"},
		{"GET", "/app.js", 200, "text/javascript; charset=utf-8", "import"},
		{"GET", "/icon.svg", 200, "image/svg+xml", "<svg"},

		{"GET", "/summary.json", 200, "application/json", `"search_blocked"`},
		{"HEAD", "/summary.json", 200, "application/json", ""},
		{"GET", "/x/summary.json?window=7d&site=a&class=search&identity=claimed", 200, "application/json", `"search_blocked"`},
		{"GET", "/crawlers.json?limit=1000&after=5", 200, "application/json", `"GPTBot"`},
		{"GET", "/crawler.json?id=GPTBot", 200, "application/json", `"sites_seen"`},
		{"GET", "/violations.json", 200, "application/json", `"/drafts/a"`},
		{"GET", "/robots.json?site=example.com", 200, "application/json", `"never_hit"`},
		{"GET", "/impact.json", 200, "application/json", `"by_class"`},
		{"GET", "/parity.json", 200, "application/json", `"fetches_per_visit": 13.375`},
		{"GET", "/parity.csv", 200, "text/csv; charset=utf-8", "bingbot,Microsoft,search,verified,allowed,360,12,90,10,0,0,2,6120000"},
		{"GET", "/shadow.json", 200, "application/json", `"newly_forbidden"`},
		{"GET", "/managed.json?site=example.com", 200, "application/json", `"version": "653da2ad012c"`},
		{"GET", "/managed.json?site=other.test", 200, "application/json", `"managed": []`},
		{"GET", "/evidence.json?id=GPTBot", 200, "application/json", `"networks"`},
		{"GET", "/evidence.txt?id=GPTBot", 200, "text/plain; charset=utf-8", "GPTBot"},
		{"GET", "/summary.csv", 200, "text/csv; charset=utf-8", "from,seconds,requests,"},
		{"GET", "/crawlers.csv", 200, "text/csv; charset=utf-8", "GPTBot,GPTBot,OpenAI,ai_training,240,24,192,"},
		{"GET", "/crawler.csv?id=GPTBot", 200, "text/csv; charset=utf-8", "/drafts/a"},
		{"GET", "/violations.csv", 200, "text/csv; charset=utf-8", ",90,87,"},
		{"GET", "/robots.csv?site=example.com", 200, "text/csv; charset=utf-8", "Disalow: /tmp/"},
		{"GET", "/impact.csv", 200, "text/csv; charset=utf-8", "ai_training,GPTBot,GPTBot,OpenAI,240,"},

		{"GET", "/shadow.csv", 200, "text/csv; charset=utf-8", "example.com,bingbot,Microsoft,search,verified,newly_forbidden,,/shop/lamp,3,3,"},

		{"GET", "/crawler.json?id=nobody", 404, "application/json", `\"nobody\" is not known`},
		{"GET", "/crawler.json", 404, "application/json", "error"},
		{"GET", "/evidence.txt?id=nobody", 404, "application/json", "error"},
		{"GET", "/robots.json", 404, "application/json", "error"},
		{"GET", "/summary.json?window=1y", 400, "application/json", "window"},
		{"GET", "/summary.json?class=x", 400, "application/json", "class"},
		{"GET", "/summary.json?identity=x", 400, "application/json", "identity"},
		{"GET", "/summary.json?site=%zz", 400, "application/json", "query"},
		{"GET", "/crawlers.json?limit=0", 400, "application/json", "limit"},
		{"GET", "/crawlers.json?limit=1001", 400, "application/json", "limit"},
		{"GET", "/crawlers.json?after=-1", 400, "application/json", "after"},
		{"GET", "/crawlers.json?after=x", 400, "application/json", "after"},

		{"GET", "/handler.go", 404, "application/json", "no such file"},
		{"GET", "/../handler.go", 404, "application/json", "no such file"},
		{"GET", "/..%2fhandler.go", 404, "application/json", "no such file"},
		{"GET", "/assets/..%5chandler.go", 404, "application/json", "no such file"},
		{"GET", "/..", 404, "application/json", "no such file"},
		{"GET", "/.", 404, "application/json", "no such file"},
		{"GET", "/app.js%00.html", 404, "application/json", "no such file"},

		{"POST", "/", 405, "application/json", "use GET"},
		{"PUT", "/summary.json", 405, "application/json", "use GET"},
		{"DELETE", "/app.js", 405, "application/json", "use GET"},
		{"OPTIONS", "/", 405, "application/json", "use GET"},
	} {
		w := ask(&examples{t: t}, tc.method, tc.target)
		if w.Code != tc.status || w.Header().Get("Content-Type") != tc.contentType || !strings.Contains(w.Body.String(), tc.holds) {
			t.Errorf("%s %s: got %d %s %.300q", tc.method, tc.target, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		if tc.method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("%s %s has a body", tc.method, tc.target)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy":      contentSecurityPolicy,
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"X-Frame-Options":              "DENY",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"X-Robots-Tag":                 "noindex, nofollow",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q", tc.method, tc.target, name, got)
			}
		}
		if cors := w.Header().Get("Access-Control-Allow-Origin"); cors != "" {
			t.Errorf("%s %s: other origins may read it: %q", tc.method, tc.target, cors)
		}
		if caching := w.Header().Get("Cache-Control"); strings.Contains(tc.contentType, "json") && caching != "no-store" || caching == "" {
			t.Errorf("%s %s: Cache-Control is %q", tc.method, tc.target, caching)
		}
		if tc.status == 405 && w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s %s: Allow is %q", tc.method, tc.target, w.Header().Get("Allow"))
		}
	}
}

// The filter and the part of a list reach the views.
func TestQueryIsPassedOn(t *testing.T) {
	views := &examples{t: t}
	ask(views, "GET", "/violations.json?site=a.test&class=search&identity=spoofed&window=30d&after=7&limit=9")
	want := report.Filter{Site: "a.test", Class: "search", Identity: "spoofed", Window: report.Month}
	if views.filter != want || views.after != 7 || views.limit != 9 {
		t.Errorf("got %+v, after %d, limit %d", views.filter, views.after, views.limit)
	}
	ask(views, "GET", "/crawlers.csv")
	if views.filter != (report.Filter{Window: report.Day}) || views.after != 0 || views.limit != maxLimit {
		t.Errorf("by default got %+v, after %d, limit %d", views.filter, views.after, views.limit)
	}
	ask(views, "GET", "/crawlers.json")
	if views.limit != defaultLimit {
		t.Errorf("by default got limit %d", views.limit)
	}
}

// A path without the slash at its end leads to the directory, and never to
// another host.
func TestRedirects(t *testing.T) {
	for target, want := range map[string]string{
		"/robots-guard":          "./robots-guard/",
		"/a/robots-guard":        "./robots-guard/",
		"//evil":                 "./evil/",
		"/a//evil":               "./evil/",
		"/%5cevil":               "./%5Cevil/",
		"/https:evil":            "./https:evil/",
		"/a%0d%0aSet-Cookie:%20": "./a%0D%0ASet-Cookie:%20/",
		"/robots-guard?x=//y":    "./robots-guard/",
	} {
		w := ask(&examples{t: t}, "GET", target)
		if w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != want {
			t.Errorf("%s: got %d %q, want %q", target, w.Code, w.Header().Get("Location"), want)
		}
	}
}

// No script or style of the page stands in its markup, and nothing in it can
// make markup of a text: the policy forbids both, and so does this.
func TestAssetsKeepThePolicy(t *testing.T) {
	for name, file := range loadStaticFiles() {
		text := string(file.body)
		for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "new Function", " style=", "javascript:\"", "http://"} {
			if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), forbidden) {
				t.Errorf("%s holds %q", name, forbidden)
			}
		}
		if strings.HasSuffix(name, ".html") && strings.Count(text, "<script") != strings.Count(text, "<script type=\"module\" src=\"") {
			t.Errorf("%s holds a script", name)
		}
		if strings.Contains(text, "https://") && name != "detail.js" && name != "parts.js" {
			t.Errorf("%s names another host", name)
		}
	}
}
