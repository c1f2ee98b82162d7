package crawlers

import (
	"os"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// markRanges keeps the line of files that are not there, or not yet, as on another machine.
func (c *Crawler) markRanges(d *caddyfile.Dispenser) {
	for i := range c.Ranges {
		if r := &c.Ranges[i]; r.isMissing() && r.WrittenAt == "" {
			r.Mark(d)
		}
	}
}

func (r *Ranges) isMissing() bool {
	if r.File == "" {
		return false
	}
	_, err := os.Stat(r.File)
	return err != nil
}

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
