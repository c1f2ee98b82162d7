package notify

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"
)

// TestCaddyfile reads the block of a receiver.
func TestCaddyfile(t *testing.T) {
	t.Setenv("S", "secret")
	for text, want := range map[string]string{
		"{\n secret {env.NOBODY_SETS_THIS}\n}":                                                    `{"url":"https://a.test/","secret":"{env.NOBODY_SETS_THIS}","at":"Testfile:1"}`,
		"{\n format slack\n secret {env.S}\n token t\n severity info\n wait 30s\n interval 1h\n}": `{"url":"https://a.test/","format":"slack","secret":"{env.S}","token":"t","severity":"info","wait":30000000000,"interval":3600000000000}`,
		"":                         `{"url":"https://a.test/"}`,
		"{\n format irc\n}":        `unknown value "irc" for format; use generic, slack, mattermost, discord or ntfy`,
		"{\n severity high\n}":     `unknown value "high" for severity; use critical, warning or info`,
		"{\n wait 2h\n}":           "wait 2h cannot be; use a time from 1s to 1h",
		"{\n interval 48h\n}":      "interval 2d cannot be",
		"{\n secret\n}":            "secret takes a secret, or a placeholder",
		"{\n wait 1s\n wait 2s\n}": "wait is set twice",
		"{\n headers x\n}":         `unrecognized option "headers"; known are format, secret,`,
	} {
		c := Config{URL: "https://a.test/"}
		d := caddyfile.NewTestDispenser("notify " + text)
		d.Next()
		got := ""
		if err := c.UnmarshalCaddyfile(d); err != nil {
			got = err.Error()
		} else {
			data, _ := json.Marshal(c)
			got = string(data)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestTargets says what is wrong with a URL without repeating it.
func TestTargets(t *testing.T) {
	t.Setenv("ALERTS_URL", "https://user:secret@a.test/")
	for url, want := range map[string]string{
		"":                                 "needs a URL",
		"secret.test/hook":                 "is no http or https URL",
		"ftp://secret.test/":               "is no http or https URL",
		"https://user:secret@a.test/":      "see the option token",
		"https://a.test/#secret":           "fragments",
		"{env.ALERTS_URL}":                 "see the option token",
		"{env.NOBODY_SETS_THIS}":           "set what stands between the braces",
		"https://ntfy.sh/":                 "ends with a topic",
		"https://hooks.slack.com/x":        "",
		"https://discord.com/api/webhooks": "",
		"https://ntfy.sh/alerts":           "",
		"http://127.0.0.1:8000/":           "",
	} {
		err := ValidateAll([]Config{{URL: url}})
		if err == nil {
			_, err = New([]Config{{URL: url}}, new(Told), new(counter), zap.NewNop())
		}
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if err := ValidateAll([]Config{{URL: "https://a.test/"}, {URL: "https://a.test/"}}); err == nil {
		t.Error("the same URL twice is taken")
	}
	if err := ValidateAll(make([]Config, maxReceivers+1)); err == nil {
		t.Error("any number of receivers is taken")
	}
}
