package uaident

// Forgiving reports whether the crawler accepts misspelled keys and lines without a colon in
// a robots.txt, by its documentation. Google documents both
// (developers.google.com/crawling/docs/robots-txt/robots-txt-spec) and publishes the parser
// of its crawlers (github.com/google/robotstxt). Other people run the libraries with Google's
// name, so they are excluded.
func (c *Crawler) Forgiving() bool { return c.Operator == "Google" && c.Class != Library }

// Forgiving reports whether the identified crawler is forgiving. See [Crawler.Forgiving].
func (id Identity) Forgiving() bool { return id.Crawler != nil && id.Crawler.Forgiving() }
