package policy

import "strings"

// maxLicenses is the maximum number of reported License lines.
const maxLicenses = 10

// LicenseURLs returns the URLs in the first ten License lines in file order. They link to license
// terms by Really Simple Licensing (rslstandard.org), which apply to the whole file, even if the
// line is within a group. Relative URLs are omitted. License lines disallow nothing.
func (r *Robots) LicenseURLs() (urls []string) {
	for _, record := range r.records {
		scheme, rest, ok := strings.Cut(record.Value, "://")
		if strings.EqualFold(record.Key, "license") && ok && rest != "" && !strings.ContainsAny(scheme, "/?# \t") && len(urls) < maxLicenses {
			urls = append(urls, record.Value)
		}
	}
	return urls
}
