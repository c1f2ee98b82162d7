package crawlers

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// markRanges keeps the line of files that are not there.
func (c *Crawler) markRanges(d *caddyfile.Dispenser) {
	for i := range c.Ranges {
		if r := &c.Ranges[i]; r.isMissing() && r.WrittenAt == "" {
			r.Mark(d)
		}
	}
}

func (r *Ranges) isMissing() bool { return r.File != "" && option.IsMissing(r.File) }

// AtRanges returns an error of the lists of addresses of some crawlers with the line of the
// first that is not there, if that is kept.
func AtRanges(all []Crawler, err error) error {
	for _, c := range all {
		for _, r := range c.Ranges {
			if r.WrittenAt != "" && r.isMissing() {
				return r.At(err)
			}
		}
	}
	return err
}
