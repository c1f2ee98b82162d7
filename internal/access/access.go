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

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/placement"
	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Check asks for the robots.txt of each host of reads, as the guard will, and tells of
// those that are refused: nothing is restricted there. It does so in the background; stop
// ends it and waits until it has ended.
func Check(ctx caddy.Context, reads []placement.Read, logger *zap.Logger) (stop func()) {
	var known []string // a redirect to one of these is no login
	for _, r := range reads {
		known = append(known, r.Hosts...)
	}
	hostsOf := func(r placement.Read) (string, []string) { return r.Server, placement.ProbeHosts(r.Hosts) }
	return origin.AskEach(ctx, reads, hostsOf, func(ctx context.Context, server *caddyhttp.Server, host string, of placement.Read) {
		answer := origin.Ask(ctx, server, host)
		if ctx.Err() == nil && refused(answer, known, of.By) {
			warn(logger, host, answer.Status, of)
		}
	})
}

// warn tells of a host of which the file is refused.
func warn(logger *zap.Logger, host string, status int, of placement.Read) {
	what := "the guard cannot read the robots.txt of this site, so that nothing is restricted until a crawler has read it"
	if !slices.Contains(of.Hosts, host) {
		what = "the guard could not read the robots.txt of a host that nobody has; where it is one of yours, nothing is restricted until a crawler has read it"
	}
	request := "its request, which comes from " + origin.OutsideClient + " and has no login"
	if of.Proxied {
		request = "its request, which has no login"
	}
	logger.Warn(fmt.Sprintf("%s: %s, is refused; "+
		"leave /robots.txt out of what refuses it by a matcher (not path /robots.txt), or write source file into robots_guard; on the way: %s", what, request, strings.Join(of.By, ", ")),
		zap.String("host", host), zap.Int("status", status))
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
			!spelling.Among(known, to.Hostname())
	}
	return false
}
