package placement

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// decides reports whether a robots_guard answers proxies whether requests may pass.
func (p *Placed) decides() bool {
	var g struct {
		Decide json.RawMessage `json:"decide"`
	}
	return p.Name == Guard && json.Unmarshal(p.Config, &g) == nil && g.Decide != nil
}

// checkDecisions finds guards that would answer proxies nobody trusts, and so no question
// at all, and one that takes the place of a site.
func checkDecisions(server *caddyhttp.Server, placed []*Placed, logger *zap.Logger) error {
	for _, p := range placed {
		switch {
		case !p.decides():
		case p.Hides != "":
			return fmt.Errorf("%s: robots_guard with decide answers every request here, so that none comes to %s; give it an address of its own, such as :9181", p.Site(), p.Hides)
		case !trusts(server):
			return fmt.Errorf("%s: robots_guard with decide answers trusted proxies only, and this server trusts none; "+
				"write servers { trusted_proxies static <address of the proxy>; trusted_proxies_strict } into the global options, on a line each", p.Site())
		case server.TrustedProxiesStrict == 0:
			logger.Warn("without trusted_proxies_strict the address of a client is the first in X-Forwarded-For, which the client may have written itself; "+
				"write trusted_proxies_strict below trusted_proxies, or let the proxy replace that field",
				zap.String("site", p.Site()), zap.Strings("listen", server.Listen))
		}
	}
	return nil
}

// trusts reports whether a server trusts any proxy. Caddy keeps to itself which: what it
// was configured by is gone when the server is provisioned. If in doubt it does.
func trusts(server *caddyhttp.Server) bool {
	kept := reflect.ValueOf(server).Elem().FieldByName("trustedProxies")
	return server.TrustedProxiesRaw != nil || server.TrustedProxiesUnix || kept.Kind() != reflect.Interface || !kept.IsNil()
}
