package uaident

// Forgiving reports whether the crawler is documented to read misspelt keys and
// lines without a colon in a robots.txt. Google says so of its crawlers
// (developers.google.com/crawling/docs/robots-txt/robots-txt-spec) and has
// published the parser that they use (github.com/google/robotstxt). Libraries
// that bear its name are run by others.
func (c *Crawler) Forgiving() bool { return c.Operator == "Google" && c.Class != Library }

// Forgiving reports whether the client says to be a crawler of which
// [Crawler.Forgiving] is true.
func (id Identity) Forgiving() bool { return id.Crawler != nil && id.Crawler.Forgiving() }
