package botauth

import (
	"strings"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	for _, test := range []struct {
		name   string
		agents []string
		err    string // part of it
	}{
		{"none", nil, ""},
		{"an origin", []string{"https://bot.example"}, ""},
		{"a host", []string{"bot.example"}, ""},
		{"a port", []string{"bot.example:8443"}, ""},
		{"an address", []string{"https://[2001:db8::1]"}, ""},
		{"two ports of one host", []string{"bot.example", "bot.example:8443"}, ""},
		{"one agent twice", []string{"bot.example", "https://BOT.example:443/"}, "named twice"},
		{"http", []string{"http://bot.example"}, "not a host name or an https origin"},
		{"the URL of a directory", []string{"https://bot.example/.well-known/http-message-signatures-directory"}, ""},
		{"a path", []string{"bot.example/x"}, "not a host name or an https origin"},
		{"nothing", []string{""}, "not a host name or an https origin"},
		{"a wildcard", []string{"*.example"}, "not a host name or an https origin"},
		{"no ASCII", []string{"böt.example"}, "not a host name or an https origin"},
		{"no address", []string{"https://[x]"}, "not a host name or an https origin"},
		{"an empty port", []string{"bot.example:"}, "not a host name or an https origin"},
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

func TestExportImport(t *testing.T) {
	f := warm(t)
	kept, err := f.Export("BOT.example")
	if err != nil {
		t.Fatal(err)
	}
	none := func(*Options) {}
	for _, test := range []struct {
		name   string
		data   string
		after  time.Duration
		change func(*Options)
		err    string
		want   Reason // of a request then
	}{
		{"at once", string(kept), 0, none, "", Verified},
		{"out of date", string(kept), 24 * time.Hour, none, "", Verified},
		{"too old", string(kept), 25 * time.Hour, none, "too long ago", DirectoryPending},
		{"from the future", string(kept), -2 * time.Minute, none, "in the future", DirectoryPending},
		{"an agent that is not allowed any more", string(kept), 0, func(o *Options) { o.Agents = nil }, "not allowed", AgentNotAllowed},
		{"with a longer life than may be", strings.Replace(string(kept), `"expires":"2026-`, `"expires":"2036-`, 1), 48 * time.Hour, none, "too long ago", DirectoryPending},
		{"with another key's label", strings.Replace(string(kept), keyID(testKey("bot")), keyID(testKey("other")), 1), 0, none, "", KeyUnknown},
		{"broken", string(kept[:len(kept)-1]), 0, none, "kept directory", DirectoryPending},
		{"without a directory", strings.Replace(string(kept), `"keys"`, `"k"`, 1), 0, none, "no keys member", DirectoryPending},
		{"too large", string(kept) + strings.Repeat(" ", 2*MaxDirectory), 0, none, "too large", DirectoryPending},
		{"nothing", "", 0, none, "kept directory", DirectoryPending},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, status(503, ""), test.change)
			f.clock.add(test.after)
			err := f.Import([]byte(test.data))
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			got := f.Check(f.signed(0))
			if f.wg.Wait(); test.want == KeyUnknown {
				got = f.Check(f.signed(0)) // after the fetch that it causes
			}
			expect(t, got, test.want)
		})
	}
	t.Run("the newer one stays", func(t *testing.T) {
		f := newFixture(t, ok(directoryOf()))
		f.clock.add(time.Second)
		if err := f.Refresh(t.Context(), testAgent); err != nil {
			t.Fatal(err)
		}
		if err := f.Import(kept); err != nil {
			t.Fatal(err)
		}
		if got := f.Directories()[0]; got.Keys != 0 {
			t.Errorf("%d keys", got.Keys)
		}
	})
	t.Run("nothing to export", func(t *testing.T) {
		f := newFixture(t, nil)
		if data, err := f.Export(testAgent); data != nil || err != nil {
			t.Errorf("got %q, %v", data, err)
		}
		if _, err := f.Export("x.example"); err == nil {
			t.Error("no error for an agent that is not allowed")
		}
	})
}

func TestNames(t *testing.T) {
	names, texts := map[string]bool{}, map[string]bool{}
	for r := range numReasons {
		names[r.String()], texts[r.Explain()] = true, true
		if r.State() >= numStates {
			t.Errorf("%v has no state", r)
		}
	}
	if len(names) != int(numReasons) || len(texts) != int(numReasons) || names[""] || texts[""] {
		t.Error("reasons without a name or text of their own")
	}
	for s, want := range map[State]string{None: "none", Unknown: "unknown", Valid: "valid", Invalid: "invalid", numStates: "out of range"} {
		if s.String() != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
	const want = "the nonce was used before (agent https://bot.example, key k)"
	if got := (Result{State: Invalid, Reason: Replayed, Agent: testAgent, KeyID: "k"}).Explain(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
