package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestLicenses(t *testing.T) {
	const robots = "License: https://example.com/license.xml\nUser-agent: *\nLICENSE:http://example.com/other # comment\nLicense: /relative\nLicense:\nLicense: https://\nDisallow: /\nSitemap: https://example.com/sitemap.xml\nLLM-Policy: https://example.com/llm\n"
	if got, want := Parse([]byte(robots)).LicenseURLs(), []string{"https://example.com/license.xml", "http://example.com/other"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Parse([]byte(strings.Repeat("License: https://a.example/x\n", 100))).LicenseURLs(); len(got) != maxLicenses {
		t.Errorf("%d licenses", len(got))
	}
}
