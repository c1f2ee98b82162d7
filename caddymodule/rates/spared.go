package rates

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Spared returns a function that names those in the limits of a rate, as JSON has it, who
// are not slowed although others are: search engines, unless the owner has written so.
func Spared(registry *uaident.Registry) func(config json.RawMessage) []string {
	return func(config json.RawMessage) (names []string) {
		var r Rate
		if json.Unmarshal(config, &r) != nil || !r.Enforces() || r.Search != "" {
			return nil
		}
		for _, l := range r.Limits {
			name := strings.TrimPrefix(l.Client, judge.MeantToken)
			class, _ := uaident.ParseClass(l.Client)
			if c := judge.CrawlerOf(registry, l.Client); c != nil {
				class = c.Class
			}
			if class == uaident.Search && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names
	}
}
