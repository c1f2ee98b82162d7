package robotstxt

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
)

func init() { caddy.RegisterModule(listener{}) }

// heard receives the events.
var heard = make(chan caddy.Event, 100)

// listener is an event handler.
type listener struct{}

func (listener) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.robots_txt_test", New: func() caddy.Module { return new(listener) }}
}

func (listener) Handle(_ context.Context, e caddy.Event) error {
	heard <- e
	return nil
}

var _ caddyevents.Handler = listener{}

// TestEventsOfChanges checks that event handlers in a running Caddy receive changes.
func TestEventsOfChanges(t *testing.T) {
	storage := t.TempDir()
	t.Cleanup(func() { _ = caddy.Stop() })
	load := func(rule string) {
		t.Helper()
		adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(fmt.Appendf(nil, `{
			admin off
			persist_config off
			storage file_system %s
			log {
				output discard
			}
		}
		http://a.test:0 {
			robots_txt {
				base none
				%s
			}
		}`, storage, rule), nil)
		if err != nil {
			t.Fatal(err)
		}
		with := append(adapted[:len(adapted)-2:len(adapted)-2], `,"events":{"subscriptions":[{"handlers":[{"handler":"robots_txt_test"}]}]}}}`...)
		if err := caddy.Load(with, true); err != nil {
			t.Fatal(err)
		}
	}
	tells := func(name, reasons string) {
		t.Helper()
		over := time.After(30 * time.Second)
		for {
			select {
			case e := <-heard:
				if e.Name() != name {
					continue
				}
				if e.Data["site"] != "a.test" || e.Data["reasons"] != reasons {
					t.Errorf("%s tells %v", name, e.Data)
				}
				return
			case <-over:
				t.Fatalf("nobody is told of %s", name)
			}
		}
	}
	load("disallow GPTBot")
	tells("robots_change_published", "")
	load("disallow bingbot")
	tells("robots_change_waiting", "bingbot may not fetch / any more")
	load("disallow GPTBot\nmax_age 2h")
	tells("robots_change_rejected", "bingbot may not fetch / any more")
}

// TestHandlerIsNotCopied checks that an event does not copy the handler while its configuration ends.
func TestHandlerIsNotCopied(t *testing.T) {
	if _, ok := any(Handler{}).(caddy.Module); ok {
		t.Error("CaddyModule copies the handler")
	}
}
