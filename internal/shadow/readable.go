package shadow

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Readable returns the file on trial, nil if there is none. A missing file, or a web page, is no file that
// allows everything, unlike in force.
func Readable(s *policy.State) *policy.Version {
	if s == nil || s.Current == nil || (policy.FetchResult{Status: s.Current.Status}).AccessResult() != policy.Successful || IsPage(s.Current) {
		return nil
	}
	return s.Current
}

// IsPage reports whether a version is a web page without a rule.
func IsPage(v *policy.Version) bool {
	if v.Robots.RuleCount() > 0 {
		return false
	}
	findings, _ := v.Robots.Findings()
	return slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML })
}
