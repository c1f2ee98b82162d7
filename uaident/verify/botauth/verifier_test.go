package botauth

import (
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	for _, test := range []struct {
		name   string
		agents []string
		err    string // a part of the error
	}{
		{"none", nil, ""},
		{"an origin", []string{"https://bot.example"}, ""},
		{"a host", []string{"bot.example"}, ""},
		{"a port", []string{"bot.example:8443"}, ""},
		{"an address", []string{"https://[2001:db8::1]"}, ""},
		{"two ports of one host", []string{"bot.example", "bot.example:8443"}, ""},
		{"one agent twice", []string{"bot.example", "https://BOT.example:443/"}, "duplicate agent"},
		{"http", []string{"http://bot.example"}, "not a host name or an https origin"},
		{"the URL of a directory", []string{"https://bot.example/.well-known/http-message-signatures-directory"}, ""},
		{"a path", []string{"bot.example/x"}, "not a host name or an https origin"},
		{"nothing", []string{""}, "not a host name or an https origin"},
		{"a wildcard", []string{"*.example"}, "not a host name or an https origin"},
		{"not ASCII", []string{"böt.example"}, "not a host name or an https origin"},
		{"invalid address", []string{"https://[x]"}, "not a host name or an https origin"},
		{"empty port", []string{"bot.example:"}, "not a host name or an https origin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			agents := map[string]string{}
			for _, agent := range test.agents {
				agents[agent] = "Example"
			}
			v, err := New(Options{Agents: agents})
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if err == nil {
				v.Close()
			}
		})
	}
}
