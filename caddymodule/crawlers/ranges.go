package crawlers

import (
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// markRanges keeps the line of files that are not there.
func (c *Crawler) markRanges(d *caddyfile.Dispenser) {
	for i := range c.Ranges {
		if r := &c.Ranges[i]; r.isMissing() && r.WrittenAt == "" {
			r.WrittenAt = option.LineOf(d)
		}
	}
}

func (r *Ranges) isMissing() bool { return r.File != "" && option.IsMissing(r.File) }

// AtRanges returns an error of the lists of addresses of some crawlers with the lines of
// those that are not there, if they are kept.
func AtRanges(all []Crawler, err error) error {
	var missing []Ranges
	for _, c := range all {
		for _, r := range c.Ranges {
			if r.WrittenAt != "" && r.isMissing() {
				missing = append(missing, r)
			}
		}
	}
	if err == nil || len(missing) == 0 {
		return err
	}
	if len(missing) == 1 {
		return option.At(missing[0].WrittenAt, err)
	}
	places := make([]string, len(missing))
	for i, r := range missing {
		is := ""
		if i == 0 {
			is = " is named"
		}
		places[i] = r.File + is + " at " + r.WrittenAt
	}
	return fmt.Errorf("%w; %s", err, option.Listed(places, "and"))
}
