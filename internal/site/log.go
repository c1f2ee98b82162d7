package site

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// RequestLogField returns the field `request` of a log line, for a request as the client sent it.
// The field has the form of Caddy's access log, so an owner's log filters apply to it too.
func RequestLogField(r *http.Request) zap.Field {
	original := OriginalRequest(r)
	sent := r.WithContext(r.Context())
	sent.Method, sent.RequestURI = original.Method, RequestTarget(original)
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return zap.Object("request", caddyhttp.LoggableHTTPRequest{
		Request:              sent,
		ShouldLogCredentials: server != nil && server.Logs != nil && server.Logs.ShouldLogCredentials,
	})
}
