package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap/zapcore"
)

// TestLogField logs a request as the client sent it, also behind a rewrite, and credentials
// only if the server logs them.
func TestLogField(t *testing.T) {
	for _, credentials := range []bool{false, true} {
		r := httptest.NewRequest(http.MethodPost, "/sent?x", nil)
		r.Header.Set("Cookie", "secret")
		ctx := context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, *r)
		ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.ClientIPVarKey: "192.0.2.7"})
		ctx = context.WithValue(ctx, caddyhttp.ServerCtxKey, &caddyhttp.Server{Logs: &caddyhttp.ServerLogConfig{ShouldLogCredentials: credentials}})
		rewritten := r.Clone(ctx)
		rewritten.Method, rewritten.RequestURI, rewritten.URL.Path = http.MethodGet, "/rewritten", "/rewritten"
		fields := zapcore.NewMapObjectEncoder()
		RequestLogField(rewritten).AddTo(fields)
		got := fields.Fields["request"].(map[string]any)
		if got["method"] != http.MethodPost || got["uri"] != "/sent?x" || got["client_ip"] != "192.0.2.7" {
			t.Errorf("logged %v", got)
		}
		want := "REDACTED"
		if credentials {
			want = "secret"
		}
		if cookie := got["headers"].(map[string]any)["Cookie"].([]any)[0]; cookie != want {
			t.Errorf("cookie %v, want %s", cookie, want)
		}
	}
}
