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
		"{\n secret {env.NOBODY_SETS_THIS}\n}":                           `{"URL":"https://a.test/","Secret":"{env.NOBODY_SETS_THIS}","Severity":"","Wait":0,"Interval":0,"CaddyfileLine":"Testfile:1"}`,
		"{\n secret {env.S}\n severity info\n wait 30s\n interval 1h\n}": `{"URL":"https://a.test/","Secret":"{env.S}","Severity":"info","Wait":30000000000,"Interval":3600000000000,"CaddyfileLine":""}`,
		"":                         `{"URL":"https://a.test/","Secret":"","Severity":"","Wait":0,"Interval":0,"CaddyfileLine":""}`,
		"{\n severity high\n}":     `unknown value "high" for severity; use critical, warning or info`,
		"{\n wait 2h\n}":           "wait 2h is out of range; use a time from 1s to 1h",
		"{\n interval 48h\n}":      "interval 2d is out of range",
		"{\n secret\n}":            "secret takes a secret, or a placeholder",
		"{\n wait 1s\n wait 2s\n}": "wait is set twice",
		"{\n format slack\n}":      `unrecognized option "format"; known are secret,`,
	} {
		c := ReceiverConfig{URL: "https://a.test/"}
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

// TestURLs checks what the error of each wrong URL says, and that it does not repeat the URL.
func TestURLs(t *testing.T) {
	t.Setenv("ALERTS_URL", "https://user:secret@a.test/")
	t.Setenv("SLACK_URL", "slack://secret@webhook")
	for url, want := range map[string]string{
		"":                            "needs a URL",
		"secret.test/hook":            "the value is not a URL; write the URL of a webhook, for example https://hooks.example.com/alerts",
		"ftp://secret.test/":          `unknown service "ftp"; use an http or https URL of a webhook, or one of bark, discord,`,
		"https:///secret":             "the URL has no host",
		"https://user:secret@a.test/": "sign messages with the option secret",
		"https://a.test/#secret":      "fragments",
		"{env.ALERTS_URL}":            "sign messages with the option secret",
		"{env.SLACK_URL}":             "write slack://hook:",
		"{env.NOBODY_SETS_THIS}":      "set the value of the placeholder",
		"https://hooks.slack.com/services/secret": "write the URL of the service slack: slack://hook:",
		"https://discord.com/api/webhooks/secret": "write the URL of the service discord: discord://<token>@<id>",
		"https://ntfy.sh/secret":                  "ntfy://",
		"slack://secret@webhook":                  "the URL is not valid for the service slack; write slack://hook:",
		"telegram://secret":                       "see https://shoutrrr.nickfedor.com/",
		"generic://a.test/secret":                 `unknown service "generic"`,
		"logger://":                               `unknown service "logger"`,
		"http://127.0.0.1:8000/":                  "",
		"discord://token@123":                     "",
		"ntfy://ntfy.example.com/alerts?title=x":  "",
	} {
		err := ValidateAll([]ReceiverConfig{{URL: url}})
		if err == nil {
			_, err = NewReceivers([]ReceiverConfig{{URL: url}}, new(counter), zap.NewNop())
		}
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(strings.ReplaceAll(err.Error(), "option secret", ""), "secret")) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	for name, all := range map[string][]ReceiverConfig{
		"the same URL twice":     {{URL: "https://a.test/"}, {URL: "https://a.test/"}},
		"too many":               make([]ReceiverConfig, maxReceivers+1),
		"a secret for a service": {{URL: "discord://token@123", Secret: "x"}},
	} {
		if err := ValidateAll(all); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
