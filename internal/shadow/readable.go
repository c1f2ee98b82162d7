package shadow

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Readable returns the text that is to be tried, nil where there is none. Unlike the
// text in force, one that is missing is not taken to allow everything, nor is a web
// page in its place.
func Readable(s *policy.State) *policy.Version {
	if s == nil || s.Good == nil || (policy.Answer{Status: s.Good.Status}).Meaning() != policy.Rules || IsPage(s.Good) {
		return nil
	}
	return s.Good
}

// IsPage reports whether a version is a web page without a rule.
func IsPage(v *policy.Version) bool {
	if v.Robots.RuleCount() > 0 {
		return false
	}
	findings, _ := v.Robots.Findings()
	return slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML })
}
