package replay

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Settings are what a configuration of the handler says of clients. They are by
// the User-Agent alone, for a log does not tell whether it is true.
type Settings struct {
	Wildcard func(uaident.Identity) bool // whether the * group is meant for the client
	Exempt   func(uaident.Identity) bool // whether it is not judged at all
	Spares   func(uaident.Identity) bool // whether enforce lets it through all the same
	Grace    time.Duration               // for how long a crawler may follow a version that was replaced; not negative
}

// defaults are the settings of a handler without options.
var defaults = Settings{
	Wildcard: uaident.Identity.Wildcard,
	Exempt:   func(uaident.Identity) bool { return false },
	Spares:   func(uaident.Identity) bool { return false },
	Grace:    policy.MaxAge,
}
