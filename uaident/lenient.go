package uaident

// ParsesLeniently reports whether the crawler accepts misspelled keys and lines without a colon in
// a robots.txt, as its operator documents. Google documents both
// (developers.google.com/crawling/docs/robots-txt/robots-txt-spec) and publishes the parser
// of its crawlers (github.com/google/robotstxt). Libraries of Google
// are excluded, because other operators run these.
func (c *Crawler) ParsesLeniently() bool { return c.Operator == "Google" && c.Class != Library }

// ParsesLeniently reports whether the identified crawler has a lenient parser, by
// [Crawler.ParsesLeniently].
func (id Identity) ParsesLeniently() bool { return id.Crawler != nil && id.Crawler.ParsesLeniently() }
