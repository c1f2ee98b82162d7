package uaident

import "time"

// CrawlDelay is what the operator of a crawler says it does with Crawl-delay, which
// RFC 9309 does not define.
type CrawlDelay struct {
	// Habit is what it does.
	Habit DelayHabit
	// Max is the longest delay that it keeps, 0 if the operator names none: longer
	// ones count as this.
	Max time.Duration
	// Wildcard says that it also keeps the Crawl-delay of the * group, if a group names
	// it and that group has no Crawl-delay.
	Wildcard bool
	// Source is the page that says so, or, of an operator that says nothing, the page
	// where it would stand; empty where nobody has looked.
	Source string
}

// DelayHabit says what a crawler does with Crawl-delay, by its operator's word.
type DelayHabit uint8

const (
	DelayUndocumented DelayHabit = iota // its operator does not say
	DelayObeyed                         // it keeps it
	DelayIgnored                        // it does not read it
	numDelayHabits
)

var delayHabitNames = [numDelayHabits]string{"undocumented", "obeys", "ignores"}

// String returns the word for h that registry.json has, such as "obeys".
func (h DelayHabit) String() string {
	if h < numDelayHabits {
		return delayHabitNames[h]
	}
	return "invalid"
}

// CrawlDelay returns what is known of the client's habit. Of one that is in no
// registry nothing is.
func (id Identity) CrawlDelay() CrawlDelay {
	if id.Crawler == nil {
		return CrawlDelay{}
	}
	return id.Crawler.CrawlDelay
}
