package uaident

// Class is the kind of a client, such as [Search] or [Browser]. By default the class decides
// whether the `*` group of a robots.txt applies. See [Class.WildcardApplies].
//
// The zero value is [Browser]. A client that cannot be identified is a browser and never a crawler.
type Class uint8

const (
	Browser        Class = iota // Browser is a person's browser or app, or an empty User-Agent.
	Other                       // Other is a product that is not a browser and probably not a robot.
	Library                     // Library is an HTTP library or a command line client: curl, Go-http-client.
	Headless                    // Headless is a browser without a user: HeadlessChrome.
	GenericCrawler              // GenericCrawler is a robot of unknown purpose, or a crawling framework.
	Search                      // Search is a crawler that indexes pages for a search engine.
	AITraining                  // AITraining is a crawler that collects pages to train AI models.
	AISearch                    // AISearch is a crawler that indexes pages for the answers of an AI model.
	AIAssistant                 // AIAssistant is a fetcher for a person who asks an AI model.
	SEO                         // SEO is a crawler that analyzes sites for marketing.
	Ads                         // Ads is a crawler that checks landing pages and ad placements.
	Archive                     // Archive is a crawler that archives pages.
	Research                    // Research is a crawler that collects data for science.
	Security                    // Security is a scanner for vulnerabilities.
	Preview                     // Preview is a fetcher for the preview of a shared link.
	Feed                        // Feed is a feed reader.
	Monitor                     // Monitor is a monitor of a site for its owner.
	Service                     // Service is for webhooks, federation, domain validation and health checks.
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

// String returns the name of c in configuration, logs and metrics, such as "ai_training".
func (c Class) String() string {
	if c < numClasses {
		return classNames[c]
	}
	return "invalid"
}

// ParseClass returns the class with the given name. ParseClass accepts the names that
// [Class.String] returns, in lower case only.
func ParseClass(s string) (Class, bool) {
	for c, name := range classNames {
		if s == name {
			return Class(c), true
		}
	}
	return 0, false
}

// Classes returns all classes in order of declaration.
func Classes() []Class {
	classes := make([]Class, numClasses)
	for i := range classes {
		classes[i] = Class(i)
	}
	return classes
}

// WildcardApplies reports whether the `*` group applies to the class by default. It applies
// to crawlers that choose their URLs themselves. It does not apply to these clients:
//
//   - assistants, previews, feed readers, monitors and services, which act for a person or
//     for the site's owner
//   - advertising robots, whose operators document that `*` does not apply
//   - libraries, headless browsers and other programs, whose use is unknown
func (c Class) WildcardApplies() bool {
	switch c {
	case GenericCrawler, Search, AITraining, AISearch, SEO, Archive, Research, Security:
		return true
	}
	return false
}

// IsCrawler reports whether c is a class of robots, including fetchers that act for a person. All
// classes except [Browser], [Other], [Library] and [Headless] are classes of robots.
func (c Class) IsCrawler() bool { return c >= GenericCrawler && c < numClasses }
