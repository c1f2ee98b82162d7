package policy

import "strings"

// maxLicenses bounds how many License lines of a file are told.
const maxLicenses = 10

// Licenses returns the values of the License lines, in file order, the first ten of
// many: URLs of terms by Really Simple Licensing (rslstandard.org), for the whole file
// wherever they stand. What is no whole URL is left out. They forbid no fetching.
func (r *Robots) Licenses() (urls []string) {
	for _, record := range r.records {
		scheme, rest, ok := strings.Cut(record.Value, "://")
		if strings.EqualFold(record.Key, "license") && ok && rest != "" && !strings.ContainsAny(scheme, "/?# \t") && len(urls) < maxLicenses {
			urls = append(urls, record.Value)
		}
	}
	return urls
}
