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

// Checker tells how sure it is that clients are who they claim to be.
type Checker struct {
	// Verifier verifies claims by addresses and names; nil for not at all.
	Verifier *verify.Verifier
	// Signatures verify those of requests; nil for not at all. They change with the
	// registry that is in use.
	Signatures atomic.Pointer[botauth.Verifier]
	// Signed is told what came of checking a signature.
	Signed func(botauth.Reason)
	// Logger is for what the owner is told about proxies.
	Logger *zap.Logger

	// What the owner is told about proxies, each once for a configuration: that one
	// passes on addresses which clients may invent, that one does not tell the
	// client's, and that one is not trusted.
	invented, untold, suspected atomic.Bool
}

// Verifies reports whether claims are verified at all.
func (c *Checker) Verifies() bool { return c.Verifier != nil }

// Identify tells how sure it is that a client is the crawler that it claims to
// be, and what decided. It never waits.
func (c *Checker) Identify(r *http.Request, client uaident.Identity) (verify.State, verify.Method) {
	if c.Verifier == nil || client.Crawler == nil {
		return verify.Claimed, verify.None
	}
	undecided := false // a signature by the operator cannot be checked now
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
		c.warn(&c.invented, "a proxy passes on addresses that clients may invent, so nobody is verified by these; "+
			"set trusted_proxies_strict in the global option servers, or let client_ip_headers name a header that the proxy overwrites")
		return verify.Unknown, verify.None
	case finding.State == verify.Spoofed && undecided:
		return verify.Unknown, verify.None
	case finding.State == verify.Spoofed && request.IsOfProxy(r):
		c.warn(&c.untold, "a trusted proxy does not tell the addresses of clients, so nobody can be verified; "+
			"let client_ip_headers in the global option servers name the header that it sends")
		return verify.Unknown, verify.None
	case finding.State == verify.Spoofed:
		c.suspectProxy(r)
	}
	return finding.State, finding.Method
}

// warn tells the owner, once, that addresses are not what they should be.
func (c *Checker) warn(told *atomic.Bool, message string, fields ...zap.Field) {
	if !told.Swap(true) {
		c.Logger.Warn(message, fields...)
	}
}

// forwardingHeaders are those by which proxies and CDNs tell the address of the
// client.
var forwardingHeaders = []string{"X-Forwarded-For", "Forwarded", "Cf-Connecting-Ip", "True-Client-Ip", "Fastly-Client-Ip", "X-Real-Ip"}

// suspectProxy warns once if a name was found false by an address that may be
// that of a proxy: behind one that is not trusted all real crawlers look false.
func (c *Checker) suspectProxy(r *http.Request) {
	if c.suspected.Load() || request.IsTrustedProxy(r) {
		return
	}
	for _, name := range forwardingHeaders {
		if r.Header[name] != nil {
			c.warn(&c.suspected, "a crawler's name was found false by an address that may be a proxy's, since the request tells another one; "+
				"if a proxy or CDN stands in front of this server, name it in trusted_proxies, or real crawlers look false",
				zap.String("header", name), request.LogField(r))
			return
		}
	}
}

// Shared is what all configurations share to verify claims: what is known
// of addresses outlives each of them.
type Shared struct {
	// Verifier verifies claims for all of them.
	Verifier *verify.Verifier

	settings   lease.Leases[verify.Config]
	refreshing chan struct{}                           // full while the lists of addresses are kept up to date
	fetched    atomic.Uint64                           // lists that were read, believed or not
	listed     atomic.Pointer[func(verify.ListStatus)] // told when one was read, nil for nobody
	signatures *caddy.UsagePool                        // of *signatures by the agents whose signatures count
}

// NewShared returns what is shared, before anything is known.
func NewShared() *Shared {
	s := &Shared{refreshing: make(chan struct{}, 1), signatures: caddy.NewUsagePool()}
	s.Verifier = verify.New(verify.Options{UserAgent: origin.GuardUserAgent, OnList: s.onList})
	return s
}

func (s *Shared) onList(status verify.ListStatus) {
	if status.Err == nil || !status.ShrunkSince.IsZero() {
		s.fetched.Add(1)
	}
	if told := s.listed.Load(); told != nil {
		(*told)(status)
	}
}

// Fetched returns how many lists of addresses were read, with those that lost too much
// to be believed at once: what Export returns may be another each time.
func (s *Shared) Fetched() uint64 { return s.fetched.Load() }

// Export returns the lists of addresses as bytes, for Import.
func (s *Shared) Export() ([]byte, error) { return s.Verifier.Export() }

// Import takes lists into use that are newer than what is known of them.
func (s *Shared) Import(data []byte) error { return s.Verifier.Import(data) }

// Use applies the settings of a configuration until stop is called, which goes
// back to those of the one before, if that still runs.
func (s *Shared) Use(c verify.Config) (stop func() error, err error) {
	id, err := s.settings.Add(c, s.Verifier.Configure)
	return func() error { return s.settings.Release(id, s.Verifier.Configure) }, err
}

// Applied returns how often settings were applied.
func (s *Shared) Applied() uint64 { return s.settings.Given() }

// KeepsLists reports whether lists of addresses are kept up to date.
func (s *Shared) KeepsLists() bool { return len(s.refreshing) > 0 && s.listed.Load() != nil }

// KeepLists keeps the lists of addresses up to date, and tells the owner of it,
// until ctx ends.
func (s *Shared) KeepLists(ctx context.Context, logger *zap.Logger) {
	go func() {
		// The configuration before this one may run for a moment yet, or go on for
		// long if this one cannot be started.
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

// logList tells the owner how reading a list of addresses went.
func logList(logger *zap.Logger, s verify.ListStatus) {
	next := zap.Skip() // a file is read again when it changes
	if !s.Next.IsZero() {
		next = zap.Time("next_attempt", s.Next)
	}
	if s.Err != nil {
		logger.Warn("a list of crawler addresses cannot be used; the one before stays in force",
			zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), next, zap.Error(s.Err))
		return
	}
	logger.Info("list of crawler addresses read",
		zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), next)
}
