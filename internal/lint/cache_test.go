package lint

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func versionOf(text string, status int) *policy.Version {
	return &policy.Version{Status: status, Robots: policy.Parse([]byte(text)), Hash: sha256.Sum256([]byte(text))}
}

// TestCacheFindsTheSame checks that the cache returns the same findings as CheckParsed, for any
// order of sites.
func TestCacheFindsTheSame(t *testing.T) {
	kept := NewCache()
	for name, text := range map[string]string{
		"nothing wrong":      "User-agent: *\nDisallow: /x\n",
		"a misspelt name":    "User-agent: GTPBot\nDisallow: /\n",
		"sitemaps":           "Sitemap: https://other.example/1.xml\nSitemap: ftp://other.example/2.xml\nSite-map: https://a.test/3.xml\nSitemap: /4.xml\nDisallow: /x\n",
		"many things":        "Disallow: /x\nUser-agent: *\nDisalow: /y\nSitemap: https://other.example/s.xml\nCrawl-delay: x\nHost: a.test\n",
		"a web page":         "<!DOCTYPE html>\n<html>\nSitemap: https://other.example/s.xml\n",
		"an empty file":      "",
		"wrong in each line": strings.Repeat("Nonsense: x\n", 2000),
	} {
		for _, site := range []string{"https://a.test", "", "https://b.test", "https://other.example"} {
			v := versionOf(text, 200)
			want := CheckParsed(v.Robots, Options{Site: site})
			for _, k := range []*Cache{kept, nil} {
				got := k.Report(v, site)
				if !reflect.DeepEqual(got.Findings, want.Findings) || got.UnlistedFindings != want.UnlistedFindings {
					t.Errorf("%s at %q: got %d, %+v\nwant %d, %+v", name, site, got.TotalCount(), got.Findings, want.TotalCount(), want.Findings)
				}
			}
		}
	}
	if got := kept.Report(versionOf("", 404), ""); got.TotalCount() != 0 {
		t.Errorf("a missing file has findings: %+v", got.Findings)
	}
}

// TestKeptIsBounded checks the bound on findings, and that a file is checked once.
func TestKeptIsBounded(t *testing.T) {
	kept := NewCache()
	v := versionOf("Disalow: /x\n", 200)
	if first := kept.Report(v, ""); first != kept.Report(v, "") || len(first.Findings) == 0 {
		t.Error("a text is looked at twice")
	}
	wrong := strings.Repeat("Crawl-delay: x\n", maxFindings)
	for i := range 2 * maxCachedFindings / maxFindings {
		kept.Report(versionOf(fmt.Sprintf("User-agent: a%d\n%s", i, wrong), 200), "")
		if kept.findingCount > maxCachedFindings {
			t.Fatalf("%d findings are kept", kept.findingCount)
		}
	}
	if n := kept.reports.Len(); n < 50 {
		t.Errorf("only %d reports are kept", n)
	}
}
