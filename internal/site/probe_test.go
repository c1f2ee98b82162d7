package site

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func init() {
	caddy.RegisterModule(sourceProbe{})
	httpcaddyfile.RegisterHandlerDirective("source_probe", parseSourceProbe)
	httpcaddyfile.RegisterDirectiveOrder("source_probe", httpcaddyfile.Before, "redir")
}

// sourceProbe is a handler in place of the guard. A request with the header field Probe makes it
// fetch the robots.txt and respond with the result. Other requests pass.
type sourceProbe struct {
	Timeout caddy.Duration `json:"timeout,omitempty"`

	source *ServerSource
}

// virtuals is the number of virtual requests that reached a sourceProbe.
var virtuals atomic.Int64

func (sourceProbe) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.source_probe", New: func() caddy.Module { return new(sourceProbe) }}
}

func (p *sourceProbe) Provision(ctx caddy.Context) error {
	httpApp := func() *caddyhttp.App {
		app, err := ctx.AppIfConfigured("http")
		if err != nil {
			return new(caddyhttp.App)
		}
		return app.(*caddyhttp.App)
	}
	p.source = NewServerSource(true)
	p.source.Sites = &Sites{
		Servers: func() []*caddyhttp.Server { return slices.Collect(maps.Values(httpApp().Servers)) },
		ConfiguredPort: func(secure bool) int {
			if secure {
				return httpApp().HTTPSPort
			}
			return httpApp().HTTPPort
		},
		IsGuard: func(caddyhttp.MiddlewareHandler) bool { return false },
	}
	return nil
}

// parseSourceProbe parses "source_probe [<timeout>]".
func parseSourceProbe(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	p := sourceProbe{Timeout: caddy.Duration(20 * time.Second)}
	h.Next()
	if h.NextArg() {
		timeout, err := caddy.ParseDuration(h.Val())
		if err != nil {
			return nil, h.WrapErr(err)
		}
		p.Timeout = caddy.Duration(timeout)
	}
	return &p, nil
}

func (p *sourceProbe) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if IsGuardRequest(r.Context()) {
		virtuals.Add(1)
		caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
		return next.ServeHTTP(w, r)
	}
	if r.Header.Get("Probe") == "" {
		return next.ServeHTTP(w, r)
	}
	fetch, ok := p.source.Prepare(r, siteKey(r))
	if !ok {
		return caddyhttp.Error(http.StatusInternalServerError, fmt.Errorf("cannot be read"))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer time.AfterFunc(time.Duration(p.Timeout), func() { cancel(ErrFetchTimeout) }).Stop()
	start := time.Now()
	answer := fetch(ctx, nil)
	got := probed{Status: answer.Status, Header: answer.Header, Body: string(answer.Body), Took: time.Since(start)}
	if answer.Err != nil {
		got.Err = answer.Err.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(got)
}

// probed is a policy.Answer in the response of a sourceProbe.
type probed struct {
	Status int
	Header http.Header
	Body   string
	Err    string
	Took   time.Duration
}

// probedSite is a running Caddy whose sites have a source_probe.
type probedSite struct {
	t      *testing.T
	port   string
	client *http.Client
}

// loadProbed runs a Caddyfile with a global option block. It replaces PORT by the port, DIR by an
// empty directory, and HASH by the hash of the password "secret". It also replaces the names in
// pairs by their values.
func loadProbed(t *testing.T, options, sites string, pairs ...string) *probedSite {
	t.Helper()
	port := freePort(t)
	input := "{\n\tadmin off\n\tpersist_config off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tstorage_clean_interval off\n" +
		"\tlocal_certs\n\tgrace_period 1s\n\tstorage file_system \"DIR\"\n\tlog {\n\t\toutput discard\n\t}\n" + options + "\n}\n" + sites
	input = strings.NewReplacer(append([]string{"PORT", port, "DIR", t.TempDir(),
		"HASH", "$2a$04$LhjsTgeBnCnyPgHqLvqolOWeGPX6GxvYUulNIlxnm79lJLbRvX/l6"}, pairs...)...).Replace(input)
	config, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt(caddyfile.Format([]byte(input)), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, input)
	}
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	if err := caddy.Load(config, true); err != nil {
		t.Fatalf("%v\n%s", err, input)
	}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	transport := &http.Transport{
		DisableKeepAlives: true,
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // Caddy's own test CA
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}
	return &probedSite{t: t, port: port, client: &http.Client{Transport: transport}}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// get makes a request to a URL of a site and replaces PORT by the port.
func (s *probedSite) get(url string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, strings.ReplaceAll(url, "PORT", s.port), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	resp, err := s.client.Transport.RoundTrip(req)
	for end := time.Now().Add(10 * time.Second); err != nil && req.URL.Scheme == "https" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond) // Caddy issues the certificate in the background
		resp, err = s.client.Transport.RoundTrip(req)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(body)
}

// clientHeader has fields of a client that must not reach the origin with a virtual request.
var clientHeader = []string{
	"Cookie", "session=1", "Authorization", "Basic dTpw", "Range", "bytes=0-3", "If-None-Match", `"x"`,
	"If-Modified-Since", "Sat, 01 Jan 2050 00:00:00 GMT", "Accept-Encoding", "gzip, zstd, br", "Accept-Language", "xx",
	"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "gopher", "X-Forwarded-Host", "forged.test",
	"Forwarded", "for=203.0.113.9", "User-Agent", "EvilBot/1.0", "X-Custom", "1",
}

// probe makes the sourceProbe fetch the robots.txt for a request.
func (s *probedSite) probe(url string, header ...string) probed {
	s.t.Helper()
	if len(header) == 0 {
		header = clientHeader
	}
	resp, body := s.get(url, append([]string{"Probe", "1"}, header...)...)
	var got probed
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		s.t.Fatalf("%v: status %d, body %q", err, resp.StatusCode, body)
	}
	if resp.StatusCode != http.StatusOK {
		s.t.Errorf("the request itself was answered %d", resp.StatusCode)
	}
	return got
}

// originServer serves f and cancels hanging requests at the end of the test.
func originServer(t *testing.T, f http.HandlerFunc) (address string) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.Listener.Addr().String()
}

func (p probed) meaning() policy.AccessResult {
	a := policy.FetchResult{Status: p.Status}
	if p.Err != "" {
		a.Err = fmt.Errorf("%s", p.Err)
	}
	return a.AccessResult()
}
