package policy

import (
	"net/url"
	"strings"
)

// addSitemap takes the path of a sitemap line, whose value is to be a whole URL.
func (r *Robots) addSitemap(value string) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Path == "" {
		return
	}
	if r.sitemaps == nil {
		r.sitemaps = make(map[string]struct{})
	}
	r.sitemaps[u.Path] = struct{}{}
}

// IsSitemap reports whether a path, decoded and without a query, is that of a
// sitemap: one that the file names, on whatever host, or one by its name, such as
// /sitemap-2.xml.gz, as the indexes of sitemaps name them.
func (r *Robots) IsSitemap(path string) bool {
	if r != nil {
		if _, ok := r.sitemaps[path]; ok {
			return true
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	const begin = "sitemap"
	if len(name) < len(begin) || !strings.EqualFold(name[:len(begin)], begin) {
		return false
	}
	for _, end := range [...]string{".xml", ".xml.gz", ".txt", ".txt.gz"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
