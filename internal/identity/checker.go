package identity

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/reload"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

// Checker verifies the claimed names of clients.
type Checker struct {
	// Verifier verifies clients by IP address and DNS. Nil turns verification off.
	Verifier *verify.Verifier
	// Signatures verifies signed requests. Nil turns this off. The verifier changes with the
	// registry.
	Signatures atomic.Pointer[botauth.Verifier]
	// OnSignature is called with the result of checking each signature.
	OnSignature func(botauth.Reason)
	// Logger logs warnings about proxies that hide client addresses.
	Logger *zap.Logger

	// These are true if the warning was logged for this configuration: a proxy passes on addresses
	// that clients can forge, a proxy does not send the client's address, a proxy is not trusted.
	warnedForgeable, warnedMissing, warnedUntrusted atomic.Bool
}

// IsEnabled reports whether verification is on.
func (c *Checker) IsEnabled() bool { return c.Verifier != nil }

// VerifyClient returns whether a client is the crawler that its User-Agent names, and the method
// that confirmed or denied the claim, or None. VerifyClient never waits for the network.
func (c *Checker) VerifyClient(r *http.Request, client uaident.Identity) (verify.State, verify.Method) {
	if c.Verifier == nil || client.Crawler == nil {
		return verify.Claimed, verify.None
	}
	keysUnavailable := false // The operator's keys are not available to check the signature.
	if r.Header["Signature-Input"] != nil && c.Signatures.Load() != nil {
		signature := c.verifySignature(r)
		signedByOperator := signature.Operator != "" && signature.Operator == client.Crawler.Operator
		if signedByOperator && signature.State == botauth.Valid {
			return verify.Verified, verify.WebBotAuth
		}
		keysUnavailable = signedByOperator && (signature.Reason == botauth.DirectoryPending || signature.Reason == botauth.DirectoryUnavailable)
	}
	result := c.Verifier.Check(client.Crawler, site.ClientAddr(r))
	switch {
	case result.State == verify.Verified && site.IsEarlyData(r):
		return verify.Unknown, verify.None // The address is not proven until the handshake is complete.
	case result.State == verify.Verified && site.AddrMayBeForged(r):
		c.warnOnce(&c.warnedForgeable, "a proxy passes on client addresses that clients can forge; clients behind it are not verified; "+
			"set trusted_proxies_strict in the global option servers, or let client_ip_headers name a header that the proxy overwrites")
		return verify.Unknown, verify.None
	case result.State == verify.Spoofed && keysUnavailable:
		return verify.Unknown, verify.None
	case result.State == verify.Spoofed && site.HasProxyAddr(r):
		c.warnOnce(&c.warnedMissing, "a trusted proxy does not send the addresses of clients; no client can be verified; "+
			"let client_ip_headers in the global option servers name the header that it sends")
		return verify.Unknown, verify.None
	case result.State == verify.Spoofed:
		c.warnIfBehindProxy(r)
	}
	return result.State, result.Method
}

// warnOnce logs a warning at most once for a configuration. warned records that it was logged.
func (c *Checker) warnOnce(warned *atomic.Bool, message string, fields ...zap.Field) {
	if !warned.Swap(true) {
		c.Logger.Warn(message, fields...)
	}
}

// forwardingHeaders are headers in which proxies and CDNs send the client's address.
var forwardingHeaders = []string{"X-Forwarded-For", "Forwarded", "Cf-Connecting-Ip", "True-Client-Ip", "Fastly-Client-Ip", "X-Real-Ip"}

// warnIfBehindProxy logs a warning once if the address of a spoofed client may be the address of a
// proxy. Behind an untrusted proxy, all genuine crawlers look spoofed.
func (c *Checker) warnIfBehindProxy(r *http.Request) {
	if c.warnedUntrusted.Load() || site.IsTrustedProxy(r) {
		return
	}
	for _, name := range forwardingHeaders {
		if r.Header[name] != nil {
			c.warnOnce(&c.warnedUntrusted, "a crawler looks spoofed, but its address may be the address of a proxy, because the request names another one; "+
				"if a proxy or CDN is in front of this server, add it to trusted_proxies",
				zap.String("header", name), site.RequestLogField(r))
			return
		}
	}
}

// SharedState is the state of verification shared by configurations. It survives reloads.
type SharedState struct {
	// Verifier verifies clients by IP address and DNS for all configurations.
	Verifier *verify.Verifier

	settings reload.ActiveSettings[verify.Config]
	// refreshSlot is full while the address lists are refreshed.
	refreshSlot chan struct{}
	// fetchCount is the result of FetchCount.
	fetchCount atomic.Uint64
	// listFetchObserver is called after each attempt to load a list. It is nil unless RefreshLists
	// is running.
	listFetchObserver atomic.Pointer[func(verify.ListStatus)]
	// The key has the signing agents, and the value is their *signatureVerifier.
	signatureVerifiers *caddy.UsagePool
}

// NewSharedState returns a state without address lists and settings.
func NewSharedState() *SharedState {
	s := &SharedState{refreshSlot: make(chan struct{}, 1), signatureVerifiers: caddy.NewUsagePool()}
	s.Verifier = verify.New(verify.Options{UserAgent: site.GuardUserAgent, OnList: s.recordListFetch})
	return s
}

func (s *SharedState) recordListFetch(status verify.ListStatus) {
	if status.Err == nil || !status.ShrunkSince.IsZero() {
		s.fetchCount.Add(1)
	}
	if onFetched := s.listFetchObserver.Load(); onFetched != nil {
		(*onFetched)(status)
	}
}

// FetchCount returns the number of attempts to load an address list that may have changed the
// result of ExportLists. These are the successful attempts, and all attempts for a list whose
// latest version was not accepted yet because it shrank too much.
func (s *SharedState) FetchCount() uint64 { return s.fetchCount.Load() }

// ExportLists encodes the address lists that were fetched from URLs, for ImportLists.
func (s *SharedState) ExportLists() ([]byte, error) { return s.Verifier.ExportLists() }

// ImportLists replaces each configured address list by the list in data, if the list in data was
// checked later. data is a result of ExportLists.
func (s *SharedState) ImportLists(data []byte) error { return s.Verifier.ImportLists(data) }

// ApplyConfig applies the verification settings of a configuration until stop is called. The latest
// settings that were not stopped apply. Without such settings, verification has no methods.
func (s *SharedState) ApplyConfig(c verify.Config) (stop func() error, err error) {
	return s.settings.Apply(c, s.Verifier.Configure)
}

// ApplyCount returns the number of successful calls of [SharedState.ApplyConfig].
func (s *SharedState) ApplyCount() uint64 { return s.settings.ApplyCount() }

// IsRefreshingLists reports whether RefreshLists is running.
func (s *SharedState) IsRefreshingLists() bool {
	return len(s.refreshSlot) > 0 && s.listFetchObserver.Load() != nil
}

// RefreshLists starts to refresh the address lists in the background, and logs the results, until
// ctx is done.
func (s *SharedState) RefreshLists(ctx context.Context, logger *zap.Logger) {
	go func() {
		// The previous configuration runs until the start of this configuration, and longer if the
		// start fails.
		select {
		case s.refreshSlot <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-s.refreshSlot }()
		if ctx.Err() != nil {
			return
		}
		log := func(status verify.ListStatus) { logListFetch(logger, status) }
		s.listFetchObserver.Store(&log)
		defer s.listFetchObserver.Store(nil)
		s.Verifier.Run(ctx)
	}()
}

// logListFetch logs the result of fetching an address list.
func logListFetch(logger *zap.Logger, s verify.ListStatus) {
	next := zap.Skip() // Address lists in files have no next attempt.
	if !s.NextFetch.IsZero() {
		next = zap.Time("next_attempt", s.NextFetch)
	}
	if s.Err != nil {
		logger.Warn("crawler address list cannot be used; using the previous list",
			zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), next, zap.Error(s.Err))
		return
	}
	logger.Info("crawler address list fetched",
		zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), next)
}
