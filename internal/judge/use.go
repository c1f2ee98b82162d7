package judge

import (
	"net/http"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// AgainstUse returns the line of the robots.txt that a request is against by what it is
// made for, nil if there is none or EnforceUse is off. r is what Judge has said of the
// request by the same robots.txt. It takes all of this:
//
//   - the rules allow the request, for access is the stronger;
//   - both readings of the file state train-ai=n about its target;
//   - its crawler does nothing but train models, by its operator's own page
//     ([uaident.Crawler.TrainsOnly]), and is no search engine;
//   - it fetches a page: no sitemap, nothing under /.well-known/, nor the robots.txt, of
//     which Judge says no preference.
//
// Who has not read that line is not held to it: that is for the caller to see, who
// then calls [Settings.HoldToUse]. A name counts as for all verdicts: one that is
// claimed is believed, and a false one gains nothing.
func (s *Settings) AgainstUse(q *Request, robots *policy.Robots, r *Result) *policy.Statement {
	if !s.EnforceUse || r.Verdict != Allowed || r.FalseName || r.Preferences[policy.TrainAI] != policy.PreferenceNo || !q.onlyTrains() {
		return nil
	}
	switch q.Method {
	case http.MethodGet, http.MethodHead, "":
	default:
		return nil
	}
	if isWellKnown(q.Target) || robots.IsSitemap(q.DecodedPath()) {
		return nil
	}
	var target policy.Target
	target.Set(q.Target, s.KeepSlashes)
	if r.Group.SurePreferences(&target)[policy.TrainAI] != policy.PreferenceNo {
		return nil
	}
	deciding := r.Group.Deciding(&target)
	for i := range deciding {
		if deciding[i].Preferences[policy.TrainAI] == policy.PreferenceNo {
			return &deciding[i]
		}
	}
	return nil
}

// HoldToUse holds against a request that it is against a line of the robots.txt, as
// AgainstUse returned it, which the client is known to have read.
func (s *Settings) HoldToUse(q *Request, r *Result, against *policy.Statement) {
	r.Verdict, r.Reason, r.Against = AgainstPreference, StatedAgainst, against
	s.act(q, r)
}

// onlyTrains reports whether the client is a crawler that does nothing but train models.
func (r *Request) onlyTrains() bool {
	crawler := r.Client.Crawler
	if r.Token != "" {
		crawler = uaident.Default().Lookup(r.Token)
	}
	// No list that an owner lays over the registry makes a trainer of a search engine.
	return crawler.TrainsOnly() && !slices.Contains(engines, crawler.Token)
}

// Decided returns the line of the robots.txt that decided, and its number: a rule, or
// what states a preference that the client is held to; "" and 0 if none did.
func (r *Result) Decided() (line string, number int) {
	if r.Against != nil {
		return r.Against.String(), r.Against.Line
	}
	return r.Evidence.Rule.String(), r.Evidence.Rule.Line
}
