package notify

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// inbox is a receiver that answers with these statuses, the last one again and again.
type inbox struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	header   http.Header // of answers
	got      []sent
	came     chan struct{}
}

type sent struct {
	path   string
	header http.Header
	body   string
}

func newInbox(t *testing.T, statuses ...int) *inbox {
	i := &inbox{statuses: statuses, header: make(http.Header), came: make(chan struct{}, 100)}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		i.mu.Lock()
		defer i.mu.Unlock()
		status := i.statuses[min(len(i.got), len(i.statuses)-1)]
		i.got = append(i.got, sent{r.URL.Path, r.Header, string(body)})
		for name := range i.header {
			w.Header().Set(name, i.header.Get(name))
		}
		w.WriteHeader(status)
		i.came <- struct{}{}
	}))
	t.Cleanup(i.Close)
	return i
}

// wait waits for so many requests.
func (i *inbox) wait(n int) []sent {
	for range n {
		<-i.came
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.got)
}

// counter is a [Counter].
type counter struct{ told, failed atomic.Int32 }

func (c *counter) Notified(err error) {
	if err != nil {
		c.failed.Add(1)
	} else {
		c.told.Add(1)
	}
}

// tellOnce delivers a message, and returns what is logged.
func tellOnce(t *testing.T, c Config, told *Told, list alert.List) (logged string) {
	t.Helper()
	core, logs := observer.New(zap.DebugLevel)
	var counts counter
	receivers, err := New([]Config{c}, told, &counts, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	r := receivers[0]
	r.retry, r.server = time.Millisecond, "web1"
	r.group.due(list, r.terms, start)
	m, ok, _ := r.group.due(list, r.terms, start.Add(time.Hour))
	if !ok {
		t.Fatal("nothing is due")
	}
	r.deliver(t.Context(), m, list)
	if told, failed := counts.told.Load(), counts.failed.Load(); told+failed != 1 || (failed == 1) != r.failed {
		t.Errorf("counted as told %d times and as failed %d times, and it has failed: %t", told, failed, r.failed)
	}
	var b strings.Builder
	for _, e := range logs.All() {
		b.WriteString(e.Message + "\n")
		enc, _ := json.Marshal(e.ContextMap())
		b.Write(enc)
	}
	return b.String()
}

var example = alert.List{Alerts: []alert.Alert{{
	ID: "robots_gone-1", Kind: alert.RobotsGone, Severity: alert.Critical, Site: "a.test", State: alert.Open,
	Title: "The robots.txt of a.test is gone", Detail: "Line 2, \"Disallow: /*_<b>@channel\" [x](y).", Do: "Bring it back.", Copy: "curl -i http://a.test/robots.txt",
}}}

// TestFormats are what the services take.
func TestFormats(t *testing.T) {
	for name, tc := range map[string]struct {
		path, toPath string
		want         map[string]any
	}{
		slack: {"/hook", "/hook", map[string]any{"unfurl_links": false, "unfurl_media": false,
			"text": "*critical: The robots.txt of a.test is gone*\nLine 2, \"Disallow: /*_&lt;b&gt;@channel\" [x](y).\nBring it back.\n```\ncurl -i http://a.test/robots.txt\n```\n\n(web1)"}},
		mattermost: {"/hook", "/hook", map[string]any{
			"text": "**critical: The robots.txt of a.test is gone**\nLine 2, \"Disallow: /\\*\\_\\<b\\>@\u200bchannel\" \\[x\\](y).\nBring it back.\n```\ncurl -i http://a.test/robots.txt\n```\n\n(web1)"}},
		discord: {"/hook", "/hook", map[string]any{"allowed_mentions": map[string]any{"parse": []any{}}, "flags": 4.0,
			"content": "**critical: The robots.txt of a.test is gone**\nLine 2, \"Disallow: /\\*\\_\\<b\\>@\u200bchannel\" \\[x\\](y).\nBring it back.\n```\ncurl -i http://a.test/robots.txt\n```\n\n(web1)"}},
		ntfy: {"/sub/my-alerts", "/sub/", map[string]any{"topic": "my-alerts", "title": "The robots.txt of a.test is gone", "priority": 5.0, "tags": []any{"rotating_light"},
			"message": "critical: The robots.txt of a.test is gone\nLine 2, \"Disallow: /*_<b>@channel\" [x](y).\nBring it back.\ncurl -i http://a.test/robots.txt\n\n(web1)"}},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInbox(t, 200)
			tellOnce(t, Config{URL: i.URL + tc.path, Format: name, Token: "tk_1"}, new(Told), example)
			got := i.wait(1)[0]
			var body map[string]any
			if err := json.Unmarshal([]byte(got.body), &body); err != nil {
				t.Fatal(err)
			}
			want, _ := json.Marshal(tc.want)
			if is, _ := json.Marshal(body); string(is) != string(want) || got.path != tc.toPath {
				t.Errorf("%s got\n%s, want\n%s", got.path, is, want)
			}
			if got.header.Get("Content-Type") != "application/json" || got.header.Get("Authorization") != "Bearer tk_1" || got.header.Get(SignatureHeader) != "" {
				t.Errorf("header %v", got.header)
			}
		})
	}
}

// TestTopics of ntfy are the last part of a path, with a slash behind it or not.
func TestTopics(t *testing.T) {
	for path, want := range map[string]string{"/alerts": "/", "/alerts/": "/", "/sub/alerts/": "/sub/", "/alerts?x=1": "/?x=1"} {
		c := Config{URL: "https://ntfy.example.com" + path, Format: ntfy}
		if got, err := c.target(); err != nil || got.topic != "alerts" || got.url.String() != "https://ntfy.example.com"+want {
			t.Errorf("%s: topic %q at %s, %v", path, got.topic, got.url, err)
		}
	}
}

// TestSlackCode has no mention and no link in what is copied either: Slack reads these
// within code, too.
func TestSlackCode(t *testing.T) {
	a := example.Alerts[0]
	a.Copy = "curl -i 'http://a.test/?a=1&b=<!channel>'"
	m := Message{Server: "web1", Open: []alert.Alert{a}}
	body := formats[slack](m, "").(map[string]any)
	if said := body["text"].(string); !strings.Contains(said, "```\ncurl -i 'http://a.test/?a=1&amp;b=&lt;!channel&gt;'\n```") {
		t.Errorf("said is %s", said)
	}
	if said := formats[discord](m, "").(map[string]any)["content"].(string); !strings.Contains(said, a.Copy) {
		t.Errorf("said is %s", said) // where code is left as it is
	}
}

// TestLongTexts stay within what the services take.
func TestLongTexts(t *testing.T) {
	m := Message{Server: "web1"}
	for range maxMessage {
		a := example.Alerts[0]
		a.Detail = strings.Repeat("*x", 300)
		m.Open = append(m.Open, a)
	}
	for name, most := range map[string]int{slack: maxText, mattermost: maxText, discord: 2000, ntfy: 4096} {
		for _, n := range []int{1, maxMessage} {
			short := m
			short.Open = m.Open[:n]
			for key, value := range formats[name](short, "t").(map[string]any) {
				if s, ok := value.(string); ok && len(s) > most {
					t.Errorf("%s: %s of %d alerts has %d bytes", name, key, n, len(s))
				}
			}
		}
	}
}

// TestSigned is the generic format with a signature that its receiver can check.
func TestSigned(t *testing.T) {
	t.Setenv("ALERTS_SECRET", "a secret")
	i := newInbox(t, 200)
	t.Setenv("ALERTS_URL", i.URL+"/hook")
	logged := tellOnce(t, Config{URL: "{env.ALERTS_URL}", Secret: "{env.ALERTS_SECRET}"}, new(Told), example)
	got := i.wait(1)[0]
	at, err := strconv.ParseInt(got.header.Get(TimestampHeader), 10, 64)
	if err != nil || Sign("a secret", at, []byte(got.body)) != got.header.Get(SignatureHeader) {
		t.Errorf("%v, header %v", err, got.header)
	}
	// printf 1.x | openssl dgst -sha256 -hmac key
	if got := Sign("key", 1, []byte("x")); got != "v1=fc4913c41a7bf793267e2a384f3261c9436ec2cd097bd745e7b0d99113f510ec" {
		t.Errorf("the signature is %s", got)
	}
	var m Message
	if err := json.Unmarshal([]byte(got.body), &m); err != nil || m.Version != 1 || m.Server != "web1" || len(m.Open) != 1 || m.Open[0].ID != "robots_gone-1" || m.Over == nil {
		t.Errorf("%v: %s", err, got.body)
	}
	if strings.Contains(logged, "a secret") || strings.Contains(logged, "/hook") || !strings.Contains(logged, "alerts were told") {
		t.Errorf("logged is %s", logged)
	}
}

// TestRetries tries again where that is of use, for a while.
func TestRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		statuses []int
		attempts int
		logged   string
	}{
		"down for a moment": {[]int{503, 500, 200}, 3, "alerts were told"},
		"too many requests": {[]int{429, 204}, 2, "alerts were told"},
		"down":              {[]int{503}, maxAttempts, "status 503"},
		"no such hook":      {[]int{404}, 1, "status 404; see whether URL, token and format are right"},
		"redirect":          {[]int{302}, 1, "redirects are not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInbox(t, tc.statuses...)
			i.header.Set("Location", i.URL+"/elsewhere")
			var told Told
			logged := tellOnce(t, Config{URL: i.URL + "/hook/secret"}, &told, example)
			if got := i.wait(tc.attempts); len(got) != tc.attempts || !strings.Contains(logged, tc.logged) || strings.Contains(logged, "hook") {
				t.Errorf("%d attempts, logged %s", len(got), logged)
			}
		})
	}
	logged := tellOnce(t, Config{URL: "http://127.0.0.1:1/hook/secret"}, new(Told), example)
	if !strings.Contains(logged, "connection refused") || strings.Contains(logged, "hook") {
		t.Errorf("logged is %s", logged)
	}
}

// TestRuns tells what lists have that is new, and nothing twice, over a reload too.
func TestRuns(t *testing.T) {
	i := newInbox(t, 200)
	c := Config{URL: i.URL, Wait: caddy.Duration(time.Second), Interval: caddy.Duration(time.Second)}
	var told Told
	begin := func() (tell func(alert.List), end func()) {
		receivers, err := New([]Config{c}, &told, new(counter), zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		receivers[0].terms.wait, receivers[0].terms.interval = time.Millisecond, time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		return Start(ctx, receivers, &told), cancel
	}
	tell, end := begin()
	tell(example)
	tell(example)
	i.wait(1)
	for g := told.group(i.URL); ; time.Sleep(time.Millisecond) { // until the answer is noted
		g.mu.Lock()
		noted := len(g.told)
		g.mu.Unlock()
		if noted > 0 {
			break
		}
	}
	end()
	tell, end = begin()
	defer end()
	tell(example)
	tell(alert.List{})
	got := i.wait(1)
	if len(got) != 2 || !strings.Contains(got[0].body, `"open":[{"id":"robots_gone-1"`) || !strings.Contains(got[1].body, `"over":[{"id":"robots_gone-1"`) {
		t.Errorf("%d messages: %+v", len(got), got)
	}
}
