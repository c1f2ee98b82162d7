package store

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// served are address lists by URL.
type served map[string]string

// RoundTrip implements [http.RoundTripper].
func (l served) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusNotFound, Header: make(http.Header), Body: http.NoBody, Request: r}
	if text, ok := l[r.URL.String()]; ok {
		answer.StatusCode, answer.Body = http.StatusOK, io.NopCloser(bytes.NewBufferString(text))
	}
	return answer, nil
}

// acme is a crawler with an address list.
var acme = uaident.Crawler{Token: "AcmeBot", Operator: "Acme", Class: uaident.Search,
	Verification: uaident.Verification{Ranges: []string{"https://acme.test/bots.txt"}}}

// TestStorageLists restores address lists after a restart and at another instance, without a fetch.
func TestStorageLists(t *testing.T) {
	ctx, m, now := context.Background(), storetest.New(), time.Now()
	configured := func(id string) *instance {
		i := newInstance(m, id, now)
		if err := i.verifier.Configure(verify.Config{Crawlers: []uaident.Crawler{acme}, Ranges: true}); err != nil {
			t.Fatal(err)
		}
		i.Read(ctx)
		return i
	}
	identity := func(i *instance) verify.State {
		return i.verifier.Check(&acme, netip.MustParseAddr("192.0.2.1")).State
	}
	a := configured("a")
	if got := identity(a); got != verify.Unknown {
		t.Fatalf("%v before the list was read", got)
	}
	a.writeAll(ctx, true)
	if m.WriteAttempts != 0 {
		t.Fatal("lists that were never read are stored")
	}
	a.verifier.Explain(ctx, &acme, netip.MustParseAddr("192.0.2.1"), true) // fetches the list
	a.fetched++
	a.writeAll(ctx, true)
	a.writeAll(ctx, true)
	if m.WriteAttempts != 1 {
		t.Errorf("%d writes, want 1", m.WriteAttempts)
	}
	for _, id := range []string{"a", "b"} {
		again := configured(id)
		if got := identity(again); got != verify.Verified {
			t.Errorf("%s: %v after a restart", id, got)
		}
		again.writeAll(ctx, true)
	}
	if m.WriteAttempts != 1 {
		t.Errorf("what was read is written again: %d writes", m.WriteAttempts)
	}
}

// TestStorageListsDamaged moves an invalid value aside and continues without it.
func TestStorageListsDamaged(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":            "{",
		"of a newer version": `{"version": 99}`,
		"too wide":           `{"version": 1, "lists": [{"url": "https://acme.test/bots.txt", "changed": "2026-11-20T00:00:00Z", "checked": "2026-11-20T00:00:00Z", "prefixes": ["0.0.0.0/0"]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := storetest.New()
			if err := m.Store(context.Background(), key{"a", kindNotes, rangesName}.String(), []byte(text)); err != nil {
				t.Fatal(err)
			}
			i := newInstance(m, "a", time.Now())
			if err := i.verifier.Configure(verify.Config{Crawlers: []uaident.Crawler{acme}, Ranges: true}); err != nil {
				t.Fatal(err)
			}
			i.Read(context.Background())
			i.logged(t, "stored values cannot be used and are set aside")
			if got := i.verifier.Check(&acme, netip.MustParseAddr("8.8.8.8")).State; got == verify.Spoofed || got == verify.Verified {
				t.Errorf("a damaged list makes it %v", got)
			}
			if _, err := m.Load(context.Background(), "robots_guard/v1/a/set_aside/notes-ranges.json"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStorageListsOfTheDead removes values that were not refreshed for a month.
func TestStorageListsOfTheDead(t *testing.T) {
	m, now := storetest.New(), time.Now()
	if err := m.Store(context.Background(), key{"dead", kindNotes, rangesName}.String(), []byte(`{"version": 1, "lists": []}`)); err != nil {
		t.Fatal(err)
	}
	m.ModTimes[key{"dead", kindNotes, rangesName}.String()] = now.Add(-maxValueAge)
	newInstance(m, "a", now).Read(context.Background())
	if _, err := m.Load(context.Background(), key{"dead", kindNotes, rangesName}.String()); err == nil {
		t.Error("it is still there")
	}
}
