package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// Evidence returns the evidence about the crawler with an ID, see [Crawler.ID]. ok is false if the
// crawler sent no request that matches the filter.
func (s *Source) Evidence(f Filter, id string) (Evidence, bool) {
	d, ok := s.Crawler(f, id)
	if !ok {
		return Evidence{}, false
	}
	e := Evidence{CrawlerDetail: d, Files: []EvidenceFile{}, MissingVersions: []string{}}
	seen := make(map[string]bool)
	for _, rule := range d.Rules {
		if seen[rule.Site+" "+rule.Version] {
			continue
		}
		seen[rule.Site+" "+rule.Version] = true
		if file, ok := s.findFile(rule.Site, rule.Version); ok {
			e.Files = append(e.Files, file)
		} else if !slices.Contains(e.MissingVersions, rule.Version) {
			e.MissingVersions = append(e.MissingVersions, rule.Version)
		}
	}
	return e, true
}

// findFile returns the version of a site's robots.txt with the given SHA-256. ok is false if the
// version is not stored.
func (s *Source) findFile(site, version string) (EvidenceFile, bool) {
	for _, v := range s.SiteStates[site].storedVersions() {
		if ledger.Version(v.Hash).String() == version {
			return EvidenceFile{site, version, v.FirstFetched, v.LastFetched, v.ReplacedAt, v.Robots.Text()}, true
		}
	}
	return EvidenceFile{}, false
}

// WriteText writes the evidence as plain text.
func (e Evidence) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	c := e.Crawler
	line("Requests that robots.txt disallows, by %s", e.describeSender())
	line("")
	switch {
	case len(c.Names) > 0:
		line("Names:       %s", formatNames(c.Names, len(c.Names)))
	case c.Operator != "":
		line("Crawler:     %s, the name of a crawler of %s", replaceControlCharacters(c.Token), c.Operator)
	default:
		line("Crawler:     %s", replaceControlCharacters(c.Token))
	}
	line("Period:      %s to %s (all times are UTC)", formatTime(e.CountedFrom), formatTime(e.To))
	line("Requests:    %d, of which %d disallowed, %d blocked", c.Requests, c.Disallowed, c.Blocked)
	line("Identity:    %d verified, %d claimed, %d unknown, %d spoofed", c.Identities.Verified, c.Identities.Claimed, c.Identities.Unknown, c.Identities.Spoofed)
	line("")
	line("Any client can send any User-Agent. Verified requests come from the operator.")
	line("Spoofed requests do not.")
	line("")
	line("Fetches of robots.txt")
	for _, site := range e.SitesSeen {
		if r := site.RobotsFetch; r != nil {
			line("  %s  %s, status %d%s", formatTime(r.At), replaceControlCharacters(r.Site), r.Status, formatShortVersion(r.Version))
		}
	}
	if e.Crawler.RobotsFetch == nil {
		line("  No fetch was seen.")
	}
	line("")
	line("Rules")
	for _, r := range e.Rules {
		line("  %s  %s, line %d of robots.txt (User-agent: %s)%s", replaceControlCharacters(r.Site), replaceControlCharacters(r.Rule), r.Line, replaceControlCharacters(r.Group), formatShortVersion(r.Version))
		line("    %s, %s, first %s, last %s", formatEstimate(r.Estimate), r.Verdict, formatTime(r.First), formatTime(r.Last))
	}
	line("")
	line("Requests (a sample)")
	for _, r := range slices.Backward(e.RecentSamples) {
		line("  %s  %s %s%s  %s, line %d, %s, from %s, identity %s", formatTime(r.At), replaceControlCharacters(r.Method), replaceControlCharacters(cmp.Or(r.Host, r.Site)), replaceControlCharacters(r.Path), replaceControlCharacters(r.Rule), r.Line, r.Action, r.Network, r.describeIdentity())
	}
	line("")
	line("Paths")
	for _, p := range e.Paths {
		line("  %s%s  line %d, %s, %s, last %s", replaceControlCharacters(cmp.Or(p.Host, p.Site)), replaceControlCharacters(p.Path), p.Line, p.Verdict, formatEstimate(p.Estimate), formatTime(p.Last))
	}
	line("")
	line("User-Agents")
	for _, a := range e.Agents {
		line("  %s  (%s)", replaceControlCharacters(a.UserAgent), formatEstimate(a.Estimate))
	}
	line("")
	line("Networks of the disallowed requests")
	for _, n := range e.Networks {
		line("  %s  %s, identity %s", n.Network, formatEstimate(n.Estimate), n.Identity)
	}
	for _, f := range e.Files {
		until := "now"
		if !f.ReplacedAt.IsZero() {
			until = formatTime(f.ReplacedAt)
		}
		line("")
		line("robots.txt of %s from %s until %s, SHA-256 %s", replaceControlCharacters(f.Site), formatTime(f.FirstFetched), until, f.Version)
		for i, text := range splitLines(f.Text) {
			line("%5d | %s", i+1, replaceControlCharacters(text))
		}
	}
	for _, v := range e.MissingVersions {
		line("")
		line("The robots.txt with the SHA-256 %s is no longer stored.", v)
	}
	return b.Flush()
}

// describeSender describes the sender of the requests, for the title.
func (e Evidence) describeSender() string {
	c := e.Crawler
	switch {
	case c.Token == judge.SpoofedName && len(c.Names) > 0:
		return "clients with false names, which call themselves " + formatNames(c.Names, titleNames)
	case c.Token == judge.SpoofedName:
		return "clients with false names"
	case c.Token == judge.OtherName && len(c.Names) > 0:
		return "clients that call themselves " + formatNames(c.Names, titleNames)
	case c.Token == judge.OtherName:
		return "clients of the class " + c.Class + " without a known name"
	}
	return "clients that call themselves " + replaceControlCharacters(c.Token)
}

// titleNames is the maximum number of names in the title.
const titleNames = 3

func formatNames(names []ClientNameCount, most int) string {
	var list []string
	for _, n := range firstItems(names, most) {
		list = append(list, fmt.Sprintf("%s (%s)", replaceControlCharacters(n.Name), formatEstimate(n.Estimate)))
	}
	if len(names) > most {
		list = append(list, "and others")
	}
	return strings.Join(list, ", ")
}

// describeIdentity returns the identity of a sample's client. For a client with a shared token, the
// client's name is included.
func (s Sample) describeIdentity() string {
	if s.Name == "" {
		return s.Identity
	}
	return s.Identity + ", as " + replaceControlCharacters(s.Name)
}

// formatTime formats a time in UTC, or returns "-" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func formatShortVersion(v string) string {
	if v == "" {
		return ""
	}
	return ", version " + v[:min(12, len(v))]
}

// formatEstimate formats a count as "once", "5 times" or, if it is approximate, "3 to 5 times".
func formatEstimate(e Estimate) string {
	if e.Error == 0 && e.Count == 1 {
		return "once"
	}
	if e.Error == 0 {
		return fmt.Sprintf("%d times", e.Count)
	}
	return fmt.Sprintf("%d to %d times", e.Count-e.Error, e.Count)
}

// replaceControlCharacters replaces control characters in strings that clients choose.
func replaceControlCharacters(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return '?'
		}
		return r
	}, s)
}
