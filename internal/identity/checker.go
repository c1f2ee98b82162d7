package identity

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/lease"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// Checker verifies the claimed names of clients.
type Checker struct {
	// Verifier verifies claims by IP address and DNS. Nil turns verification off.
	Verifier *verify.Verifier
	// Signatures verifies signed requests. Nil turns this off. A new registry replaces it.
	Signatures atomic.Pointer[botauth.Verifier]
	// Signed is called with the result of each signature.
	Signed func(botauth.Reason)
	// Logger logs warnings about proxies.
	Logger *zap.Logger

	// Warnings that were logged for this configuration: a proxy passes on addresses that
	// clients may invent, a proxy does not send the client's address, a proxy is not trusted.
	warnedInvented, warnedMissing, warnedUntrusted atomic.Bool
}

// Verifies reports whether verification is on.
func (c *Checker) Verifies() bool { return c.Verifier != nil }

// Identify returns the state of verification of a client and the method that decided. It never
// waits for the network.
func (c *Checker) Identify(r *http.Request, client uaident.Identity) (verify.State, verify.Method) {
	if c.Verifier == nil || client.Crawler == nil {
		return verify.Claimed, verify.None
	}
	undecided := false // the operator's keys are not available to check its signature
	if r.Header["Signature-Input"] != nil && c.Signatures.Load() != nil {
		signed := c.signed(r)
		byOperator := signed.Operator != "" && signed.Operator == client.Crawler.Operator
		if byOperator && signed.State == botauth.Valid {
			return verify.Verified, verify.WebBotAuth
		}
		undecided = byOperator && (signed.Reason == botauth.DirectoryPending || signed.Reason == botauth.DirectoryUnavailable)
	}
	finding := c.Verifier.Check(client.Crawler, request.ClientAddr(r))
	switch {
	case finding.State == verify.Verified && request.IsEarly(r):
		return verify.Unknown, verify.None // until the handshake is complete
	case finding.State == verify.Verified && request.MaybeInvented(r):
		c.warn(&c.warnedInvented, "a proxy passes on addresses that clients may invent; such clients are not verified; "+
			"set trusted_proxies_strict in the global option servers, or let client_ip_headers name a header that the proxy overwrites")
		return verify.Unknown, verify.None
	case finding.State == verify.Spoofed && undecided:
		return verify.Unknown, verify.None
	case finding.State == verify.Spoofed && request.IsOfProxy(r):
		c.warn(&c.warnedMissing, "a trusted proxy does not send the addresses of clients; no client can be verified; "+
			"let client_ip_headers in the global option servers name the header that it sends")
		return verify.Unknown, verify.None
	case finding.State == verify.Spoofed:
		c.suspectProxy(r)
	}
	return finding.State, finding.Method
}

// warn logs a warning once for a configuration.
func (c *Checker) warn(warned *atomic.Bool, message string, fields ...zap.Field) {
	if !warned.Swap(true) {
		c.Logger.Warn(message, fields...)
	}
}

// forwardingHeaders are headers in which proxies and CDNs send the client's address.
var forwardingHeaders = []string{"X-Forwarded-For", "Forwarded", "Cf-Connecting-Ip", "True-Client-Ip", "Fastly-Client-Ip", "X-Real-Ip"}

// suspectProxy logs a warning once if the address of a spoofed client may be the address of a
// proxy. Behind a proxy that is not trusted, all genuine crawlers look spoofed.
func (c *Checker) suspectProxy(r *http.Request) {
	if c.warnedUntrusted.Load() || request.IsTrustedProxy(r) {
		return
	}
	for _, name := range forwardingHeaders {
		if r.Header[name] != nil {
			c.warn(&c.warnedUntrusted, "a crawler looks spoofed, but its address may be the address of a proxy, because the request names another one; "+
				"if a proxy or CDN is in front of this server, add it to trusted_proxies",
				zap.String("header", name), request.LogField(r))
			return
		}
	}
}

// Shared is the state of verification that configurations share and that survives reloads.
type Shared struct {
	// Verifier verifies claims for all of them.
	Verifier *verify.Verifier

	settings   lease.Leases[verify.Config]
	refreshing chan struct{}                           // full while the address lists are refreshed
	fetched    atomic.Uint64                           // number of fetched lists, accepted or not
	listed     atomic.Pointer[func(verify.ListStatus)] // called for each fetched list; may be nil
	signatures *caddy.UsagePool                        // *signatures by their agents
}

// NewShared returns an empty state.
func NewShared() *Shared {
	s := &Shared{refreshing: make(chan struct{}, 1), signatures: caddy.NewUsagePool()}
	s.Verifier = verify.New(verify.Options{UserAgent: origin.GuardUserAgent, OnList: s.onList})
	return s
}

func (s *Shared) onList(status verify.ListStatus) {
	if status.Err == nil || !status.ShrunkSince.IsZero() {
		s.fetched.Add(1)
	}
	if listed := s.listed.Load(); listed != nil {
		(*listed)(status)
	}
}

// FetchCount returns the number of fetched address lists, including lists that are not accepted
// yet because they shrank too much. The result of Export may change with each.
func (s *Shared) FetchCount() uint64 { return s.fetched.Load() }

// Export encodes the address lists for Import.
func (s *Shared) Export() ([]byte, error) { return s.Verifier.Export() }

// Import uses the encoded address lists that are newer than the current ones.
func (s *Shared) Import(data []byte) error { return s.Verifier.Import(data) }

// Use applies the settings of a configuration until stop is called. stop restores the settings
// of the previous configuration if that still runs.
func (s *Shared) Use(c verify.Config) (stop func() error, err error) {
	id, err := s.settings.Add(c, s.Verifier.Configure)
	return func() error { return s.settings.Release(id, s.Verifier.Configure) }, err
}

// Applied returns the number of times that settings were applied.
func (s *Shared) Applied() uint64 { return s.settings.Given() }

// KeepsLists reports whether KeepLists is running.
func (s *Shared) KeepsLists() bool { return len(s.refreshing) > 0 && s.listed.Load() != nil }

// KeepLists refreshes the address lists in the background and logs the results until ctx is
// done.
func (s *Shared) KeepLists(ctx context.Context, logger *zap.Logger) {
	go func() {
		// The previous configuration runs until this one has started, and longer if this one
		// fails to start.
		select {
		case s.refreshing <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-s.refreshing }()
		if ctx.Err() != nil {
			return
		}
		log := func(status verify.ListStatus) { logList(logger, status) }
		s.listed.Store(&log)
		defer s.listed.Store(nil)
		s.Verifier.Run(ctx)
	}()
}

// logList logs the result of fetching an address list.
func logList(logger *zap.Logger, s verify.ListStatus) {
	next := zap.Skip() // files have no next attempt
	if !s.Next.IsZero() {
		next = zap.Time("next_attempt", s.Next)
	}
	if s.Err != nil {
		logger.Warn("crawler address list cannot be used; using the previous list",
			zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), next, zap.Error(s.Err))
		return
	}
	logger.Info("crawler address list fetched",
		zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), next)
}
