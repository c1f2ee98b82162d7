package registry

import "github.com/robotsguard/caddy-robots-guard/internal/report"

// Status returns the state of the registry.
func (f *Feed) Status() *report.Registry {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &report.Registry{Name: f.Name()}
	if v := f.good; v != nil {
		s.InUse = &report.RegistryVersion{ID: v.ID(), Date: v.Date, Crawlers: len(v.Crawlers)}
	}
	if !f.checked.IsZero() {
		s.Checked = f.checked.UTC()
	}
	if f.trouble != nil {
		s.Failure, s.FailingSince = f.trouble.Error(), f.failing.UTC()
	}
	return s
}
