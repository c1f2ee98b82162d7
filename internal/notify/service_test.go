package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// TestExamples are URLs that their services accept once the words in <> are replaced.
func TestExamples(t *testing.T) {
	for name, example := range exampleURLs {
		raw := regexp.MustCompile(`<[a-z]+>`).ReplaceAllString(example, "123456")
		if name == "telegram" {
			raw = strings.Replace(raw, "123456@", "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@", 1)
		}
		if d, err := newDestination(raw, ""); err != nil || d.name != name {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestServices sends an alert through services that can be pointed at a test server.
func TestServices(t *testing.T) {
	const want = `critical: The robots.txt of a.test is gone
Line 2, \"Disallow: /*_<` + "\u200b" + `b>@` + "\u200b" + `channel\" [x]` + "\u200b" + `(y).
Bring it back.
curl -i http://a.test/robots.txt

(Robots Guard on web1)`
	for name, path := range map[string]string{
		"mattermost": "/token-1/channel?disabletls=yes",
		"gotify":     "/Aaa.bbb.ccc.ddd?disabletls=yes",
		"ntfy":       "/alerts?scheme=http",
	} {
		t.Run(name, func(t *testing.T) {
			i := newInbox(t, 200)
			host := strings.TrimPrefix(i.URL, "http://")
			sendOnce(t, ReceiverConfig{URL: name + "://" + host + path}, example)
			got := strings.NewReplacer(`\n`, "\n", `\u003c`, "<", `\u003e`, ">").Replace(i.wait(1)[0].body)
			if !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), strings.ReplaceAll(want, `\"`, `"`)) {
				t.Errorf("sent is %s, want %s", got, want)
			}
		})
	}
}

// echo is a transport whose answers and errors repeat all that was requested.
type echo struct{ fails bool }

func (e echo) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		data, _ := io.ReadAll(r.Body)
		body = string(data)
	}
	said := fmt.Sprintf("%s %s %v %s", r.Method, r.URL, r.Header, body)
	if e.fails {
		return nil, errors.New(said)
	}
	answer, _ := json.Marshal(map[string]any{"ok": false, "description": said})
	return &http.Response{StatusCode: http.StatusBadRequest, Status: "400 " + said, Body: io.NopCloser(bytes.NewReader(answer)), Header: http.Header{}, Request: r}, nil
}

// TestNoSecrets sends through services whose receivers repeat the request in their answers
// and errors. No part of the URL may be in the error.
func TestNoSecrets(t *testing.T) {
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	for name, raw := range map[string]string{
		"slack":      "slack://hook:SECRET001-SECRET002-SECRET003SECRET003SECRET@webhook",
		"slack bot":  "slack://xoxb:123456789012-123456789012-SECRET003SECRET003SECRET@C001CHANNEL",
		"discord":    "discord://SECRET_token-001@123456789",
		"telegram":   "telegram://110201543:SECRETcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=@SECRETchat",
		"gotify":     "gotify://127.0.0.1:1/Asecret01.secret",
		"opsgenie":   "opsgenie://127.0.0.1:1/SECRET-0001-secret",
		"pushbullet": "pushbullet://o.SECRETsecretSECRETsecretSECRET01",
		"ifttt":      "ifttt://SECRETkey0123456789/?events=event1",
		"join":       "join://shoutrrr:SECRETkey01234@join/?devices=SECRETdevice",
		"pushover":   "pushover://shoutrrr:SECRETtoken@SECRETuser/",
		"googlechat": "googlechat://chat.googleapis.com/v1/spaces/SECRETs/messages?key=SECRETkey&token=SECRETtoken",
		"zulip":      "zulip://SECRETbot-bot%40zulipchat.com:SECRETkey@example.zulipchat.com?stream=a&topic=b",
		"rocketchat": "rocketchat://127.0.0.1:1/SECRETtokenA/SECRETtokenB/channel",
		"mattermost": "mattermost://127.0.0.1:1/SECRETtoken",
		"ntfy":       "ntfy://SECRETuser:SECRETpass@127.0.0.1:1/SECRETtopic",
		"smtp":       "smtp://SECRETuser:SECRETpass@127.0.0.1:1/?from=SECRETfrom@example.com&to=SECRETto@example.com",
	} {
		for _, fails := range []bool{true, false} {
			http.DefaultTransport = echo{fails}
			d, err := newDestination(raw, "")
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			_, err = d.send(t.Context(), Message{Server: "web1", OpenAlerts: example})
			if err == nil || strings.Contains(strings.ToUpper(err.Error()), "SECRET") || len(err.Error()) > 2*maxErrorBytes {
				t.Errorf("%s: %v", name, err)
			}
			if strings.Contains(d.name, "SECRET") {
				t.Errorf("%s is called %s", name, d.name)
			}
		}
	}
}

// TestSecretsIn finds the parts of a URL, in each form.
func TestSecretsIn(t *testing.T) {
	u, err := url.Parse("smtp://me%40a.test:p%20ss-word@mail.a.test:25/pa-th?from=x%2By@z.test&tls=no")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(listSecrets(u), " ") + " "
	for _, want := range []string{"me@a.test", "me%40a.test", "p ss-word", "p%20ss-word", "p+ss-word", "word", "mail.a.test:25", "pa-th", "x+y@z.test"} {
		if !strings.Contains(got, want+" ") {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// TestSlow gives up on a service that does not answer, and starts no second attempt while
// the first one runs.
func TestSlow(t *testing.T) {
	u, _ := url.Parse("discord://token@123")
	s := &shoutrrrService{u, u.String(), make(chan struct{}, 1)}
	s.sendLock <- struct{}{}
	if _, err := s.send(t.Context(), Message{}); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Error(err)
	}
}

// TestText cuts messages to the limit, between paragraphs if there are several.
func TestText(t *testing.T) {
	m := Message{Server: "web1"}
	for range maxAlertsPerMessage {
		a := example[0]
		a.Detail = strings.Repeat("*x@<", 100)
		m.OpenAlerts = append(m.OpenAlerts, a)
	}
	for _, n := range []int{1, maxAlertsPerMessage} {
		for _, most := range []int{300, maxPushoverBytes, maxTextBytes} {
			short := m
			short.OpenAlerts = m.OpenAlerts[:n]
			got := short.plainText(most)
			whole := short.plainText(1 << 20)
			if len(got) > most || !strings.HasSuffix(got, "…") && got != whole {
				t.Errorf("%d alerts, at most %d bytes: %d bytes, end %q", n, most, len(got), got[max(0, len(got)-20):])
			}
		}
	}
	over := Message{Server: "web1", EndedAlerts: []alert.Alert{{Title: "See http://evil.test\nnow"}}, OmittedCount: 3}
	if got, want := over.plainText(maxTextBytes), "over: See http:\u200b//evil.test?now\n\nand 3 more\n\n(Robots Guard on web1)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTest sends a test message at once, in the form of the receiver.
func TestTest(t *testing.T) {
	good, bad := newInbox(t, 200), newInbox(t, 404)
	receivers, err := NewReceivers([]ReceiverConfig{
		{URL: good.URL + "/hook", Secret: "x"}, {URL: bad.URL + "/secret"},
		{URL: "ntfy://" + strings.TrimPrefix(good.URL, "http://") + "/topic?scheme=http"},
	}, new(counter), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	got := SendTestMessages(t.Context(), receivers)
	want := []TestResult{{good.URL, true, ""}, {bad.URL, false, "the receiver answers status 404; check the URL"}, {"ntfy", true, ""}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	bodies := ""
	for _, sent := range good.wait(2) {
		bodies += sent.body
	}
	if !strings.Contains(bodies, `"test":true,"open":[],"over":[]`) || !strings.Contains(bodies, "This is a test.") || time.Since(start) > 5*time.Second {
		t.Errorf("sent is %s", bodies)
	}
}
