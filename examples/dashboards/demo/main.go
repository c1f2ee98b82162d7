// Command demo shows the dashboard with traffic. It serves two sites with the guard, and the
// dashboard, on the loopback interface, and lets crawlers visit the sites.
//
//	go run ./examples/dashboards/demo [-listen 127.0.0.1:8080]
//
// After a minute the robots.txt of one site changes. Press Ctrl-C to stop. The demo stores nothing.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/robotsguard/caddy-robots-guard" // the guard and the dashboard
)

//go:embed demo.caddyfile
var caddyfile string

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the address of the sites, on the loopback interface")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run serves and crawls until ctx ends.
func run(ctx context.Context, listen string, out io.Writer) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("-listen %s: the page has no password here, so it is for the loopback interface only, such as 127.0.0.1:8080", listen)
	}
	origin, err := startOrigin(time.Now())
	if err != nil {
		return err
	}
	defer origin.Close()

	text := strings.NewReplacer("$HOST", host, "$PORT", port, "$ORIGIN", origin.Addr).Replace(caddyfile)
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "demo.caddyfile"})
	if err != nil {
		return err
	}
	if err := caddy.Load(config, true); err != nil {
		return err
	}
	fmt.Fprintf(out, "The dashboard is at http://localhost:%s/robots-guard/ (end with Ctrl+C)\n", port)
	crawl(ctx, listen, port)
	return caddy.Stop()
}

// startOrigin serves the pages of both sites.
func startOrigin(start time.Time) (*http.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if r.URL.Path != "/robots.txt" {
			_, _ = fmt.Fprintf(w, "Hello from %s.\n", r.URL.Path) // fails if the client is gone
			return
		}
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, robots(strings.HasPrefix(r.Host, "shop."), time.Since(start)))
	})}
	go func() { _ = server.Serve(listener) }() // until Close
	return server, nil
}
