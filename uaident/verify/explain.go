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

// Explanation is the result of a verification with the steps that led to the result.
type Explanation struct {
	Finding Finding
	Steps   []Step
}

// Step describes one step of a verification in a sentence or two.
type Step struct {
	Method Method // Method is None for a step without a method.
	Text   string
}

func (e *Explanation) addStep(m Method, format string, args ...any) {
	e.Steps = append(e.Steps, Step{m, fmt.Sprintf(format, args...)})
}

// Explain returns the result of [Verifier.Check] with its reasons. If online is true, Explain
// fetches missing lists and queries DNS, and waits until these complete or ctx ends. Otherwise
// Explain uses cached data only.
func (v *Verifier) Explain(ctx context.Context, c *uaident.Crawler, client netip.Addr, online bool) Explanation {
	var e Explanation
	if c == nil {
		e.addStep(None, "The User-Agent names no crawler of the registry.")
		return e
	}
	s := v.activeConfig.Load()
	p := s.plans[c.Token]
	if p == nil {
		e.explainNoMethod(c)
		return e
	}
	if given := client; addr.Normalize(given) != given {
		client = addr.Normalize(given)
		e.addStep(None, "The address %s is checked as %s.", given, client)
	}
	now := v.now()
	for _, l := range p.lists {
		if online && isNeverLoaded(l) {
			_ = v.loadAndReport(ctx, l, isNeverLoaded) // The error is in the status.
		}
		e.explainList(l.newStatus(s.crawlersByList[l], now), l, client)
	}
	finding, ask := v.checkLists(p, client, now)
	switch {
	case ask:
		state := v.explainDNS(ctx, &e, p, client, online)
		finding = p.combineFindings(finding, state)
	case finding.State == Verified:
		if len(p.suffixes) > 0 {
			e.addStep(ReverseDNS, "DNS is not needed, because a list contains the address.")
		}
	case !client.IsValid():
		e.addStep(None, "The client's address is unknown.")
	case !addr.MayBeFromInternet(client):
		e.addStep(None, "%s is not a public address. The request is a test, or a proxy is missing in trusted_proxies. No lookup is made.", client)
	}
	e.Finding = finding
	e.addConclusion(p, c)
	return e
}

func (e *Explanation) explainNoMethod(c *uaident.Crawler) {
	has := c.Verification
	switch {
	case len(has.Ranges)+len(has.PartialRanges)+len(has.RDNS) == 0:
		e.addStep(None, "The operator of %s publishes no known addresses or domains.", c.Token)
	default:
		e.addStep(None, "The operator of %s publishes data for verification, but the method is disabled.", c.Token)
	}
}

func (e *Explanation) explainList(s ListStatus, l *addressList, client netip.Addr) {
	active := l.active.Load()
	failed := ""
	if s.Err != nil {
		failed = fmt.Sprintf(" The last attempt to load it failed: %v.", s.Err)
	}
	if active == nil {
		e.addStep(Ranges, "%s was never loaded and is not used.%s", s.Source, failed)
		return
	}
	if !l.isFile && !addr.MayBeFromInternet(client) {
		return // A later step covers this.
	}
	about := fmt.Sprintf("%s (%d prefixes, checked %s)", s.Source, s.Prefixes, s.CheckedAt.UTC().Format(time.RFC3339))
	switch {
	case active.contains(client):
		e.addStep(Ranges, "%s contains %s.", about, client)
	case s.CannotDeny:
		e.addStep(Ranges, "%s does not contain %s, but may be out of date, so the claim is not disproved.%s", about, client, failed)
	default:
		e.addStep(Ranges, "%s does not contain %s.%s", about, client, failed)
	}
}

// explainDNS adds the steps of the reverse DNS lookup to e, and returns the resulting state.
func (v *Verifier) explainDNS(ctx context.Context, e *Explanation, p *crawlerPlan, client netip.Addr, online bool) State {
	domains := strings.Join(p.suffixes, ", ")
	subject := newResultKey(client, p.scope)
	if !online {
		cached := v.results.findResult(subject)
		switch {
		case cached == nil || v.now() >= cached.expiresAt:
			e.addStep(ReverseDNS, "DNS was not queried for %s (domains %s).", client, domains)
			return Unknown
		case cached.state == Verified:
			e.addStep(ReverseDNS, "Cached DNS result: %s has a name in one of %s, and the name resolves to this address.", client, domains)
		case cached.state == Spoofed:
			e.addStep(ReverseDNS, "Cached DNS result: %s has no name in one of %s that resolves to this address.", client, domains)
		default:
			e.addStep(ReverseDNS, "Cached DNS result: no conclusive answer for %s.", client)
		}
		return cached.state
	}
	limited, cancel := context.WithTimeout(ctx, v.options.LookupTimeout)
	defer cancel()
	c := confirmDNS(limited, p.resolver, client, p.suffixes)
	if ctx.Err() == nil {
		v.cacheResult(subject, c.state)
	}
	if len(c.names) == 0 && c.state == Spoofed {
		e.addStep(ReverseDNS, "DNS has no name for %s.", client)
		return c.state
	}
	if len(c.names) > 0 {
		e.addStep(ReverseDNS, "The DNS names of %s are: %s.", client, strings.Join(c.names, ", "))
	}
	switch {
	case c.state == Verified:
		e.addStep(ReverseDNS, "%s is a subdomain of one of %s and resolves to %s.", c.name, domains, client)
	case c.state == Unknown:
		e.addStep(ReverseDNS, "%s, so DNS gives no result: %s.", dnsProblemKind(c.problem), dnsProblemText(c.problem))
	case c.name != "":
		e.addStep(ReverseDNS, "%s is a subdomain of one of %s, but does not resolve to %s.", c.name, domains, client)
	default:
		e.addStep(ReverseDNS, "None of these names is in one of %s.", domains)
	}
	return c.state
}

func dnsProblemKind(err error) string {
	if isUnanswered(err) {
		return "DNS did not answer"
	}
	return "DNS returned no usable answer"
}

func dnsProblemText(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	return err.Error()
}

func (e *Explanation) addConclusion(p *crawlerPlan, c *uaident.Crawler) {
	whose := "its operator"
	if sharesOperatorAddresses(c) {
		whose = c.Operator
	}
	switch e.Finding.State {
	case Verified:
		e.addStep(None, "The address belongs to %s, so this is %s.", whose, c.Token)
	case Spoofed:
		e.addStep(None, "The address belongs to no crawler of %s, so this is not %s.", whose, c.Token)
	case Unknown:
		e.addStep(None, "Result: unknown whether this is %s.", c.Token)
	default:
		e.addStep(None, "No method confirms %s, but no method can deny it: %s.", c.Token, p.noDenialReason)
	}
}
