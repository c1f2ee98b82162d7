package uaident

// Class says what kind of client a User-Agent claims to be. It decides, when
// nothing else is configured, whether the `*` group of a robots.txt is meant
// for the client (see [Class.JudgedByWildcard]).
//
// The zero value is [Browser]: whatever cannot be identified is a person's
// browser or app, never a crawler.
type Class uint8

const (
	Browser        Class = iota // a person's browser, and an empty User-Agent
	Other                       // names a product that is neither a browser nor evidently a robot
	Library                     // an HTTP library or a command line client: curl, Go-http-client
	Headless                    // a browser without a person in front of it: HeadlessChrome
	GenericCrawler              // "crawler": evidently a robot, but of no known kind; also crawling frameworks
	Search                      // indexes for a search engine
	AITraining                  // collects for training models
	AISearch                    // indexes for answers of a model
	AIAssistant                 // fetches because somebody asked a model
	SEO                         // measures sites for marketing
	Ads                         // checks landing pages and places of advertisements
	Archive                     // keeps copies for posterity
	Research                    // measures or collects for science
	Security                    // scans for weaknesses
	Preview                     // builds the preview of a link that somebody shared
	Feed                        // reads a feed that somebody subscribed to
	Monitor                     // watches a site on its owner's behalf
	Service                     // delivers, checks or answers for somebody: webhooks, federation, domain validation, health checks
	numClasses
)

var classNames = [numClasses]string{
	Browser:        "browser",
	Other:          "other",
	Library:        "library",
	Headless:       "headless",
	GenericCrawler: "crawler",
	Search:         "search",
	AITraining:     "ai_training",
	AISearch:       "ai_search",
	AIAssistant:    "ai_assistant",
	SEO:            "seo",
	Ads:            "ads",
	Archive:        "archive",
	Research:       "research",
	Security:       "security",
	Preview:        "preview",
	Feed:           "feed",
	Monitor:        "monitor",
	Service:        "service",
}

// String returns the word that configuration, logs and metrics use for c, such
// as "ai_training".
func (c Class) String() string {
	if c < numClasses {
		return classNames[c]
	}
	return "invalid"
}

// ParseClass is the inverse of [Class.String]. It accepts exactly the words
// that String returns, in lower case.
func ParseClass(s string) (Class, bool) {
	for c, name := range classNames {
		if s == name {
			return Class(c), true
		}
	}
	return 0, false
}

// Classes returns all classes in the order of their declaration.
func Classes() []Class {
	all := make([]Class, numClasses)
	for i := range all {
		all[i] = Class(i)
	}
	return all
}

// JudgedByWildcard reports whether the `*` group of a robots.txt is meant for
// clients of this class: crawlers that choose by themselves what to fetch. It
// is not meant for what acts for one person or for the site's owner
// (assistants, previews, feed readers, monitors, services), for advertising
// robots, whose operators document that they ignore it, nor for libraries,
// headless browsers and other programs, of which nobody knows what they are used
// for.
func (c Class) JudgedByWildcard() bool {
	switch c {
	case GenericCrawler, Search, AITraining, AISearch, SEO, Archive, Research, Security:
		return true
	}
	return false
}

// IsCrawler reports whether c is the class of an identified robot: any class
// but [Browser], [Other], [Library] and [Headless].
func (c Class) IsCrawler() bool { return c >= GenericCrawler && c < numClasses }
