package policy

import (
	"net/url"
	"slices"
	"strings"
)

// addSitemap adds the path of a sitemap line. The value should be a whole URL.
func (r *Robots) addSitemap(value string) {
	if path, ok := canonicalURLPath(value); ok {
		r.sitemaps = append(r.sitemaps, path)
	} else if u, err := url.Parse(value); err == nil && u.Host != "" && u.Path != "" {
		r.sitemaps = append(r.sitemaps, u.Path)
	}
}

// canonicalURLPath returns the path of a URL that needs no decoding.
func canonicalURLPath(value string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(value, "https://")
	host := tokenLength(rest)
	path = rest[host:]
	return path, ok && host > 0 && isCanonicalTarget(path) && !strings.Contains(path, "?")
}

// IsSitemap reports whether a decoded path without query is a sitemap. The file names it, on
// any host, or its own name is typical, such as /sitemap-2.xml.gz,
// /wp-sitemap-posts-post-1.xml and /page-sitemap.xml.
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

// containsFold reports whether s contains a word, without regard to case.
func containsFold(s, word string) bool {
	for i := range len(s) - len(word) + 1 {
		if hasPrefixFold(s[i:], word) {
			return true
		}
	}
	return false
}
