// Package access tells whether the other handlers of a site let the guard read its
// robots.txt.
package access

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/placement"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

const (
	mostAsked = 100             // hosts of a configuration
	patience  = 5 * time.Second // for each
)

// Check asks for the robots.txt of each host of reads, as the guard will, and tells of
// those that are refused: nothing is restricted there. It does so in the background; stop
// ends it and waits until it has ended.
func Check(ctx caddy.Context, reads []placement.Read, logger *zap.Logger) (stop func()) {
	app, err := ctx.AppIfConfigured("http")
	if err != nil || len(reads) == 0 {
		return func() {}
	}
	servers := app.(*caddyhttp.App).Servers
	var known []string // a redirect to one of these is no login
	for _, r := range reads {
		known = append(known, r.Hosts...)
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		left := mostAsked
		for _, r := range reads {
			for _, host := range placement.ProbeHosts(r.Hosts) {
				if left--; left < 0 || running.Err() != nil {
					return
				}
				ask(running, servers[r.Server], host, r, known, logger)
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// ask asks for one robots.txt.
func ask(ctx context.Context, server *caddyhttp.Server, host string, of placement.Read, known []string, logger *zap.Logger) {
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer := origin.Ask(timed, server, host, len(server.TLSConnPolicies) > 0)
	if timed.Err() != nil || !refused(answer, known, of.By) {
		return
	}
	what := "the guard cannot read the robots.txt of this site, so that nothing is restricted until a crawler has read it"
	if !slices.Contains(of.Hosts, host) {
		what = "the guard could not read the robots.txt of a host that nobody has; where it is one of yours, nothing is restricted until a crawler has read it"
	}
	logger.Warn(fmt.Sprintf("%s: its request, which comes from 127.0.0.1 and has no login, is refused; "+
		"leave /robots.txt out of what refuses it by a matcher (not path /robots.txt), or write source file into robots_guard; on the way: %s", what, strings.Join(of.By, ", ")),
		zap.String("host", host), zap.Int("status", answer.Status))
}

// refused reports whether an answer means that the one who asks may not have the file:
// by its status or, of forward_auth, by a redirect to a host that is none of those known,
// which has a login.
func refused(answer policy.Answer, known, by []string) bool {
	switch answer.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusUnavailableForLegalReasons:
		return true
	case http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
		to, err := url.Parse(answer.Header.Get("Location"))
		return err == nil && slices.Contains(by, "forward_auth") && to.Host != "" &&
			!slices.ContainsFunc(known, func(host string) bool { return strings.EqualFold(host, to.Hostname()) })
	}
	return false
}
