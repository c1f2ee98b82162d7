package preferences

import "github.com/robotsguard/caddy-robots-guard/internal/option"

// Use is what a guard does about what the robots.txt states of the use of content.
type Use struct {
	// Add to answers the header `Content-Usage` with what the `*` group states about
	// the page. The site's own header stays, and what it states is not stated again.
	ContentUsageHeader bool `json:"content_usage_header,omitempty"`
}

// Options are the lines of robots_guard that set it.
func (u *Use) Options() []option.Option {
	return []option.Option{
		{Name: "content_usage_header", Usage: "on or off", Set: option.One(&u.ContentUsageHeader, option.OnOff)},
	}
}
