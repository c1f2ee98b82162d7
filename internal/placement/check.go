package placement

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

// Check checks the positions of this module's handlers in the HTTP app. It returns an error for a
// position that is certainly wrong, and logs warnings. ctx belongs to the first of these handlers,
// and Check must run during its Provision. Until then Caddy has the JSON of the routes, so "caddy
// validate" runs these checks, too.
func Check(ctx caddy.Context, logger *zap.Logger) error {
	for name, server := range servers(ctx) {
		w := walk{server: name}
		_, err := w.routes(routesOf(server.Routes), way{})
		placed := w.found
		if err == nil {
			err = cmp.Or(checkGuards(placed), checkTexts(placed), checkDashboards(placed), w.checkDisallowed())
		}
		if err != nil {
			return err
		}
		warnDashboards(server, placed, logger)
		warnCaches(placed, logger)
	}
	return nil
}

// checkGuards returns an error for an unreachable guard and for two guards with the same requests.
// It also returns an error for a decide guard that responds instead of the site.
func checkGuards(placed []*Placed) error {
	for _, p := range placed {
		if p.Name == Guard && p.Hides != "" {
			return fmt.Errorf("%s: robots_guard with decide answers every request here, so that none comes to %s; give it an address of its own, such as :9181", p.Site(), p.Hides)
		}
	}
	return check(placed, Guard, errTwice)
}

// checkDisallowed returns an error for a [Disallowed] matcher without a guard before it.
func (w *walk) checkDisallowed() error {
	for _, m := range w.unguarded {
		var config struct {
			At string `json:"at"`
		}
		_ = json.Unmarshal(m.config, &config) // an expression has no At
		return option.At(config.At, fmt.Errorf("%s: robots_disallowed needs a robots_guard before it, whose robots.txt it goes by; write robots_guard monitor into the site if nothing is to be blocked, and a route block around both if the directive of the matcher is one that Caddy puts first, such as header", m.site))
	}
	return nil
}

// checkTexts returns an error for an unreachable robots_txt, and for two with the same requests.
// The second would never respond.
func checkTexts(placed []*Placed) error {
	return check(placed, RobotsTXT, func(a, _ *Placed) error {
		return fmt.Errorf("%s: robots_txt stands there twice, and the second is never asked; write all rules into one", a.Site())
	})
}

// check checks the handlers with one name. twice returns the error for two handlers with the same
// requests.
func check(placed []*Placed, name string, twice func(a, b *Placed) error) error {
	type place struct{ server, reach string }
	known := make(map[place]*Placed)
	for _, p := range placed {
		if p.Name != name {
			continue
		}
		if p.Behind != "" {
			return fmt.Errorf("%s: %s comes after %s, which answers every request, so that none comes to it; "+
				"put it first, and remember that route keeps the order of its lines", p.Site(), name, p.Behind)
		}
		here := place{p.Server, p.reach}
		if other := known[here]; other != nil {
			return twice(other, p)
		}
		known[here] = p
	}
	return nil
}

func errTwice(a, b *Placed) error {
	differ, err := differences(a.Config, b.Config)
	switch {
	case err != nil:
		return err
	case len(differ) == 0:
		return fmt.Errorf("%s: robots_guard stands there twice, so that every request would count twice; remove one", a.Site())
	}
	return fmt.Errorf("%s: two robots_guard for the same requests contradict each other (%s); remove one, or give each its own matcher",
		a.Site(), strings.Join(differ, ", "))
}

// differences returns the names of the options in which two handlers differ.
func differences(a, b json.RawMessage) (names []string, err error) {
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

// checkDashboards returns an error for an unreachable dashboard and for a dashboard with
// unreachable files. It also returns an error for a dashboard that responds instead of the site.
func checkDashboards(placed []*Placed) error {
	for _, d := range placed {
		switch {
		case d.Name != Dashboard:
		case d.Behind != "":
			return fmt.Errorf("%s: robots_guard_dashboard comes after %s, which answers every request, so that none comes to it; "+
				"write handle /robots-guard* { robots_guard_dashboard } and put the rest of the site into handle { ... }", d.Site(), d.Behind)
		case d.Hides != "":
			return fmt.Errorf("%s: robots_guard_dashboard answers every request here, so that none comes to %s; "+
				"give it a path, such as robots_guard_dashboard /robots-guard", d.Site(), d.Hides)
		case d.only != "":
			return fmt.Errorf("%s: only %s itself comes to robots_guard_dashboard, and not the files below it; write %s* there",
				d.Site(), d.only, strings.TrimSuffix(d.only, "/"))
		}
	}
	return nil
}

// exactPath returns a path that a path matcher matches exactly. It returns an empty string if the
// matcher has wildcards.
func exactPath(config json.RawMessage) string {
	var paths []string
	if err := json.Unmarshal(config, &paths); err != nil || len(paths) == 0 || bytes.ContainsRune(config, '*') {
		return ""
	}
	return paths[0]
}
