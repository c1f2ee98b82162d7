package rulelist

import "github.com/robotsguard/caddy-robots-guard/internal/report"

// Report returns the lists of the site for a report, nil for none.
func (s *Site) Report() (lists []report.ManagedList) {
	for _, l := range s.Lists {
		one := report.ManagedList{Name: l.Name()}
		if good := l.Good(); good != nil {
			one.Rules = len(good.Rules)
		}
		if err := l.Trouble(); err != nil {
			one.Failure = err.Error()
		}
		lists = append(lists, one)
	}
	return lists
}
