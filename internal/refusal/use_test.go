package refusal

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestWriteAgainstUse names the line that a crawler is held to, and says that the owner
// enforces a preference and that no rule forbids the page.
func TestWriteAgainstUse(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nContent-Usage: /blog/ train-ai=n\n"))
	j := &guard.Judgement{
		Request: judge.Request{Client: uaident.Identify("ClaudeBot/1.0"), Method: http.MethodGet, Target: "/blog/a"},
		Site:    new(request.NewSite(policy.Key{Secure: true, Host: "example.com"})),
	}
	settings := judge.Settings{Enforce: true, EnforceUse: true}
	var scratch judge.Scratch
	settings.Judge(&j.Request, judge.Rules{Robots: robots}, &scratch, &j.Result)
	settings.HoldToUse(&j.Request, &j.Result, settings.AgainstUse(&j.Request, robots, &j.Result))
	w := httptest.NewRecorder()
	if err := Write(w, httptest.NewRequest(http.MethodGet, "/blog/a", nil), j, 451); err != nil {
		t.Fatal(err)
	}
	body := w.Body.String()
	for _, want := range []string{
		"file:  https://example.com/robots.txt\n", "group: User-agent: * (line 1)\n", "line:  Content-Usage: /blog/ train-ai=n (line 2)\n",
		"That is a preference about use, and no rule about access", "The owner of this site enforces it", "as is said of ClaudeBot",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in the answer:\n%s", want, body)
		}
	}
	if w.Code != 451 || strings.Contains(body, "RFC 9309") {
		t.Errorf("%d:\n%s", w.Code, body)
	}
}
