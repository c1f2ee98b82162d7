package preferences

import "github.com/robotsguard/caddy-robots-guard/internal/option"

// Use is what a guard does about what the robots.txt states of the use of content.
type Use struct {
	// Add to answers the header `Content-Usage` with what the `*` group states about
	// the page. The site's own header stays, and what it states is not stated again.
	ContentUsageHeader bool `json:"content_usage_header,omitempty"`

	// Experimental. `enforce` holds crawlers whose operators say that they do nothing but
	// train models to `train-ai=n` of a robots.txt that they have read: their requests
	// have the verdict `against_preference` and are blocked where the mode is `enforce`,
	// logged where it is `monitor`. `observe` tells of them in reports only. Default:
	// `observe`.
	Usage string `json:"usage,omitempty"`
}

// The words of Use.Usage.
const (
	usageObserve = "observe"
	usageEnforce = "enforce"
)

// EnforcesUse reports whether crawlers are held to preferences.
func (u *Use) EnforcesUse() bool { return u.Usage == usageEnforce }

// ValidateUse tells what cannot be.
func (u *Use) ValidateUse() error {
	return option.OneOf("usage", u.Usage, []string{usageObserve, usageEnforce})
}

// Options are the lines of robots_guard that set it.
func (u *Use) Options() []option.Option {
	return []option.Option{
		{Name: "content_usage_header", Usage: "on or off", Set: option.One(&u.ContentUsageHeader, option.OnOff)},
		{Name: "usage", Usage: "observe or enforce", Set: option.One(&u.Usage, option.Word)},
	}
}
