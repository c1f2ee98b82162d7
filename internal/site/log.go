package site

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// LogField returns a request as the field `request` of a log line: the object of Caddy's access
// log, for the request as the client sent it. An owner's filters then apply to both.
func LogField(r *http.Request) zap.Field {
	original := OriginalRequest(r)
	sent := r.WithContext(r.Context())
	sent.Method, sent.RequestURI = original.Method, TargetOf(original)
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return zap.Object("request", caddyhttp.LoggableHTTPRequest{
		Request:              sent,
		ShouldLogCredentials: server != nil && server.Logs != nil && server.Logs.ShouldLogCredentials,
	})
}
