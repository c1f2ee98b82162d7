package uaident

import "time"

// CrawlDelay describes how a crawler treats Crawl-delay, by its operator's documentation. RFC
// 9309 does not define Crawl-delay.
type CrawlDelay struct {
	// Support states whether the crawler obeys Crawl-delay.
	Support DelaySupport
	// Max is the longest delay that the crawler obeys. The crawler shortens longer delays to Max. 0
	// means that the operator names no maximum.
	Max time.Duration
	// Wildcard reports whether the crawler also obeys the Crawl-delay of the * group, if the
	// group that names the crawler has no Crawl-delay.
	Wildcard bool
	// Source is the URL of the operator's documentation, or "" if the documentation was not checked.
	Source string
}

// DelaySupport states whether a crawler obeys Crawl-delay, by its operator's documentation.
type DelaySupport uint8

const (
	DelayUndocumented DelaySupport = iota // not documented
	DelayObeyed                           // obeyed
	DelayIgnored                          // ignored
	numDelaySupports
)

var delaySupportNames = [numDelaySupports]string{"undocumented", "obeys", "ignores"}

// String returns the name of h in registry.json, such as "obeys".
func (h DelaySupport) String() string {
	if h < numDelaySupports {
		return delaySupportNames[h]
	}
	return "invalid"
}

// CrawlDelay returns the CrawlDelay of the registry entry, or the zero value for a client without
// an entry.
func (id Identity) CrawlDelay() CrawlDelay {
	if id.Crawler == nil {
		return CrawlDelay{}
	}
	return id.Crawler.CrawlDelay
}
