package caddymodule

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// lists are the texts of lists of addresses by their URLs.
type lists map[string]string

// RoundTrip implements [http.RoundTripper].
func (l lists) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusNotFound, Header: make(http.Header), Body: http.NoBody, Request: r}
	if text, ok := l[r.URL.String()]; ok {
		answer.StatusCode, answer.Body = http.StatusOK, io.NopCloser(bytes.NewBufferString(text))
	}
	return answer, nil
}

// acme is a crawler whose addresses are in a list.
var acme = uaident.Crawler{Token: "AcmeBot", Operator: "Acme", Class: uaident.Search,
	Verification: uaident.Verification{Ranges: []string{"https://acme.test/bots.txt"}}}

// TestStorageLists has the lists of addresses after a restart, and on another
// instance, without asking for them again.
func TestStorageLists(t *testing.T) {
	ctx, m, now := context.Background(), newMemory(), time.Now()
	configured := func(id string) *instance {
		i := newInstance(m, id, now)
		if err := i.state.verifier.Configure(verify.Config{Crawlers: []uaident.Crawler{acme}, Ranges: true}); err != nil {
			t.Fatal(err)
		}
		i.read(ctx)
		return i
	}
	identity := func(i *instance) identity {
		return i.state.verifier.Check(&acme, netip.MustParseAddr("192.0.2.1")).State
	}
	a := configured("a")
	if got := identity(a); got != identityUnknown {
		t.Fatalf("%v before the list was read", got)
	}
	a.writeNotes(ctx, true)
	if m.writes != 0 {
		t.Fatal("lists that were never read are stored")
	}
	if err := a.state.verifier.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	a.state.onList(verify.ListStatus{})
	a.writeNotes(ctx, true)
	a.writeNotes(ctx, true)
	if m.writes != 1 {
		t.Errorf("%d writes, want 1", m.writes)
	}
	for _, id := range []string{"a", "b"} {
		again := configured(id)
		if got := identity(again); got != identityVerified {
			t.Errorf("%s: %v after a restart", id, got)
		}
		again.writeNotes(ctx, true)
	}
	if m.writes != 1 {
		t.Errorf("what was read is written again: %d writes", m.writes)
	}
}

// TestStorageListsDamaged sets aside what cannot be used, and goes without.
func TestStorageListsDamaged(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":            "{",
		"of a newer version": `{"version": 99}`,
		"too wide":           `{"version": 1, "lists": [{"url": "https://acme.test/bots.txt", "changed": "2026-11-20T00:00:00Z", "checked": "2026-11-20T00:00:00Z", "prefixes": ["0.0.0.0/0"]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			if err := m.Store(context.Background(), listsKey("a").String(), []byte(text)); err != nil {
				t.Fatal(err)
			}
			i := newInstance(m, "a", time.Now())
			if err := i.state.verifier.Configure(verify.Config{Crawlers: []uaident.Crawler{acme}, Ranges: true}); err != nil {
				t.Fatal(err)
			}
			i.read(context.Background())
			i.logged(t, "stored values cannot be used and are set aside")
			if got := i.state.verifier.Check(&acme, netip.MustParseAddr("8.8.8.8")).State; got == identitySpoofed || got == identityVerified {
				t.Errorf("a damaged list makes it %v", got)
			}
			if _, err := m.Load(context.Background(), "robots_guard/v1/a/set_aside/lists-ranges.json"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStorageListsOfTheDead removes what nobody has refreshed for a month.
func TestStorageListsOfTheDead(t *testing.T) {
	m, now := newMemory(), time.Now()
	if err := m.Store(context.Background(), listsKey("dead").String(), []byte(`{"version": 1, "lists": []}`)); err != nil {
		t.Fatal(err)
	}
	m.times[listsKey("dead").String()] = now.Add(-maxUnrefreshed)
	newInstance(m, "a", now).read(context.Background())
	if _, err := m.Load(context.Background(), listsKey("dead").String()); err == nil {
		t.Error("it is still there")
	}
}
