package guard

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// silentNames is a DNS resolver that does not respond.
type silentNames struct{}

func (silentNames) LookupPTR(context.Context, netip.Addr) ([]string, error) {
	return nil, errors.New("no answer")
}

func (silentNames) LookupAddr(context.Context, string, netip.Addr) ([]netip.Addr, error) {
	return nil, errors.New("no answer")
}

// signingGuard returns a guard that verifies clients only by signatures.
func signingGuard(t *testing.T, logger *zap.Logger) *Guard {
	t.Helper()
	verifier := verify.New(verify.Options{Resolver: silentNames{}})
	t.Cleanup(verifier.Close)
	signatures, err := botauth.New(botauth.Options{Agents: map[string]string{"https://bot.example": "OpenAI"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(signatures.Close)
	g := testGuard(t, options{}, serving(mixedRobots))
	g.Identity = &identity.Checker{
		Verifier: verifier, OnSignature: func(botauth.Reason) {}, Logger: logger,
	}
	g.Identity.Signatures.Store(signatures)
	return g
}

// signedRequest returns a request of GPTBot with the given Signature-Input.
func signedRequest(input string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://example.com/x", nil)
	r.RequestURI = "/x"
	r.Header.Set("User-Agent", "GPTBot/1.3")
	if input != "" {
		r.Header.Set("Signature-Input", input)
		r.Header.Set("Signature", "x=:eA==:")
	}
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
}

// TestSignatureInLog checks that the result of a signature is logged once for each
// request.
func TestSignatureInLog(t *testing.T) {
	for _, tc := range []struct{ name, input, want string }{
		{"none", "", ""},
		{"one with another tag", `x=("@authority");tag="other"`, "no_signature"},
		{"one that says little", `x=("@authority");tag="web-bot-auth"`, "missing_parameter"},
		{"no structured field", "(", "no_signature"},
		{"one that has expired", `x=("@authority");created=1;expires=2;keyid="k";alg="ed25519";tag="web-bot-auth"`, "expired"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			core, logs := observer.New(zap.DebugLevel)
			g, r := signingGuard(t, zap.New(core)), signedRequest(tc.input)
			for range 2 { // a site may have two guards, and a matcher also verifies
				j := g.Judge(r)
				fields := zapcore.NewMapObjectEncoder()
				if err := j.MarshalLogObject(fields); err != nil {
					t.Fatal(err)
				}
				if got, _ := fields.Fields["signature"].(string); got != tc.want {
					t.Errorf("the verdict says %q, want %q", got, tc.want)
				}
			}
			lines := logs.FilterMessage("signature checked").All()
			if (len(lines) == 1) != (tc.want != "") {
				t.Fatalf("%d lines", len(lines))
			}
			for _, line := range lines {
				if got := line.ContextMap()["signature"]; got != tc.want || line.Level != zap.DebugLevel {
					t.Errorf("the line says %v at level %v, want %q", got, line.Level, tc.want)
				}
			}
		})
	}
}
