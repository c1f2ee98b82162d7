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

// Evidence returns the evidence about the crawler with the given id. ok is false if the
// window has none.
func (s *Source) Evidence(f Filter, id string) (Evidence, bool) {
	d, ok := s.Crawler(f, id)
	if !ok {
		return Evidence{}, false
	}
	e := Evidence{CrawlerDetail: d, Files: []EvidenceFile{}, Missing: []string{}}
	seen := make(map[string]bool)
	for _, rule := range d.Rules {
		if seen[rule.Site+" "+rule.Version] {
			continue
		}
		seen[rule.Site+" "+rule.Version] = true
		if file, ok := s.file(rule.Site, rule.Version); ok {
			e.Files = append(e.Files, file)
		} else if !slices.Contains(e.Missing, rule.Version) {
			e.Missing = append(e.Missing, rule.Version)
		}
	}
	return e, true
}

// file returns a version of a site's robots.txt. ok is false if the version is not stored.
func (s *Source) file(site, version string) (EvidenceFile, bool) {
	for _, v := range s.Live[site].versions() {
		if ledger.Version(v.Hash).String() == version {
			return EvidenceFile{site, version, v.FirstFetched, v.LastFetched, v.ReplacedAt, v.Robots.Text()}, true
		}
	}
	return EvidenceFile{}, false
}

// WriteText writes the evidence in lines of moderate length.
func (e Evidence) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	c := e.Crawler
	line("Requests that robots.txt disallows, by %s", e.sender())
	line("")
	switch {
	case len(c.Names) > 0:
		line("Names:       %s", namesText(c.Names, len(c.Names)))
	case c.Operator != "":
		line("Crawler:     %s, the name of a crawler of %s", clean(c.Token), c.Operator)
	default:
		line("Crawler:     %s", clean(c.Token))
	}
	line("Period:      %s to %s (all times are UTC)", stamp(e.CountedFrom), stamp(e.To))
	line("Requests:    %d, of which %d disallowed, %d blocked", c.Requests, c.Disallowed, c.Blocked)
	line("Identity:    %d verified, %d claimed, %d unknown, %d spoofed", c.Identities.Verified, c.Identities.Claimed, c.Identities.Unknown, c.Identities.Spoofed)
	line("")
	line("Any client can send any User-Agent. Verified requests come from the operator.")
	line("Spoofed requests do not.")
	line("")
	line("Fetches of robots.txt")
	for _, site := range e.SitesSeen {
		if r := site.RobotsFetch; r != nil {
			line("  %s  %s, status %d%s", stamp(r.At), clean(r.Site), r.Status, version(r.Version))
		}
	}
	if e.Crawler.RobotsFetch == nil {
		line("  No fetch was seen.")
	}
	line("")
	line("Rules")
	for _, r := range e.Rules {
		line("  %s  %s, line %d of robots.txt (User-agent: %s)%s", clean(r.Site), clean(r.Rule), r.Line, clean(r.Group), version(r.Version))
		line("    %s, %s, first %s, last %s", atMost(r.Estimate), r.Verdict, stamp(r.First), stamp(r.Last))
	}
	line("")
	line("Requests (a sample)")
	for _, r := range slices.Backward(e.Recent) {
		line("  %s  %s %s%s  %s, line %d, %s, from %s, identity %s", stamp(r.At), clean(r.Method), clean(cmp.Or(r.Host, r.Site)), clean(r.Path), clean(r.Rule), r.Line, r.Action, r.Network, r.identity())
	}
	line("")
	line("Paths")
	for _, p := range e.Paths {
		line("  %s%s  line %d, %s, %s, last %s", clean(cmp.Or(p.Host, p.Site)), clean(p.Path), p.Line, p.Verdict, atMost(p.Estimate), stamp(p.Last))
	}
	line("")
	line("User-Agents")
	for _, a := range e.Agents {
		line("  %s  (%s)", clean(a.UserAgent), atMost(a.Estimate))
	}
	line("")
	line("Networks of the disallowed requests")
	for _, n := range e.Networks {
		line("  %s  %s, identity %s", n.Network, atMost(n.Estimate), n.Identity)
	}
	for _, f := range e.Files {
		until := "now"
		if !f.Until.IsZero() {
			until = stamp(f.Until)
		}
		line("")
		line("robots.txt of %s from %s until %s, SHA-256 %s", clean(f.Site), stamp(f.FirstRead), until, f.Version)
		for i, text := range splitLines(f.Text) {
			line("%5d | %s", i+1, clean(text))
		}
	}
	for _, v := range e.Missing {
		line("")
		line("The robots.txt with the SHA-256 %s is no longer stored.", v)
	}
	return b.Flush()
}

// sender describes the sender of the requests.
func (e Evidence) sender() string {
	c := e.Crawler
	switch {
	case c.Token == judge.SpoofedName && len(c.Names) > 0:
		return "clients under false names: they call themselves " + namesText(c.Names, titleNames)
	case c.Token == judge.SpoofedName:
		return "clients under false names"
	case c.Token == judge.OtherName && len(c.Names) > 0:
		return "clients that call themselves " + namesText(c.Names, titleNames)
	case c.Token == judge.OtherName:
		return "clients of the class " + c.Class + " without a known name"
	}
	return "clients that call themselves " + clean(c.Token)
}

// titleNames is the maximum number of names in the title.
const titleNames = 3

func namesText(names []NameCount, most int) string {
	var list []string
	for _, n := range first(names, most) {
		list = append(list, fmt.Sprintf("%s (%s)", clean(n.Name), atMost(n.Estimate)))
	}
	if len(names) > most {
		list = append(list, "and others")
	}
	return strings.Join(list, ", ")
}

// identity returns the identity of a sample's client, with the client's name if the title
// does not contain it.
func (s Sample) identity() string {
	if s.Name == "" {
		return s.Identity
	}
	return s.Identity + ", as " + clean(s.Name)
}

// stamp formats a time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func version(v string) string {
	if v == "" {
		return ""
	}
	return ", version " + v[:min(12, len(v))]
}

// atMost formats a count with its uncertainty.
func atMost(e Estimate) string {
	if e.Error == 0 && e.Count == 1 {
		return "once"
	}
	if e.Error == 0 {
		return fmt.Sprintf("%d times", e.Count)
	}
	return fmt.Sprintf("%d to %d times", e.Count-e.Error, e.Count)
}

// clean replaces control characters in strings from clients.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return '?'
		}
		return r
	}, s)
}
