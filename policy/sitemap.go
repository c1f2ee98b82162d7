package policy

import (
	"net/url"
	"slices"
	"strings"
)

// addSitemap adds the path of the URL in a Sitemap line. A value without a host or a path is
// ignored.
func (r *Robots) addSitemap(value string) {
	if path, ok := canonicalURLPath(value); ok {
		r.sitemaps = append(r.sitemaps, path)
	} else if u, err := url.Parse(value); err == nil && u.Host != "" && u.Path != "" {
		r.sitemaps = append(r.sitemaps, u.Path)
	}
}

// canonicalURLPath returns the path of a URL that starts with https:// and needs no decoding. ok is
// false for other URLs, which package net/url parses.
func canonicalURLPath(value string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(value, "https://")
	host := tokenLength(rest)
	path = rest[host:]
	return path, ok && host > 0 && isCanonicalTarget(path) && !strings.Contains(path, "?")
}

// IsSitemap reports whether a decoded path without a query is a sitemap: a Sitemap line has the
// path, on any host, or the name of the file is typical, such as /sitemap-2.xml.gz,
// /wp-sitemap-posts-post-1.xml or /page-sitemap.xml. r can be nil.
func (r *Robots) IsSitemap(path string) bool {
	if r != nil {
		if _, ok := slices.BinarySearch(r.sitemaps, path); ok {
			return true
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, extension := range [...]string{".xml", ".xml.gz", ".txt", ".txt.gz"} {
		if stem, ok := strings.CutSuffix(name, extension); ok {
			return containsFold(stem, "sitemap")
		}
	}
	return false
}

// containsFold reports whether s contains word, without regard to case.
func containsFold(s, word string) bool {
	for i := range len(s) - len(word) + 1 {
		if hasPrefixFold(s[i:], word) {
			return true
		}
	}
	return false
}
