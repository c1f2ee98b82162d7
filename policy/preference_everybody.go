package policy

import "slices"

// toEverybody is what a robots.txt states about use to all who fetch a page.
type toEverybody struct {
	group *Selection // the * group
	// Where lines for crawlers that other groups name allow a use.
	whole    [uses]bool     // of all targets
	excepted [uses]*matcher // of some
}

// HasContentUsage reports whether some group states anything about use, so that
// [Robots.ContentUsage] may.
func (r *Robots) HasContentUsage() bool { return len(r.usages) > 0 }

// ContentUsage returns what the * group states about the use of a target, which is what
// the header Content-Usage can say of the page to everybody: what is stated in both ways
// counts together, and any no is a no (draft-ietf-aipref-vocab-08). So a no is left out
// where the file allows that use of the target to some crawler by name. For what
// the * group forbids to fetch nothing is stated.
func (r *Robots) ContentUsage(t *Target) Preferences {
	all := r.everybody.Load()
	if all == nil {
		all = r.compileEverybody()
		r.everybody.Store(all) // two that compile it at once make the same
	}
	if !all.group.HasPreferences() || !all.group.JudgeTarget(t).Allowed {
		return Preferences{}
	}
	says := all.group.TargetPreferences(t)
	for use := range says {
		if says[use] == PreferenceNo && (all.whole[use] || all.excepted[use] != nil && all.excepted[use].best(t.forms()).allow.length > 0) {
			says[use] = PreferenceUnknown
		}
	}
	return says
}

// compileEverybody compiles what ContentUsage looks at.
func (r *Robots) compileEverybody() *toEverybody {
	all := &toEverybody{group: r.Select(true)}
	if !all.group.HasPreferences() {
		return all
	}
	var paths [uses]compiler
	for i, usage := range r.usages {
		if !slices.ContainsFunc(r.agents[usage.agentFrom:usage.agentTo], func(a agent) bool { return a.name != "*" }) {
			continue
		}
		path, dictionary := CutUsage(r.records[usage.record].Value)
		says, _ := ParsePreferences(dictionary) // nothing if that is no dictionary
		for use, preference := range says {
			switch {
			case preference != PreferenceYes:
			case path == "":
				all.whole[use] = true
			default:
				paths[use].add(canonicalRule(path), true, int32(i))
			}
		}
	}
	for use := range paths {
		if c := &paths[use]; len(c.literals)+len(c.patterns) > 0 {
			all.excepted[use] = c.matcher()
		}
	}
	return all
}
