package policy

import "strings"

// maxLicenses is the maximum number of reported License lines.
const maxLicenses = 10

// LicenseURLs returns the values of the first ten License lines in file order. They are URLs of
// terms by Really Simple Licensing (rslstandard.org) for the whole file, wherever the line
// stands. Relative URLs are omitted. License lines disallow nothing.
func (r *Robots) LicenseURLs() (urls []string) {
	for _, record := range r.records {
		scheme, rest, ok := strings.Cut(record.Value, "://")
		if strings.EqualFold(record.Key, "license") && ok && rest != "" && !strings.ContainsAny(scheme, "/?# \t") && len(urls) < maxLicenses {
			urls = append(urls, record.Value)
		}
	}
	return urls
}
