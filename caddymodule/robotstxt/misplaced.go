package robotstxt

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/internal/option"
)

// ofGuard returns options of robots_guard that owners often write into robots_txt.
func ofGuard() []option.Option {
	own := option.Names(new(Handler).options())
	others := slices.DeleteFunc(caddymodule.GuardOptions(), func(o option.Option) bool { return slices.Contains(own, o.Name) })
	return option.Misplaced(others, "of the directive robots_guard; write it into robots_guard { ... } of the site")
}
