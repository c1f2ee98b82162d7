package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ServerSource fetches the robots.txt that the site serves to anonymous clients. It sends the
// guard's own request through the whole server. The next handler is not enough: inside handle,
// route or handle_path, or after a rewrite, the robots.txt may be in another route.
type ServerSource struct {
	// ClientAddr is the client address of the guard's own requests. The zero Addr means the
	// default, which is outside of the owner's network.
	ClientAddr netip.Addr

	// Sites are the sites of the configuration. Redirects to the robots.txt of these sites stay
	// within Caddy, see hostsAtRedirectTarget. If Sites is nil, all redirects to other hosts use
	// the network.
	Sites *Sites

	outbound        *outboundClient
	runningRequests atomic.Int32
	bypassOnce      sync.Map // The key is a *caddyhttp.Server. The value is the *sync.Once for adding the bypasses.
}

// maxRunningRequests bounds the guard's own running requests of a handler, including abandoned ones
// that ignore their cancellation.
const maxRunningRequests = 256

// NewServerSource returns a ServerSource. allowPrivate permits redirects to addresses inside the
// owner's network.
func NewServerSource(allowPrivate bool) *ServerSource {
	return &ServerSource{outbound: newOutboundClient(allowPrivate)}
}

// Prepare implements [Source]. ok is false if the context of r has no Caddy server.
func (s *ServerSource) Prepare(r *http.Request, key policy.Key) (fetch FetchFunc, ok bool) {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return nil, false
	}
	s.bypassHealthChecks(server)
	client := newApparentClient(server, s.ClientAddr)
	template := newRequestTemplate(r, key, client)
	ownAuthority, isProxied := newAuthority(template), client.isForwarded(r)
	return func(ctx context.Context, stored *policy.Version) policy.FetchResult {
		return FollowRedirects(ctx, ownAuthority.urlOfPath("/robots.txt"), ownAuthority.includesURL, conditionalHeader(stored), func(ctx context.Context, u *url.URL, conditions http.Header) policy.FetchResult {
			if ownAuthority.includesURL(u) {
				return s.serveGuardRequest(ctx, server, template, u, conditions)
			}
			if hosts := s.hostsAtRedirectTarget(u, ownAuthority, server); hosts != nil && !isProxied {
				if other := s.requestTemplateForHost(u, hosts, template); other != nil {
					s.bypassHealthChecks(hosts.Server)
					return s.serveGuardRequest(ctx, hosts.Server, other, u, conditions)
				}
			}
			return s.outbound.get(ctx, u, conditions)
		})
	}, true
}

// bypassHealthChecks adds a [healthCheckBypass] to the proxies of a server, once for each server.
func (s *ServerSource) bypassHealthChecks(server *caddyhttp.Server) {
	once, _ := s.bypassOnce.LoadOrStore(server, new(sync.Once))
	once.(*sync.Once).Do(func() { bypassHealthChecks(server) })
}

// newRequestTemplate returns the template for the guard's own requests about a site. It copies only
// the parts of r that select the site, in canonical form. Other parts describe client, the apparent
// client.
func newRequestTemplate(r *http.Request, key policy.Key, client apparentClient) *http.Request {
	template := &http.Request{
		Method:     http.MethodGet,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header:     http.Header{"User-Agent": {GuardUserAgent}},
		Body:       http.NoBody,
		Host:       key.Host,
		RemoteAddr: client.remoteAddr(),
	}
	switch {
	case r.Host == "":
		// HTTP/1.1 requires a Host. HTTP/1.0 does not.
		template.Host, template.Proto, template.ProtoMinor = "", "HTTP/1.0", 0
	case len(key.Host) != len(r.Host) && strings.HasPrefix(key.Host, Digested):
		template.Host, _ = addr.SplitPort(r.Host)
	}
	if r.TLS != nil {
		tlsState := *r.TLS
		tlsState.PeerCertificates, tlsState.VerifiedChains = nil, nil // These fields identify the client.
		// Caddy's IP matchers answer early data with 425.
		tlsState.HandshakeComplete = true
		if tlsState.ServerName != "" {
			name, _ := addr.SplitPort(template.Host)
			tlsState.ServerName = addr.Unbracket(name)
		}
		template.TLS = &tlsState
	}
	if client.isForwarded(r) {
		// An origin that sees "http" may redirect to https forever. Caddy forwards these fields
		// only from the address of the trusted proxy.
		template.RemoteAddr = r.RemoteAddr
		if LastForwardedLine(r.Header, ForwardedProto) != "" {
			template.Header.Set(ForwardedProto, SchemeOf(key.IsHTTPS))
		}
		switch forwarded := LastForwardedLine(r.Header, ForwardedHost); {
		case forwarded == "":
		case len(forwarded) > MaxHost:
			template.Header.Set(ForwardedHost, forwarded)
		default:
			template.Header.Set(ForwardedHost, cmp.Or(key.ForwardedHost, template.Host))
		}
		client.setClientFields(template.Header)
	}
	// Keep the values of the connection. The server replaces the request's own values, which
	// handlers modify. The client's request may end first.
	ctx := context.WithoutCancel(r.Context())
	ctx = context.WithValue(ctx, guardRequestKey{}, true)
	ctx = context.WithValue(ctx, caddyhttp.ErrorCtxKey, nil) // The guard may be inside handle_errors.
	ctx = caddyhttp.ContextWithIdleTimeouts(ctx, nil, nil)
	return template.WithContext(ctx)
}

// authority is the scheme and host by which clients address a site.
type authority struct {
	scheme string
	host   string
	// normalizedHosts has first the host of the request itself, then the hosts of X-Forwarded-Host.
	normalizedHosts []string
}

// newAuthority returns the authority of the site that one of the guard's own requests addresses.
// Behind a trusted proxy, the client may use other hosts than the proxy does. Origins build
// redirects with any of them.
func newAuthority(template *http.Request) authority {
	a := authority{scheme: SchemeOf(template.TLS != nil), host: template.Host}
	if proto := template.Header.Get("X-Forwarded-Proto"); proto != "" {
		a.scheme = SchemeOf(strings.EqualFold(proto, "https"))
	}
	secure := a.scheme == "https"
	a.normalizedHosts = []string{NormalizeHost(template.Host, secure)}
	for host := range SplitElements(template.Header.Get("X-Forwarded-Host")) {
		if len(a.normalizedHosts) == 1 {
			a.host = host
		}
		a.normalizedHosts = append(a.normalizedHosts, NormalizeHost(host, secure))
	}
	return a
}

func (a authority) urlOfPath(path string) *url.URL {
	return &url.URL{Scheme: a.scheme, Host: a.host, Path: path}
}

// includesURL reports whether a URL has this scheme and one of these hosts.
func (a authority) includesURL(u *url.URL) bool {
	return u.Scheme == a.scheme && slices.Contains(a.normalizedHosts, NormalizeHost(u.Host, a.scheme == "https"))
}

// serveGuardRequest makes the server respond to a copy of template for u. It waits neither for the
// rest of a long body nor for a handler that ignores ctx.
func (s *ServerSource) serveGuardRequest(ctx context.Context, server http.Handler, template *http.Request, u *url.URL, conditions http.Header) policy.FetchResult {
	// The server sees a cancellation without a cause, as if a client had disconnected.
	// reverse_proxy treats other errors, for example a deadline, as a failure of the upstream and
	// marks the upstream as down.
	serveCtx, cancel := context.WithCancel(template.Context())
	defer cancel()

	outcome := new(hiddenOutcome)
	requestCtx := context.WithValue(serveCtx, hiddenOutcomeKey{}, outcome)
	// Requests that a handler makes have the guard's User-Agent.
	requestCtx = context.WithValue(requestCtx, userAgentKey{}, nil)
	req := template.Clone(requestCtx)
	req.URL = &url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery, ForceQuery: u.ForceQuery}
	req.RequestURI = u.RequestURI()
	maps.Copy(req.Header, conditions)
	if userAgent, ok := serveCtx.Value(userAgentKey{}).(string); ok {
		req.Header.Set("User-Agent", userAgent)
	}

	if s.runningRequests.Add(1) > maxRunningRequests {
		s.runningRequests.Add(-1)
		return policy.FetchResult{Err: errors.New("too many earlier requests for robots.txt still hang; a handler of this site does not stop when its client disconnects")}
	}
	rec := newVirtualResponse()
	done := make(chan error, 1)
	go func() {
		defer s.runningRequests.Add(-1)
		done <- serveAndRecover(server, rec, req)
	}()
	var err error
	select {
	case err = <-done:
	case <-rec.bodyFull:
	case <-ctx.Done():
	}

	response, hidden := rec.finish(), outcome.getHiddenResult()
	switch {
	case hidden != nil && ctx.Err() == nil:
		return *hidden
	case response.isTruncated:
		return fetchResultFromResponse(response.status, response.header, response.body)
	case ctx.Err() != nil:
		// This case precedes the cases below, since reverse_proxy responds with 499 to a
		// cancellation. Any 4xx would mean a missing robots.txt.
		return policy.FetchResult{Err: context.Cause(ctx)}
	case err != nil:
		return policy.FetchResult{Err: err}
	case response.isIncomplete && response.status < 300:
		return policy.FetchResult{Err: errors.New("the answer is shorter than its Content-Length")}
	case response.status == http.StatusNotModified && conditions != nil:
		return policy.FetchResult{Status: response.status, Header: response.header}
	case response.status == statusClientClosedRequest:
		return policy.FetchResult{Err: errors.New("the server gave up on the request (status 499)")}
	case response.status == 0:
		// No handler responded. net/http then sends an empty 200.
		return fetchResultFromResponse(http.StatusOK, rec.header, nil)
	}
	answer := fetchResultFromResponse(response.status, response.header, response.body)
	if answer.Status >= http.StatusInternalServerError {
		answer.Err = outcome.recordedHandlerError()
	}
	return answer
}

// statusClientClosedRequest is the status from reverse_proxy for a canceled request. The status
// says nothing about the robots.txt.
const statusClientClosedRequest = 499

// ErrResponseAborted means that a handler stopped before the end of its response.
var ErrResponseAborted = errors.New("the answer broke off")

// serveAndRecover calls ServeHTTP and returns a panic as an error. Handlers panic with
// [http.ErrAbortHandler] if they cannot complete a response. An unrecovered panic in this goroutine
// would end the process.
func serveAndRecover(server http.Handler, w http.ResponseWriter, req *http.Request) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			err = ErrResponseAborted
		default:
			err = fmt.Errorf("a handler panicked: %v", v)
		}
	}()
	server.ServeHTTP(w, req)
	return nil
}

// userAgentKey is the context key for the User-Agent that replaces [GuardUserAgent] in the guard's
// own requests.
type userAgentKey struct{}

// PrepareWithUserAgent is like [ServerSource.Prepare], but the server gets userAgent. Requests to
// other servers still have the User-Agent of the guard.
func (s *ServerSource) PrepareWithUserAgent(r *http.Request, key policy.Key, userAgent string) (fetch FetchFunc, ok bool) {
	return s.Prepare(r.WithContext(context.WithValue(r.Context(), userAgentKey{}, userAgent)), key)
}

// hostsAtRedirectTarget returns the hosts of the server that serves a redirect's target, or nil if
// the target is not the robots.txt of a configured host. Examples are redirects from
// www.example.com to example.com and from http to https. The fetch stays within Caddy, because
// Caddy may be unable to connect to itself by this name. Only /robots.txt is accepted, since the
// origin chooses the target, and another path may require a client certificate.
func (s *ServerSource) hostsAtRedirectTarget(u *url.URL, own authority, server *caddyhttp.Server) *Hosts {
	if s.Sites == nil || u.RequestURI() != "/robots.txt" || own.host == "" {
		return nil
	}
	secure := u.Scheme == "https"
	host, port := addr.SplitPort(NormalizeHost(u.Host, secure))
	if _, ownPort := addr.SplitPort(own.normalizedHosts[0]); u.Scheme == own.scheme && port == ownPort {
		// The redirect must lead to the same port. Behind a port mapping, the server may listen at
		// another port.
		if hosts := s.Sites.HostsOfServer(server); hosts.IsNamed(host) {
			return hosts
		}
	}
	return s.Sites.HostsAtAuthority(host+port, secure)
}

// requestTemplateForHost returns the template for a request to another configured host, with the
// User-Agent of r. requestTemplateForHost returns nil for an http URL at the HTTP port of a server
// with TLS, where Caddy serves without TLS.
func (s *ServerSource) requestTemplateForHost(u *url.URL, hosts *Hosts, r *http.Request) *http.Request {
	secure := u.Scheme == "https"
	key := hosts.KeyForAuthority(HostAsSent(u.Host, secure), secure)
	other := NewGuardRequest(hosts.Server, key, nil)
	if other == nil {
		return nil
	}
	ctx := context.WithValue(other.Context(), userAgentKey{}, r.Context().Value(userAgentKey{}))
	return newRequestTemplate(other.WithContext(ctx), key, newApparentClient(hosts.Server, s.ClientAddr))
}
