package registry

import "github.com/robotsguard/caddy-robots-guard/internal/report"

// Status returns the state of the registry.
func (f *Feed) Status() *report.Registry {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &report.Registry{Name: f.Name()}
	if v := f.inUse; v != nil {
		s.InUse = &report.RegistryVersion{ID: v.ID(), Date: v.Date, Crawlers: len(v.Crawlers)}
	}
	if !f.lastConfirmed.IsZero() {
		s.Checked = f.lastConfirmed.UTC()
	}
	if f.lastErr != nil {
		s.Failure, s.FailingSince = f.lastErr.Error(), f.failingSince.UTC()
	}
	return s
}
