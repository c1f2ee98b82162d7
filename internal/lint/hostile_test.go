package lint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestHostileFiles checks files of 500 KiB that were made to need much time. The server checks each
// new file. Without bounds, some of these files need minutes.
func TestHostileFiles(t *testing.T) {
	full := func(begin string, line func(i int) string) string {
		var text strings.Builder
		text.WriteString(begin)
		for i := 0; text.Len() < policy.MaxSize; i++ {
			text.WriteString(line(i))
		}
		return text.String()[:policy.MaxSize]
	}
	groups := func(rules int, rule string) string {
		return full("", func(i int) string {
			if i%rules == 0 {
				return fmt.Sprintf("User-agent: crawler%d\n", i)
			}
			return fmt.Sprintf(rule, i%rules)
		})
	}
	for name, text := range map[string]string{
		"index pages":           full("User-agent: *\n", func(i int) string { return fmt.Sprintf("Allow: /%d/index.html\n", i) }),
		"words to choose from":  full("User-agent: *\n", func(i int) string { return fmt.Sprintf("Disallow: /q%dz\n", i) }),
		"many groups of rules":  groups(400, "Disallow: /*%d\n"),
		"rules full of stars":   full("User-agent: *\n", func(i int) string { return "Disallow: /" + strings.Repeat("*a", 500) + fmt.Sprint(i) + "\n" }),
		"long rules of stars":   full("User-agent: *\n", func(i int) string { return "Disallow: /" + strings.Repeat("*a*b", 2000) + fmt.Sprint(i) + "\n" }),
		"names above all rules": full(full("", func(i int) string { return fmt.Sprintf("User-agent: bot%d\n", i) })[:policy.MaxSize/2]+"\n", func(i int) string { return fmt.Sprintf("Disallow: /%d*x\n", i) }),
		"empty lines":           strings.Repeat("\n", policy.MaxSize),
		"colons":                strings.Repeat(":\n", policy.MaxSize/2),
		"bytes":                 strings.Repeat("\xff\x00\r\n:#", 60000),
		"nearly known names":    full("", func(i int) string { return fmt.Sprintf("User-agent: Gooooglebot%d\nDisallow: /x\n", i) }),
		"usages":                full("User-agent: *\n", func(i int) string { return fmt.Sprintf("Content-Usage: /%d train-ai=n\n", i) }),
		"usages and rules": full("User-agent: *\n", func(i int) string {
			if i < 900 {
				return fmt.Sprintf("Disallow: /%%61%d*x\n", i)
			}
			return fmt.Sprintf("Content-Usage: /%d train-ai=n\n", i)
		}),
		"a dictionary":       full("User-agent: *\n", func(i int) string { return "Content-Usage: " + strings.Repeat("a=(b c);d, ", 700) + "x\n" }),
		"groups that hide":   "User-agent: *\nContent-Usage: train-ai=n\n" + groups(2, "Disallow: /%d\n"),
		"licenses in groups": full("", func(i int) string { return fmt.Sprintf("User-agent: a%d\nLicense: x\nDisallow: /\n", i) }),
		"delays that count": full("", func(i int) string {
			return fmt.Sprintf("User-agent: crawler-of-a-long-name%d\nCrawl-delay: %d\n", i, i)
		}),
		"delays unread": full("", func(i int) string { return "User-agent: Googlebot\nCrawl-delay: 1\n" }),
		"delays of all": full("", func(i int) string { return "User-agent: *\nCrawl-delay: 1\n" }),
		"delays":        full("", func(i int) string { return fmt.Sprintf("User-agent: a%d\nCrawl-delay: x\n", i) }),
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan int, 1)
			go func() { done <- len(Check(name, []byte(text), Options{}).Findings) }()
			select {
			case n := <-done:
				if n > maxFindings {
					t.Errorf("%d findings", n)
				}
			case <-time.After(20 * time.Second): // an idle machine needs a fortieth of this time
				t.Fatal("it takes too long")
			}
		})
	}
}
