package robotstxt

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/handlerorder"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// Rollout configures the trial of a change before it is published everywhere.
type Rollout struct {
	// The first stage. `shadow` compares the change with the published file on live requests, without
	// effect. At the end of the stage, the change is published unless it newly disallows a page for a
	// search engine. `hosts` serves the change at some hosts. Both stages end in the same way.
	Stage string `json:"stage"`

	// The hosts of the first stage, for example `shop.example.com` or `*.example.com`.
	Hosts []string `json:"hosts,omitempty"`

	// The length of the first stage, from `1m` to `30d`. Optional for `hosts`: then a person has to
	// promote the change.
	Duration caddy.Duration `json:"duration,omitempty"`
}

// These are the values of Rollout.Stage.
const (
	rolloutShadow = "shadow"
	rolloutHosts  = "hosts"
)

// setRollout parses the arguments of rollout.
func (h *Handler) setRollout(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "now":
		h.Rollout = nil
	case len(args) == 2 && args[0] == rolloutShadow:
		h.Rollout = &Rollout{Stage: args[0]}
		return option.ParseOneArgument(&h.Rollout.Duration, option.ParseDuration)(args[1:])
	case len(args) > 1 && args[0] == rolloutHosts:
		h.Rollout = &Rollout{Stage: args[0], Hosts: args[1:]}
		last := len(args) - 1
		if d, err := caddy.ParseDuration(args[last]); err == nil && last > 1 {
			h.Rollout.Hosts, h.Rollout.Duration = args[1:last], caddy.Duration(d)
		}
	case len(args) == 0:
		return option.ErrCount
	default:
		return option.ErrValue
	}
	return nil
}

// setRolloutLine records the Caddyfile line of rollout, for error messages.
func (h *Handler) setRolloutLine(d *caddyfile.Dispenser) {
	if h.Rollout != nil {
		h.recordPosition("rollout", d)
	}
}

// These are limits of Rollout.Duration.
const (
	shortestRollout = time.Minute
	longestRollout  = 30 * 24 * time.Hour
)

// validate returns an error for invalid values. A nil *Rollout is valid.
func (r *Rollout) validate() error {
	if r == nil {
		return nil
	}
	switch {
	case r.Stage != rolloutShadow && r.Stage != rolloutHosts:
		return fmt.Errorf("unknown stage %q of rollout; use shadow or hosts, or leave rollout out", r.Stage)
	case (r.Stage == rolloutHosts) != (len(r.Hosts) > 0):
		return errors.New("rollout hosts needs the hosts that get a change first; rollout shadow takes no hosts")
	case r.Stage != rolloutShadow && r.Duration == 0:
		// Without a duration, the stage lasts until a person promotes the change.
	case time.Duration(r.Duration) < shortestRollout || time.Duration(r.Duration) > longestRollout:
		return fmt.Errorf("rollout %s %s is out of range; use a time from 1m to 30d", r.Stage, option.FormatDuration(r.Duration))
	}
	return nil
}

// historyRollout returns the rollout in the form in which the history stores it.
func (r *Rollout) historyRollout() publish.Rollout {
	if r == nil {
		return publish.Rollout{}
	}
	plan := publish.Rollout{State: publish.Shadow, Hosts: r.Hosts, Seconds: int64(time.Duration(r.Duration) / time.Second)}
	if r.Stage == rolloutHosts {
		plan.State = publish.Canary
	}
	return plan
}

// checkSite returns an error if the rollout is impossible on a site with these hosts or at one of these
// places. A nil *Rollout is valid.
func (r *Rollout) checkSite(hosts []string, places []handlerorder.RobotsTXTHandler) error {
	if r == nil {
		return nil
	}
	return cmp.Or(checkHosts("rollout", r.Hosts, hosts), r.checkShadow(places))
}

// checkShadow returns an error if no guard could compare a change on live requests at one of these
// places. A route with unknown handlers may contain a guard.
func (r *Rollout) checkShadow(places []handlerorder.RobotsTXTHandler) error {
	if r.Stage != rolloutShadow {
		return nil
	}
	for i := range places {
		if p := &places[i]; p.TrialObstacle != "" {
			return fmt.Errorf("rollout shadow: at %s a change would be published without a trial: %s, or use another rollout", p.SiteName(), p.TrialObstacle)
		}
	}
	return nil
}
