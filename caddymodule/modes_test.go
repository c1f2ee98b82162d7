package caddymodule

import (
	"maps"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// TestModes returns the mode of each site from the configuration, without a request of a crawler.
// The sites of decide have the hosts of the proxy, not the host of the guard.
func TestModes(t *testing.T) {
	const config = `{
	admin off
	persist_config off
	auto_https off
	log {
		output discard
	}
}
http://*.example.com:0 {
	robots_guard enforce
}
http://both.example.net:0 {
	robots_guard /a/*
	robots_guard /b/* enforce {
		change_guard 6h
	}
}
http://none.example.net:0 {
	respond 204
}
http://:0 {
	robots_guard
}
http://guard.internal:0 {
	robots_guard enforce {
		source https://{host}/robots.txt
		decide forwarded Shop.example.org *.example.org
	}
}
`
	text, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(config), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Load(text, true); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"*.example.com": "enforce", "both.example.net": "mixed", "_other": "mixed",
		"shop.example.org": "enforce", "*.example.org": "enforce"}
	if got := findRunningApp().modesBySite(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
}
