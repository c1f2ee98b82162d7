package handlerorder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// Check checks the order of this module's handlers in the HTTP app. Check returns an error for a
// certainly wrong position, and logs warnings. ctx belongs to the first of these handlers, and
// Check must run during its Provision. Until then Caddy has the JSON of the routes, so "caddy
// validate" runs these checks, too.
func Check(ctx caddy.Context, logger *zap.Logger) error {
	for name, server := range allServers(ctx) {
		w := routeWalker{server: name}
		_, err := w.walkRoutes(routesAsJSON(server.Routes), routePosition{})
		handlers := w.handlers
		if err == nil {
			err = cmp.Or(checkGuards(handlers), checkRobotsTXT(handlers), checkDashboards(handlers), w.checkVerdictMatchers())
		}
		if err != nil {
			return err
		}
		warnAboutOpenDashboards(server, handlers, logger)
		warnAboutCaches(handlers, logger)
	}
	return nil
}

// checkGuards returns an error for a robots_guard that gets no requests, for two with the same
// requests, and for one with decide that responds instead of the site.
func checkGuards(handlers []*PlacedHandler) error {
	for _, p := range handlers {
		if p.Name == Guard && p.BlockedHandler != "" {
			return fmt.Errorf("%s: robots_guard with decide answers every request here, so %s gets no requests; give robots_guard an address of its own, such as :9181", p.SiteName(), p.BlockedHandler)
		}
	}
	return checkUnreachableOrDuplicate(handlers, Guard, duplicateGuardError)
}

// checkVerdictMatchers returns an error for a matcher that uses the verdict of a robots_guard, but
// has no robots_guard before it.
func (w *routeWalker) checkVerdictMatchers() error {
	for _, m := range w.unguarded {
		var config struct {
			At string `json:"at"`
		}
		_ = json.Unmarshal(m.Config, &config) // For an expression, At is empty.
		return option.AddCaddyfileLine(config.At, fmt.Errorf("%s: %s needs a robots_guard before it, because it uses the verdict of robots_guard; write robots_guard monitor into the site if you do not want to block requests, and put both into a route block if Caddy orders the directive of the matcher first, such as header", m.site, m.Name))
	}
	return nil
}

// checkRobotsTXT returns an error for a robots_txt that gets no requests, and for two with the same
// requests. The second would never respond.
func checkRobotsTXT(placed []*PlacedHandler) error {
	return checkUnreachableOrDuplicate(placed, RobotsTXT, func(a, _ *PlacedHandler) error {
		return fmt.Errorf("%s: robots_txt appears twice, and the second gets no requests; write all rules into one", a.SiteName())
	})
}

// checkUnreachableOrDuplicate returns an error for a handler with a module name that gets no
// requests, and for two with the same requests. duplicateError returns the error for these two.
func checkUnreachableOrDuplicate(placed []*PlacedHandler, name string, duplicateError func(a, b *PlacedHandler) error) error {
	type place struct{ server, reach string }
	seen := make(map[place]*PlacedHandler)
	for _, p := range placed {
		if p.Name != name {
			continue
		}
		if p.BlockingHandler != "" {
			return fmt.Errorf("%s: %s comes after %s, which answers every request, so %s gets no requests; "+
				"put %s first, and remember that route keeps the order of its lines", p.SiteName(), name, p.BlockingHandler, name, name)
		}
		key := place{p.Server, p.requestKey}
		if other := seen[key]; other != nil {
			return duplicateError(other, p)
		}
		seen[key] = p
	}
	return nil
}

func duplicateGuardError(a, b *PlacedHandler) error {
	differing, err := differentOptions(a.Config, b.Config)
	switch {
	case err != nil:
		return err
	case len(differing) == 0:
		return fmt.Errorf("%s: robots_guard appears twice, so each request would be counted twice; remove one", a.SiteName())
	}
	return fmt.Errorf("%s: two robots_guard for the same requests contradict each other (%s); remove one, or give each its own matcher",
		a.SiteName(), strings.Join(differing, ", "))
}

// differentOptions returns the names of the options whose values differ in the configurations of
// two handlers.
func differentOptions(a, b json.RawMessage) (names []string, err error) {
	var options [2]map[string]any
	for i, config := range []json.RawMessage{a, b} {
		if err := json.Unmarshal(config, &options[i]); err != nil {
			return nil, err
		}
	}
	all := maps.Clone(options[0])
	maps.Copy(all, options[1])
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(options[0][name], options[1][name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// checkDashboards returns an error for a dashboard that gets no requests, for a dashboard whose
// files get no requests, and for a dashboard that responds instead of the site.
func checkDashboards(placed []*PlacedHandler) error {
	for _, d := range placed {
		switch {
		case d.Name != Dashboard:
		case d.BlockingHandler != "":
			return fmt.Errorf("%s: robots_guard_dashboard comes after %s, which answers every request, so the dashboard gets no requests; "+
				"write handle /robots-guard* { robots_guard_dashboard } and put the rest of the site into handle { ... }", d.SiteName(), d.BlockingHandler)
		case d.BlockedHandler != "":
			return fmt.Errorf("%s: robots_guard_dashboard answers every request here, so %s gets no requests; "+
				"give the dashboard a path, such as robots_guard_dashboard /robots-guard", d.SiteName(), d.BlockedHandler)
		case d.exactPath != "":
			return fmt.Errorf("%s: robots_guard_dashboard gets only requests for %s, and not for the files below this path; write %s* instead",
				d.SiteName(), d.exactPath, strings.TrimSuffix(d.exactPath, "/"))
		}
	}
	return nil
}

// exactPathOfMatcher returns the first path of a path matcher. exactPathOfMatcher returns an empty
// string for a matcher with wildcards.
func exactPathOfMatcher(config json.RawMessage) string {
	var paths []string
	if err := json.Unmarshal(config, &paths); err != nil || len(paths) == 0 || bytes.ContainsRune(config, '*') {
		return ""
	}
	return paths[0]
}
