package replay

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
)

// answeredLog returns a log in which a search engine is refused a third of the allowed pages.
func answeredLog() string {
	var b strings.Builder
	line := func(n int, target string, status int, referer, userAgent string) {
		for range n {
			fmt.Fprintf(&b, "192.0.2.1 - - [21/Nov/2026:12:00:00 +0000] \"GET %s HTTP/1.1\" %d 100 \"%s\" \"%s\"\n", target, status, referer, userAgent)
		}
	}
	line(20, "/a", 200, "-", googlebot)
	line(10, "/b", 403, "-", googlebot)
	line(3, "/b", 503, "-", googlebot)
	line(50, "/private/x", 403, "-", googlebot) // as the robots.txt requires
	line(5, "/robots.txt", 503, "-", gptbot)
	line(7, "/c", 499, "-", gptbot)
	line(1, "/c", 200, "https://chatgpt.com/", gptbot)
	return b.String()
}

// TestAnswers finds responses that contradict the robots.txt.
func TestAnswers(t *testing.T) {
	t.Parallel()
	r := replayed(t, answeredLog(), nil)
	var texts []string
	for _, f := range r.Findings {
		texts = append(texts, f.Text)
	}
	if got, want := strings.Join(texts, "\n"), "GPTBot: 100 % of the requests for /robots.txt (5 of 5) failed, mostly with status 5xx\n"+
		"Googlebot: 30 % of the allowed pages (10 of 33) were refused, mostly with status 401, 402, 403, 407 or 451"; got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	for _, c := range r.Crawlers {
		if c.Token != "Googlebot" {
			continue
		}
		want := ResponsesReport{Allowed: responseaudit.StatusCounts{Success: 20, Refused: 10, ServerError: 3}, Forbidden: responseaudit.StatusCounts{Refused: 50}, Bytes: 8300}
		if c.Responses == nil || *c.Responses != want {
			t.Errorf("%+v, want %+v", c.Responses, want)
		}
	}
	var table bytes.Buffer
	r.WriteText(&table)
	if want := "30 % of the allowed pages (10 of 33)"; !strings.Contains(table.String(), want) {
		t.Errorf("the table lacks %q:\n%s", want, table.String())
	}
}

// TestAnswersOfAGuard ignores responses of a guard in Caddy's log.
func TestAnswersOfAGuard(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 40 {
		status, action := 200, "none"
		if i%2 == 0 {
			status, action = 429, "slowed"
		}
		fmt.Fprintf(&log, `{"ts":%d,"logger":"http.log.access","request":{"client_ip":"192.0.2.1","method":"GET","host":"a.test","uri":"/a","headers":{"User-Agent":["GPTBot/1.0"]}},"size":5,"status":%d,"robots_guard":{"verdict":"allowed","action":"%s"}}`+"\n", 1795275413+i, status, action)
	}
	r := replayed(t, log.String(), nil)
	want := ResponsesReport{Allowed: responseaudit.StatusCounts{Success: 20}, Bytes: 100}
	if c := r.Crawlers[0]; len(r.Findings) > 0 || c.Requests != 40 || c.Responses == nil || *c.Responses != want {
		t.Errorf("%+v, %+v", r.Findings, c.Responses)
	}
}

// TestAnswersUnknown reports nothing for a log without status codes.
func TestAnswersUnknown(t *testing.T) {
	t.Parallel()
	r := replayed(t, strings.ReplaceAll(combined(noon, "GET /a", googlebot), " 200 ", " - "), nil)
	if r.Crawlers[0].Responses != nil || len(r.Findings) > 0 {
		t.Errorf("%+v, %+v", r.Crawlers[0].Responses, r.Findings)
	}
}
