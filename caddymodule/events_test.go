package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	caddy.RegisterModule(parityReceiver{})
}

// parityReceiver is an event handler that sends the data of an event to parityEvents.
type parityReceiver struct{}

// parityEvents has room for the only event of TestParityEvent.
var parityEvents = make(chan map[string]any, 1)

func (parityReceiver) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.test_parity", New: func() caddy.Module { return new(parityReceiver) }}
}

func (*parityReceiver) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }

func (*parityReceiver) Handle(_ context.Context, e caddy.Event) error {
	parityEvents <- e.Data
	return nil
}

var _ caddyevents.Handler = (*parityReceiver)(nil)

// TestParityEvent subscribes to the findings of the response audit in a Caddyfile. The subscriber gets
// an event for a crawler that gets a web page instead of robots.txt.
func TestParityEvent(t *testing.T) {
	host := fmt.Sprintf("run%d.example", time.Now().UnixNano()) // the state of an earlier run may still exist
	config := `{
	admin off
	persist_config off
	log {
		output discard
	}
	robots_guard {
		storage off
	}
	events {
		on robots_parity test_parity
	}
}
http://` + host + `:0 {
	robots_guard
	@challenged header User-Agent *GPTBot*
	handle @challenged {
		header Content-Type text/html
		respond "<!doctype html><title>One moment</title>"
	}
	respond /robots.txt "User-agent: *
Disallow: /private/
"
}
`
	text, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(config), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Load(text, true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		t.Fatal(err)
	}
	server := app.(*caddyhttp.App).Servers["srv0"]
	get := func(from, path string) {
		r := httptest.NewRequest(http.MethodGet, "http://"+host+path, nil)
		r.RemoteAddr = from + ":1234"
		r.Header.Set("User-Agent", "GPTBot/1.3")
		server.ServeHTTP(httptest.NewRecorder(), r)
	}
	// Unverified clients of three networks are evidence enough.
	for _, from := range []string{"203.0.113.1", "198.51.100.1", "203.0.112.1"} {
		get(from, "/robots.txt")
		get(from, "/page")
	}
	deadline := time.After(time.Minute)
	for {
		findRunningState().Alerts.List() // updates the alerts if the last update was a second ago
		select {
		case data := <-parityEvents:
			if data["site"] != host || data["crawler"] != "GPTBot" || data["finding"] != "robots_withheld" || data["over"] != false {
				t.Errorf("%v", data)
			}
			return
		case <-deadline:
			t.Fatal("no event")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
