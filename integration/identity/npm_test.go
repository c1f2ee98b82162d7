package identity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const npmSigner = "testdata/web-bot-auth"

// otherSigner signs requests with the npm package web-bot-auth.
type otherSigner struct {
	directory []byte
	sign      func(form, url, agent string, created time.Time) (fields map[string]string)
}

// newOtherSigner starts the signer. If Node.js or the package is missing, it skips the
// test, or fails it if REQUIRE_NPM is set as in CI.
func newOtherSigner(t *testing.T) *otherSigner {
	t.Helper()
	in, lines := harness.Node(t, npmSigner, "web-bot-auth", "REQUIRE_NPM", "sign.mjs")
	line := func() []byte {
		t.Helper()
		text, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("web-bot-auth: %v", err)
		}
		return text
	}
	s := &otherSigner{directory: line()}
	s.sign = func(form, url, agent string, created time.Time) (fields map[string]string) {
		t.Helper()
		request, err := json.Marshal(map[string]any{
			"form": form, "url": url, "agent": agent, "created": created.UnixMilli(), "expires": created.Add(time.Hour).UnixMilli(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write(append(request, '\n')); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line(), &fields); err != nil {
			t.Fatal(err)
		}
		return fields
	}
	return s
}

// TestSignedByOthers verifies signatures of another implementation.
func TestSignedByOthers(t *testing.T) {
	t.Parallel()
	skipWithoutRoots(t)
	other, operator := newOtherSigner(t), newSigner(t)
	directory := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/http-message-signatures-directory" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/http-message-signatures-directory+json")
		_, _ = w.Write(other.directory) // fails if the client has disconnected
	})
	operator.answer.Store(&directory)
	s := signing(t, operator, "crawler AcmeBot {\n web_bot_auth "+operator.agent+"\n}")
	const path = "/page?q=%41&x=1"
	signed := func(form, url string, created time.Time) func(*http.Request) {
		fields := other.sign(form, url, operator.agent, created)
		return func(r *http.Request) {
			for name, value := range fields {
				r.Header.Set(name, value)
			}
		}
	}
	identity := func(change func(*http.Request)) string {
		return harness.Get(t, s.URL(path), acmeUA, change).Header.Get("X-Identity")
	}
	harness.Eventually(t, "one is verified", func() bool { return identity(signed("string", s.URL(path), time.Now())) == "verified" })
	for _, form := range []string{"string", "dictionary", "everything"} {
		once := signed(form, s.URL(path), time.Now())
		for _, row := range []struct {
			name, want string
			change     func(*http.Request)
		}{
			{"unchanged", "verified", once},
			{"sent again", "claimed", once},
			{"half an hour old, with a nonce", "verified", signed(form, s.URL(path), time.Now().Add(-30*time.Minute))},
			{"expired", "claimed", signed(form, s.URL(path), time.Now().Add(-time.Hour))},
			{"from the future", "claimed", signed(form, s.URL(path), time.Now().Add(10*time.Minute))},
			{"for another host", "claimed", signed(form, fmt.Sprintf("http://b.test:%s%s", s.Port, path), time.Now())},
		} {
			if got := identity(row.change); got != row.want {
				t.Errorf("%s, %s: %q, want %q", form, row.name, got, row.want)
			}
		}
		want := map[string]string{"string": "verified", "dictionary": "verified", "everything": "claimed"}[form]
		if got := identity(signed(form, s.URL("/else"), time.Now())); got != want {
			t.Errorf("%s, for another path: %q, want %q", form, got, want)
		}
	}
	if got := identity(signed("member", s.URL(path), time.Now())); got != "claimed" {
		t.Errorf("a signature of the whole field instead of the member: %q", got)
	}
}
