package registry

import (
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

// maxChanges bounds what is shown of a text that waits.
const maxChanges = 100

// Status returns how it stands with the registry.
func (f *Feed) Status() *report.Registry {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &report.Registry{Name: f.Name(), Signed: f.Key != nil, InUse: f.good.status(), Checked: f.checked.UTC(), Waiting: f.waiting.status()}
	if f.checked.IsZero() {
		s.Checked = f.checked
	}
	if f.trouble != nil {
		s.Failure, s.FailingSince = f.trouble.Error(), f.failing.UTC()
	}
	if s.Waiting != nil {
		var before []uaident.Crawler
		if f.good != nil {
			before = f.good.Crawlers
		}
		changes := edition.Diff(before, f.waiting.Crawlers)
		s.Waiting.Since, s.Waiting.Why, s.Waiting.Changes = f.since.UTC(), f.why, changes[:min(len(changes), maxChanges)]
	}
	return s
}

func (t *Text) status() *report.RegistryText {
	if t == nil {
		return nil
	}
	return &report.RegistryText{ID: t.ID(), Serial: t.Serial, Date: t.Date, Crawlers: len(t.Crawlers)}
}
