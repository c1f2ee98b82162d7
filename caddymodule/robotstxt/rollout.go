package robotstxt

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
)

// Rollout says how a change comes to all.
type Rollout struct {
	// What comes first: `shadow` judges the change beside what is published, on live
	// requests and without any effect, and publishes it after the time unless a search
	// engine would be newly forbidden something. `hosts` serves it at some hosts.
	Stage string `json:"stage"`

	// The hosts that have it first, such as `shop.example.com` or `*.example.com`.
	Hosts []string `json:"hosts,omitempty"`

	// How long that takes, from `1m` to `30d`. At hosts it may be left out: then
	// somebody has to promote the change.
	Duration caddy.Duration `json:"duration,omitempty"`
}

// setRollout reads how a change comes to all.
func (h *Handler) setRollout(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "now":
		h.Rollout = nil
	case len(args) == 2 && args[0] == string(publication.Shadow):
		h.Rollout = &Rollout{Stage: args[0]}
		return option.One(&h.Rollout.Duration, option.Duration)(args[1:])
	case len(args) > 1 && args[0] == string(publication.Hosts):
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

// Bounds of Rollout.Duration.
const (
	shortestRollout = time.Minute
	longestRollout  = 30 * 24 * time.Hour
)

// validate checks what a configuration says. That of nil is at once.
func (r *Rollout) validate() error {
	switch {
	case r == nil:
	case r.Stage != string(publication.Shadow) && r.Stage != string(publication.Hosts):
		return fmt.Errorf("unknown stage %q of rollout; use shadow or hosts, or leave rollout out", r.Stage)
	case (r.Stage == string(publication.Hosts)) != (len(r.Hosts) > 0):
		return errors.New("rollout hosts has to name the hosts that have a change first, and nothing else does")
	case r.Stage == string(publication.Hosts) && r.Duration == 0: // until somebody promotes it
	case time.Duration(r.Duration) < shortestRollout || time.Duration(r.Duration) > longestRollout:
		return fmt.Errorf("rollout %s %s cannot be; use a time from 1m to 30d", r.Stage, time.Duration(r.Duration))
	}
	return nil
}

// steps returns what the history is told.
func (r *Rollout) steps() publication.Rollout {
	if r == nil {
		return publication.Rollout{}
	}
	return publication.Rollout{Stage: publication.Stage(r.Stage), Hosts: r.Hosts, Seconds: int64(time.Duration(r.Duration) / time.Second)}
}

// checkHosts makes sure that the hosts are some of the site.
func (r *Rollout) checkHosts(hosts []string) error {
	has := hasHost(hosts)
	if r == nil || has == nil {
		return nil
	}
	for _, host := range r.Hosts {
		if !has(host) {
			return fmt.Errorf("rollout: this site has no host %q; %s", host, hintOf(host, hosts))
		}
	}
	return nil
}
