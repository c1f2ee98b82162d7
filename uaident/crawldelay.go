package uaident

import "time"

// CrawlDelay describes how a crawler applies the rule Crawl-delay, as its operator documents. RFC
// 9309 does not define Crawl-delay.
type CrawlDelay struct {
	// Support says whether the crawler obeys Crawl-delay.
	Support DelaySupport
	// Max is the longest delay that the crawler obeys. The crawler shortens longer delays to Max. 0
	// means that the operator names no maximum.
	Max time.Duration
	// FallsBackToWildcard reports whether the crawler obeys the Crawl-delay of the `*` group, if
	// its own group has none.
	FallsBackToWildcard bool
	// Source is the URL of the operator's documentation, or "" if the documentation was not checked.
	Source string
}

// DelaySupport says whether a crawler obeys Crawl-delay, as its operator documents.
type DelaySupport uint8

const (
	DelayUndocumented DelaySupport = iota // The operator does not document Crawl-delay.
	DelayObeyed                           // The crawler obeys Crawl-delay.
	DelayIgnored                          // The crawler ignores Crawl-delay.
	numDelaySupports
)

var delaySupportNames = [numDelaySupports]string{"undocumented", "obeys", "ignores"}

// String returns the name of s in registry.json, such as "obeys".
func (s DelaySupport) String() string {
	if s < numDelaySupports {
		return delaySupportNames[s]
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
