package dashboard

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const (
	gptBot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	bytedance = "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)"
	seoBot    = "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"
)

// sites are a site in enforce, which has the dashboard, and a site in monitor.
const sites = `
http://localhost:$PORT {
	robots_guard enforce
	handle /robots-guard/* {
		robots_guard_dashboard
	}
	handle /robots.txt {
		respond "User-agent: *
Disallow: /private/

User-agent: GPTBot
User-agent: Bytespider
Disallow: /
"
	}
	handle {
		respond "Hello."
	}
}

http://shop.localhost:$PORT {
	robots_guard monitor
	respond /robots.txt "User-agent: *
Disallow: /cart
"
	respond "Shop."
}
`

// TestLiveUpdate checks that the empty page explains itself. It then shows new requests
// without a reload, and keeps focus and scroll position.
func TestLiveUpdate(t *testing.T) {
	t.Parallel()
	s := serve(t, sites)
	url := "http://localhost:" + s.Port + "/robots-guard/"
	p := open(t, url, wide)
	for _, hash := range []string{"#/now", "#/crawlers", "#/violations", "#/impact", "#/robots"} {
		p.visit(hash)
		if text := p.text("main"); !strings.Contains(text, "curl -A") || !strings.Contains(text, "http://localhost:"+s.Port+"/") {
			t.Errorf("%s does not explain how to create a first entry: %s", hash, text)
		}
	}

	p.visit("#/crawlers")
	awaitPolicy(t, s, "localhost", "/articles/1", gptBot)
	awaitPolicy(t, s, "localhost", "/private/x", bytedance)
	p.until(`document.querySelectorAll(".opener").length === 2`)
	p.eval(`[...document.querySelectorAll(".opener")].find((e) => e.innerText.trim() === "Bytespider").click()`)
	p.until(`document.querySelector(".detail .chart")`)
	p.eval(`void (document.querySelector(".detail .astable").open = true)`)
	p.eval(`document.querySelector(".detail .exports a").focus()`)
	p.eval(`scrollTo(0, 120); window.mark = document.querySelector(".detail"); mark.dataset.mark = "same"; void 0`)
	place := p.eval(`scrollY`)
	for i := range 7 {
		crawl(t, s, "localhost", fmt.Sprintf("/articles/%d", i), bytedance)
		crawl(t, s, "localhost", "/articles/1", gptBot)
	}
	p.until(`document.querySelectorAll(".detail code.path").length > 7 && document.querySelector(".detail").innerText.includes("/articles/6")`)
	if got := p.eval(`document.activeElement.innerText + " " + scrollY + " " + document.querySelector(".detail .astable").open + " " + (document.querySelector(".detail") === mark)`); got != "text "+place+" true true" {
		t.Errorf("after an update the focus, place, table and row are: %s", got)
	}

	// A paused page does not change. After resuming it shows the requests in between.
	p.eval(`document.querySelector("#foot button").click()`)
	p.until(`document.querySelector("#foot button").innerText === "Resume updates"`)
	crawl(t, s, "localhost", "/while/paused", bytedance)
	p.eval(`document.querySelector("#foot button").click()`)
	p.until(`document.querySelector(".detail").innerText.includes("/while/paused")`)

	p.visit("#/now")
	const card = `[...document.querySelectorAll(".todo .card")].find((e) => e.innerText.includes("earch engines are blocked"))`
	if p.eval(card+` === undefined`) != "true" {
		t.Error("a card reports a blocked search engine, but none was blocked")
	}
	crawl(t, s, "localhost", "/private/secret", googlebot)
	p.until(card + `?.innerText.includes("/private/secret")`)
	if text := p.eval(card + `.innerText`); !strings.Contains(text, "Unverified search engines are blocked") || !strings.Contains(text, "unverified") {
		t.Errorf("the card accuses: %s", text)
	}
	if got := p.eval(`document.querySelector(".todo h2").innerText`); got != "To do" {
		t.Errorf("the heading above the card is %q", got)
	}
	p.visit("#/impact")
	p.until(`document.querySelector(".panel.bad")`) // the request may not be counted yet
	if text := p.text(".panel.bad"); !strings.Contains(text, "with the name of search engines") {
		t.Errorf("Impact accuses: %s", text)
	}
	p.visit("#/now")
	for _, path := range []string{"/", "/cart", "/cart?x=1"} {
		crawl(t, s, "shop.localhost", path, seoBot)
	}
	p.until(`document.querySelector("main").innerText.includes("shop.localhost")`)
	p.visit("#/robots?site=localhost")
	p.until(`document.querySelector(".source")?.innerText.includes("Disallow: /private/")`)
	if text := p.text(".line:nth-child(2)"); !strings.Contains(text, "Disallow: /private/") || number(t, p.text(".line:nth-child(2) .hits")) != 1 {
		t.Errorf("the line that blocked Googlebot: %q", text)
	}
}

// TestExport checks that evidence and lists can be downloaded from the page.
func TestExport(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.show("#/crawlers?open=GPTBot&window=7d")
	fetch := func(selector string) string {
		return p.eval(fmt.Sprintf(`fetch(document.querySelector(%q).href).then(async (r) => r.status + " " + r.headers.get("Content-Disposition") + "\n" + await r.text())`, selector))
	}
	for _, tc := range []struct{ selector, name, holds string }{
		{".exports a:nth-of-type(1)", "evidence-GPTBot.txt", "Disallow: /, line 18 of robots.txt (User-agent: GPTBot)"},
		{".exports a:nth-of-type(2)", "evidence-GPTBot.json", `"files"`},
		{".exports a:nth-of-type(3)", "crawler-GPTBot.csv", "example.com,GPTBot,ai_training,claimed,/articles/"},
		{".downloads a:nth-of-type(1)", "crawlers.csv", "\nBytespider,Bytespider,ByteDance,ai_training,"},
	} {
		got := fetch(tc.selector)
		if head, text, _ := strings.Cut(got, "\n"); head != `200 attachment; filename="`+tc.name+`"` || !strings.Contains(text, tc.holds) {
			t.Errorf("%s: got %.600s", tc.selector, got)
		}
	}
	if text := fetch(".exports a:nth-of-type(1)"); !strings.Contains(text, "SHA-256") || !strings.Contains(text, "User-agent: Googlebot") || !strings.Contains(text, "20.15.240.0/24") {
		t.Errorf("the downloaded text is incomplete: %s", text)
	}
	if p.eval(`document.querySelector(".exports a").hasAttribute("download")`) != "true" {
		t.Error("the evidence link lacks the attribute download")
	}
}

// TestPrefixAndPassword checks that the page works under any prefix, inside
// handle_path, and with authentication.
func TestPrefixAndPassword(t *testing.T) {
	t.Parallel()
	const password = "secret"
	const hash = "$2a$04$Nw9Go.V/ZhG2ZxzD9SXAFuO3ZtB45o31Z4IAhlf3z8.rADZNXz0Uy" // of password
	s := serve(t, `
http://localhost:$PORT {
	robots_guard enforce
	handle_path /inner/stats* {
		basic_auth {
			anna `+hash+`
		}
		robots_guard_dashboard
	}
	handle /robots.txt {
		respond "User-agent: *
Disallow: /
"
	}
	handle {
		respond "Hello."
	}
}
`)
	awaitPolicy(t, s, "localhost", "/x", gptBot)
	for path, want := range map[string]int{"/inner/stats/": 401, "/inner/stats": 401, "/inner/stats/summary.json": 401, "/inner/stats/app.js": 401, "/summary.json": 200} {
		r, err := http.Get("http://localhost:" + s.Port + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s without a password: %d, want %d", path, r.StatusCode, want)
		}
	}
	p := open(t, "http://anna:"+password+"@localhost:"+s.Port+"/inner/stats", wide)
	p.until(`document.querySelector(".tile .big")?.innerText !== "0"`)
	if at := p.eval(`location.pathname`); at != "/inner/stats/" {
		t.Errorf("the page is at %s", at)
	}
	if text := p.text("main"); !strings.Contains(text, "GPTBot") {
		t.Errorf("the page has no counts: %s", text)
	}
}

// TestHostileTexts checks that content from a client or a robots.txt is never
// interpreted as HTML.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := serve(t, `
http://localhost:$PORT {
	robots_guard monitor
	handle /robots-guard/* {
		robots_guard_dashboard
	}
	handle /robots.txt {
		respond <<ROBOTS
		User-agent: <img src=x onerror=hacked=1>
		Disallow: /<script>hacked=2</script>
		User-agent: *
		Disallow: /"><svg onload=hacked=3>
		Disallow: /private
		Dissallow: /<iframe srcdoc="<script>top.hacked=4</script>">
		Sitemap: javascript:hacked=5
		<b>bold</b>
		ROBOTS 200
	}
	handle {
		respond "Hello."
	}
}
`)
	const image = "<img/src=x/onerror=hacked=6>"
	hostile := "Mozilla/5.0 (compatible; EvilBot/1.0; +http://evil.example/bot) " + image
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(20 * time.Millisecond) {
		crawl(t, s, "localhost", "/private/<script>hacked=7</script>", hostile)
		crawl(t, s, "localhost", `/private/"onmouseover="hacked=8"`+image, gptBot)
		crawl(t, s, "localhost", "/private/%3Cscript%3Ehacked=9%3C/script%3E\u202e", "<script>hacked=10</script>bot/1.0 (+http://evil.example/)")
		if list := read(t, "http://localhost:"+s.Port+"/robots-guard/violations.csv"); strings.Contains(list, "hacked=7") && strings.Contains(list, "hacked=8") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the requests are not in the ledger")
		}
	}
	p := open(t, "http://localhost:"+s.Port+"/robots-guard/", wide)
	elements := func() string {
		return p.eval(`document.querySelectorAll("main script, main iframe, main b:not(.readout b, .health b, .lead b), main svg[onload], main img").length + " " + (typeof hacked)`)
	}
	for _, hash := range []string{"#/now", "#/crawlers", "#/crawlers?open=_other:crawler", "#/crawlers?open=GPTBot", "#/violations", "#/robots?site=localhost", "#/impact",
		"#/violations?site=%3Cimg%20src%3Dx%20onerror%3Dhacked%3D11%3E", `#/now?window=%22%3E%3Cscript%3Ehacked%3D12%3C/script%3E`} {
		p.show(hash)
		if got := elements(); got != "0 undefined" {
			t.Errorf("%s: injected elements, and whether a script ran: %s", hash, got)
		}
	}
	p.show("#/violations")
	if text := p.text("main"); !strings.Contains(text, "/private/<script>hacked=7</script>") {
		t.Errorf("the path differs from the request: %.2000s", text)
	}
	p.show("#/robots?site=localhost")
	if text := p.text("main"); !strings.Contains(text, "User-agent: <img src=x onerror=hacked=1>") {
		t.Errorf("the file is shown with changes: %.2000s", text)
	}
	if p.eval(`document.querySelectorAll("a[href^='javascript:']").length`) != "0" {
		t.Error("a link runs a script")
	}
}

// read returns the body at a URL.
func read(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestFirstPaint checks that the page paints before any data arrives, and that the style sheet is
// the only file that delays the first paint. It logs the time of the first paint.
func TestFirstPaint(t *testing.T) {
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	withoutData := cdpage.AddScriptToEvaluateOnNewDocument("window.fetch = () => new Promise(() => {})")
	p.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := withoutData.Do(ctx)
		return err
	}), chromedp.Reload())
	p.until(`performance.getEntriesByName("first-contentful-paint").length === 1`)
	if text := p.text("main"); !strings.Contains(text, "Loading") {
		t.Errorf("the page has data: %.300s", text)
	}
	t.Logf("first contentful paint after %s ms", p.eval(`Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime)`))
	blocking := p.eval(`performance.getEntriesByType("resource").filter(r => r.renderBlockingStatus === "blocking").map(r => r.name.split("/").pop()).join(" ")`)
	if blocking != "style.css" {
		t.Errorf("these files delay the first paint: %s; want only style.css", blocking)
	}
}
