package guard

import (
	"bufio"
	"net"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// passing is what an answer passes through. Handlers can do with it all that they can
// do with what is behind it.
type passing struct {
	caddyhttp.ResponseWriterWrapper
}

// passTo returns what passes an answer on to w.
func passTo(w http.ResponseWriter) passing {
	return passing{caddyhttp.ResponseWriterWrapper{ResponseWriter: w}}
}

// Flush implements [http.Flusher], which some handlers look for in place of
// [http.ResponseController].
func (p *passing) Flush() { _ = p.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (p *passing) FlushError() error { return http.NewResponseController(p.ResponseWriter).Flush() }

// Hijack implements [http.Hijacker].
func (p *passing) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(p.ResponseWriter).Hijack()
}
