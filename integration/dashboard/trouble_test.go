package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// TestConnectionLost checks that the page reports a lost connection and its return.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	numbers := p.text(".tile .big")
	p.run(network.Enable(), network.EmulateNetworkConditions(true, 0, -1, -1))
	p.eval(`scrollTo(0, 700)`)
	p.until(`document.querySelector("#lost")?.innerText.includes("cannot be reached")`)
	if text := p.text("#lost"); !strings.Contains(text, "The numbers are from 2026-11-21 14:20:") {
		t.Errorf("of when the numbers are: %q", text)
	}
	if at := p.eval(`Math.round(document.querySelector("#lost").getBoundingClientRect().top)`); at != "0" {
		t.Errorf("the message is not visible after scrolling: %s", at)
	}
	if text := p.text(".tile .big"); text != numbers {
		t.Errorf("the counts have disappeared: %s", text)
	}
	p.run(network.EmulateNetworkConditions(false, 0, -1, -1))
	p.eval(`document.querySelector("#foot button").click()`)
	p.eval(`document.querySelector("#foot button").click()`)
	p.until(`!document.querySelector("#lost").innerText`)
	p.forgive("ERR_INTERNET_DISCONNECTED")
}

// TestRefusedState checks that if the server rejects a state, such as that of an old
// link, the page shows the reason.
func TestRefusedState(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.eval(`void (location.hash = "#/crawlers?class=foo")`)
	p.until(`document.querySelector("#lost").innerText.includes("The server returned status 400: unknown class \"foo\"; use one of")`)
	p.until(`document.querySelector("main .waiting").innerText.includes("unknown class \"foo\"")`)
	p.eval(`document.querySelector("#filters .all").click()`)
	p.settled()
	if text := p.text("#lost"); text != "" {
		t.Errorf("the error is still shown: %s", text)
	}
	p.forgive("400")
}

// TestErrorWithoutReason checks that for an error response without a JSON object, such
// as that of a proxy, the page shows the status.
func TestErrorWithoutReason(t *testing.T) {
	t.Parallel()
	p := open(t, serveDay(t, scriptedDay(t)), wide)
	p.eval(`void (window.fetch = async () => new Response("null", { status: 502 }))`)
	p.eval(`document.querySelector("#foot button").click()`)
	p.eval(`document.querySelector("#foot button").click()`)
	p.until(`document.querySelector("#lost").innerText.includes("The server returned status 502")`)
}

// TestWithoutJavaScript checks that without JavaScript the page does not ask the reader
// to wait.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	p := browse(t, "about:blank", wide)
	p.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(serveDay(t, scriptedDay(t))))
	var text string
	p.run(chromedp.Text("body", &text))
	if !strings.Contains(text, "This page needs JavaScript.") || strings.Contains(text, "Reading") {
		t.Errorf("the page says %q", text)
	}
}

// TestDirectionOfTexts checks that bidirectional and other control characters do not
// make a path look like another path. The copied text also escapes them.
func TestDirectionOfTexts(t *testing.T) {
	t.Parallel()
	s := serve(t, sites)
	awaitPolicy(t, s, "localhost", "/articles/1", gptBot)
	crawl(t, s, "localhost", "/pics/\u202egnp.exe\u2066", bytedance)
	p := open(t, "http://localhost:"+s.Port+"/robots-guard/", wide)
	p.visit("#/violations")
	p.until(`document.querySelector("main").innerText.includes("/pics/\ufffdgnp.exe\ufffd")`)
}

// TestCommandsOfTheSite checks that a command contains the scheme and the port of its
// site, whichever view is opened first.
func TestCommandsOfTheSite(t *testing.T) {
	t.Parallel()
	s := serve(t, sites)
	awaitPolicy(t, s, "localhost", "/articles/1", gptBot)
	for range 3 {
		crawl(t, s, "shop.localhost", "/cart", seoBot)
	}
	p := browse(t, "http://localhost:"+s.Port+"/robots-guard/#/crawlers?open=SemrushBot", wide)
	p.until(`document.querySelector(".detail .chart")`)
	p.until(fmt.Sprintf(`document.querySelector(".actions").innerText.includes("'http://shop.localhost:%s/cart'")`, s.Port))
}

// TestSeveralHosts checks that a site with several hosts is not reported as
// unavailable, because each host has its own file.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	s := serve(t, sites+`
http://*.tenants.localhost:$PORT {
	robots_guard enforce
	respond /robots.txt "User-agent: *
Disallow: /secret/
"
	respond "Hello."
}
`)
	awaitPolicy(t, s, "a.tenants.localhost", "/secret/", gptBot)
	p := open(t, "http://localhost:"+s.Port+"/robots-guard/", wide)
	p.until(`document.querySelector("main").innerText.includes("*.tenants.localhost")`)
	for _, hash := range []string{"#/now", "#/robots?site=*.tenants.localhost"} {
		p.visit(hash)
		if text := p.text("main"); !strings.Contains(text, "one for each host") || strings.Contains(text, "no crawler request") || strings.Contains(text, "To send such a request") {
			t.Errorf("%s: %s", hash, text)
		}
	}
}
