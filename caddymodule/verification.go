package caddymodule

import (
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// identify tells how sure it is that a client is the crawler that it claims to
// be, and what decided. It never waits.
func (a *App) identify(r *http.Request, client uaident.Identity) (identity, verify.Method) {
	if a.Verify == nil || client.Crawler == nil {
		return identityClaimed, verify.None
	}
	if a.signatures != nil && r.Header["Signature-Input"] != nil {
		if operator := a.signedBy(r); operator != "" && operator == client.Crawler.Operator {
			return identityVerified, verify.WebBotAuth
		}
	}
	finding := a.state.verifier.Check(client.Crawler, clientAddr(r))
	switch {
	case finding.State == identityVerified && maybeInvented(r):
		a.warn(&a.warned.invented, "a proxy passes on addresses that clients may invent, so nobody is verified by these; "+
			"set trusted_proxies_strict in the global option servers, or let client_ip_headers name a header that the proxy overwrites")
		return identityUnknown, verify.None
	case finding.State == identitySpoofed && isOfProxy(r):
		a.warn(&a.warned.untold, "a trusted proxy does not tell the addresses of clients, so nobody can be verified; "+
			"let client_ip_headers in the global option servers name the header that it sends")
		return identityUnknown, verify.None
	}
	return finding.State, finding.Method
}

// proxyWarnings are what the owner is told about proxies, each once for each
// configuration: that one passes on addresses which clients may invent, and that
// one does not tell the client's.
type proxyWarnings struct{ invented, untold atomic.Bool }

// warn tells the owner, once, that addresses are not what they should be.
func (a *App) warn(told *atomic.Bool, message string) {
	if !told.Swap(true) {
		a.logger.Warn(message)
	}
}

// forwardingHeaders are those by which proxies and CDNs tell the address of the
// client.
var forwardingHeaders = []string{"X-Forwarded-For", "Forwarded", "Cf-Connecting-Ip", "True-Client-Ip", "Fastly-Client-Ip", "X-Real-Ip"}

// suspectProxy warns once if a name was found false by an address that may be
// that of a proxy: behind one that is not trusted all real crawlers look false.
func (g *guard) suspectProxy(r *http.Request) {
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
		return
	}
	for _, name := range forwardingHeaders {
		if r.Header[name] == nil {
			continue
		}
		g.suspected.Do(func() {
			g.logger.Warn("a crawler's name was found false by an address that may be a proxy's, since the request tells another one; "+
				"if a proxy or CDN stands in front of this server, name it in trusted_proxies, or real crawlers look false",
				zap.String("header", name), zap.Stringer("address", clientAddr(r)))
		})
		return
	}
}

// config returns what a verifier has to know of the configuration.
func (a *App) config() verify.Config {
	if a.Verify == nil {
		return verify.Config{}
	}
	c := verify.Config{
		Crawlers:   a.registry.Crawlers(),
		Ranges:     a.Verify.Ranges == "" || a.Verify.Ranges == rangesOfficial,
		ReverseDNS: !a.Verify.NoRDNS,
		DNSServer:  a.Verify.Resolver,
	}
	for _, crawler := range a.Crawlers {
		if a.Verify.Ranges != rangesOff {
			for _, list := range crawler.Ranges {
				c.Lists = append(c.Lists, verify.List{For: crawler.Token, File: list.File, URL: list.URL})
			}
		}
		if !a.Verify.NoRDNS {
			for _, domain := range crawler.RDNS {
				c.Domains = append(c.Domains, verify.Domain{For: crawler.Token, Suffix: domain})
			}
		}
	}
	return c
}

// checkLists reads the lists of addresses that are files, so that one that cannot
// be used fails before anything has changed.
func (a *App) checkLists() error {
	v := verify.New(verify.Options{KeepVerified: 1, KeepOthers: 1})
	defer v.Close()
	return v.Configure(a.config())
}

// startVerifying applies the configuration.
func (a *App) startVerifying() (err error) {
	a.verifying, err = a.state.verifying.add(a.config(), a.state.verifier.Configure)
	return err
}

// stopVerifying applies what the configuration before, if it still runs, asks for.
func (a *App) stopVerifying() {
	if err := a.state.verifying.release(a.verifying, a.state.verifier.Configure); err != nil {
		a.logger.Warn("the configuration before cannot verify claims as it did", zap.Error(err))
	}
}

// refreshLists keeps the lists of addresses up to date, and tells the owner of
// it, until the configuration ends.
func (a *App) refreshLists() {
	if a.Verify == nil {
		return
	}
	go func() {
		// The configuration before this one may run for a moment yet, or go on for
		// long if this one cannot be started.
		select {
		case a.state.refreshing <- struct{}{}:
		case <-a.ctx.Done():
			return
		}
		defer func() { <-a.state.refreshing }()
		if a.ctx.Err() != nil {
			return
		}
		log := func(s verify.ListStatus) { logList(a.logger, s) }
		a.state.listed.Store(&log)
		defer a.state.listed.Store(nil)
		a.state.verifier.Run(a.ctx)
	}()
}

// logList tells the owner how reading a list of addresses went.
func logList(logger *zap.Logger, s verify.ListStatus) {
	if s.Err != nil {
		logger.Warn("a list of crawler addresses cannot be used; the one before stays in force",
			zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), zap.Time("next_attempt", s.Next), zap.Error(s.Err))
		return
	}
	logger.Info("list of crawler addresses read",
		zap.String("list", s.Source), zap.Int("prefixes", s.Prefixes), zap.Time("next_attempt", s.Next))
}
