package verify

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Explanation is a finding with the steps that led to it.
type Explanation struct {
	Finding Finding
	Steps   []Step
}

// Step is a sentence or two about one step.
type Step struct {
	Method Method // None for what concerns no method by itself
	Text   string
}

func (e *Explanation) add(m Method, format string, args ...any) {
	e.Steps = append(e.Steps, Step{m, fmt.Sprintf(format, args...)})
}

// Explain does what [Verifier.Check] does and says why, in steps. With online it
// fetches lists that are missing, and asks DNS rather than what is remembered; it
// then waits for as long as that takes or until ctx ends. Otherwise it asks nobody.
func (v *Verifier) Explain(ctx context.Context, c *uaident.Crawler, client netip.Addr, online bool) Explanation {
	var e Explanation
	if c == nil {
		e.add(None, "No known crawler is claimed, so there is nothing to verify.")
		return e
	}
	s := v.setup.Load()
	p := s.plans[c.Token]
	if p == nil {
		e.explainNoMethod(c)
		return e
	}
	if given := client; addr.Normal(given) != given {
		client = addr.Normal(given)
		e.add(None, "%s is taken as %s.", given, client)
	}
	now := v.now()
	for _, l := range p.lists {
		if online && isMissing(l) {
			_ = v.load(ctx, l, isMissing) // the error is in the status
		}
		e.explainList(l.status(s.users[l], now), l, client)
	}
	finding, ask := v.byLists(p, client, now)
	switch {
	case ask:
		state := v.explainDNS(ctx, &e, p, client, online)
		_, mute := v.results.get(subjectOf(client, p.scope)).at(v.now())
		if mute && state == Unknown && finding.State == Spoofed {
			e.add(ReverseDNS, "The DNS has not answered well about %s for long, while it does about addresses that the operator publishes, so this takes nothing back of what the lists deny.", client)
		}
		finding = p.combine(finding, state, mute)
	case finding.State == Verified:
		if len(p.suffixes) > 0 {
			e.add(ReverseDNS, "Not needed.")
		}
	case !client.IsValid():
		e.add(None, "The address of the client is not known.")
	case !addr.FromInternet(client):
		e.add(None, "%s is no address of the public Internet, so it is not the crawler's own: either somebody tries things out, or a proxy stands in between that is not configured as trusted. No look-up is made, and nobody is called a liar.", client)
	}
	e.Finding = finding
	e.conclude(p, c)
	return e
}

func (e *Explanation) explainNoMethod(c *uaident.Crawler) {
	has := c.Verification
	switch {
	case len(has.Ranges)+len(has.ConfirmingRanges)+len(has.RDNS) == 0:
		e.add(None, "It is not known that the operator of %s publishes addresses or domains to verify it by.", c.Token)
	default:
		e.add(None, "The operator of %s publishes what to verify it by, but no such method is switched on.", c.Token)
	}
}

func (e *Explanation) explainList(s ListStatus, l *list, client netip.Addr) {
	loaded := l.loaded.Load()
	failed := ""
	if s.Err != nil {
		failed = fmt.Sprintf(" The last attempt to load it failed: %v.", s.Err)
	}
	if loaded == nil {
		e.add(Ranges, "%s has not been loaded, so it decides nothing.%s", s.Source, failed)
		return
	}
	if !l.isFile && !addr.FromInternet(client) {
		return // see below
	}
	about := fmt.Sprintf("%s (%d prefixes, checked %s)", s.Source, s.Prefixes, s.Checked.UTC().Format(time.RFC3339))
	switch {
	case loaded.contains(client):
		e.add(Ranges, "%s has %s.", about, client)
	case s.Stale:
		e.add(Ranges, "%s does not have %s, but may not be current, so it denies nothing.%s", about, client, failed)
	default:
		e.add(Ranges, "%s does not have %s.%s", about, client, failed)
	}
}

// explainDNS returns what reverse DNS says.
func (v *Verifier) explainDNS(ctx context.Context, e *Explanation, p *plan, client netip.Addr, online bool) State {
	domains := strings.Join(p.suffixes, ", ")
	subject := subjectOf(client, p.scope)
	if !online {
		known := v.results.get(subject)
		switch {
		case known == nil || v.now() >= known.end:
			e.add(ReverseDNS, "DNS was not asked whether a name of %s is below %s.", client, domains)
			return Unknown
		case known.state == Verified:
			e.add(ReverseDNS, "DNS was asked before: a name of %s is below one of %s and has this address.", client, domains)
		case known.state == Spoofed:
			e.add(ReverseDNS, "DNS was asked before: no name of %s is below one of %s and has this address.", client, domains)
		default:
			e.add(ReverseDNS, "DNS was asked about %s before, and gave no answer that decides.", client)
		}
		return known.state
	}
	limited, cancel := context.WithTimeout(ctx, v.options.LookupTimeout)
	defer cancel()
	c := confirmDNS(limited, p.resolver, client, p.suffixes)
	if ctx.Err() == nil {
		v.remember(subject, c.state, false)
	}
	if len(c.names) == 0 && c.state == Spoofed {
		e.add(ReverseDNS, "DNS has no name for %s.", client)
		return c.state
	}
	if len(c.names) > 0 {
		e.add(ReverseDNS, "By DNS, %s is called %s.", client, strings.Join(c.names, ", "))
	}
	switch {
	case c.state == Verified:
		e.add(ReverseDNS, "%s is below one of %s, and DNS gives it the address %s.", c.name, domains, client)
	case c.state == Unknown:
		e.add(ReverseDNS, "%s, so it decides nothing: %s.", problemKind(c.problem), problemText(c.problem))
	case c.name != "":
		e.add(ReverseDNS, "%s is below one of %s, but DNS does not give it the address %s.", c.name, domains, client)
	default:
		e.add(ReverseDNS, "None of that is below one of %s.", domains)
	}
	return c.state
}

func problemKind(err error) string {
	if isSilence(err) {
		return "DNS did not answer"
	}
	return "DNS gave no answer that can be used"
}

func problemText(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it took too long"
	}
	return err.Error()
}

func (e *Explanation) conclude(p *plan, c *uaident.Crawler) {
	whose := "its operator"
	if runByOperator(c) {
		whose = c.Operator
	}
	switch e.Finding.State {
	case Verified:
		e.add(None, "The address belongs to %s, so this is %s.", whose, c.Token)
	case Spoofed:
		e.add(None, "The address belongs to no crawler of %s, so this is not %s.", whose, c.Token)
	case Unknown:
		e.add(None, "So it is not known whether this is %s.", c.Token)
	default:
		e.add(None, "No method confirms that this is %s, but %s.", c.Token, p.excuse)
	}
}
