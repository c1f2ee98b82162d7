package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Robots returns the view of the robots.txt of the filter's site. ok is false if the filter
// has no site or the site is unknown.
func (s *Source) Robots(f Filter) (Robots, bool) {
	v := s.view(f)
	live, known := s.SiteStates[f.Site]
	site := slices.IndexFunc(s.Ledger.Sites, func(site *ledger.Site) bool { return site.Name == f.Site })
	if f.Site == "" || !known && site < 0 {
		return Robots{}, false
	}
	r := Robots{ViewHeader: v.head(), Health: s.health(live), HitsComplete: true, Lines: []Line{}, Findings: []lint.Finding{}, Versions: []Version{}}
	good := live.current()
	if good == nil {
		return r, true
	}
	found := s.findings(live)
	r.UnlistedFindings, r.Findings = found.UnlistedFindings, append(r.Findings, found.Findings...)
	r.Lines, r.Licenses = linesOf(good.Robots, r.Findings), good.Robots.LicenseURLs()
	if site >= 0 {
		r.countHits(s.Ledger.Sites[site].Files, good.Hash)
	}
	versions := live.versions()
	for i, version := range versions {
		shown := Version{
			Version: versionOf(version.Hash), Status: version.Status, Bytes: len(version.Robots.Text()), Rules: version.Robots.RuleCount(),
			FirstFetched: version.FirstFetched, LastFetched: version.LastFetched, GraceUntil: version.ReplacedAt, Text: version.Robots.Text(),
			Diff: []DiffLine{}, ChangedVerdicts: []ChangedVerdict{},
		}
		if i+1 < len(versions) {
			before := versions[i+1].Robots
			shown.Diff = diffLines(splitLines(before.Text()), splitLines(version.Robots.Text()))
			shown.ChangedVerdicts = v.changedVerdicts(before, version.Robots)
		}
		r.Versions = append(r.Versions, shown)
	}
	return r, true
}

// countHits sets the hits of all lines.
func (r *Robots) countHits(files []ledger.LineHits, current ledger.Version) {
	i := slices.IndexFunc(files, func(f ledger.LineHits) bool { return f.Version == current })
	if i < 0 {
		return
	}
	r.CountedSince, r.HitsComplete = ledger.FromUnixMilli(files[i].Since), !files[i].IsFull()
	for l := range r.Lines {
		line := &r.Lines[l]
		line.Hits = files[i].Lines[uint32(line.Line)]
		if line.Hits == 0 && r.HitsComplete && (line.Kind == KindAgent || line.Kind == KindRule && !isEmptyRule(line.Text)) {
			line.NeverHit = true
			if line.Kind == KindRule {
				r.RulesNeverHit++
			}
		}
	}
}

// isEmptyRule reports whether a rule has an empty path and never matches.
func isEmptyRule(text string) bool {
	text, _, _ = strings.Cut(text, "#")
	_, path, _ := strings.Cut(text, ":")
	return strings.TrimSpace(path) == ""
}

// linesOf returns the lines of a file.
func linesOf(robots *policy.Robots, findings []lint.Finding) []Line {
	lines := []Line{}
	for i, text := range splitLines(robots.Text()) {
		lines = append(lines, Line{Line: i + 1, Text: text, Kind: KindOther})
	}
	mark := func(line int, kind LineKind) {
		if line >= 1 && line <= len(lines) {
			lines[line-1].Kind = kind
		}
	}
	for _, group := range robots.Groups() {
		for _, agent := range group.Agents {
			mark(agent.Line, KindAgent)
		}
		for _, rule := range group.Rules {
			mark(rule.Line, KindRule)
		}
	}
	for _, record := range robots.Records() {
		mark(record.Line, KindRecord)
	}
	for _, f := range findings {
		if f.Line >= 1 && f.Line <= len(lines) {
			lines[f.Line-1].Findings = append(lines[f.Line-1].Findings, f)
		}
	}
	return lines
}

// splitLines splits a robots.txt into lines. As in the parser, a line ends with LF, CR or
// CRLF.
func splitLines(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return []string{}
	}
	return strings.Split(text, "\n")
}

// Bounds of a diff: context lines, and steps of the search.
const (
	diffContext = 3
	maxDiff     = 4_000_000
)

// diffLines returns the changes between two lists of lines, with context.
func diffLines(before, after []string) []DiffLine {
	from := 0
	for from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	to := 0
	for to < len(before)-from && to < len(after)-from && before[len(before)-1-to] == after[len(after)-1-to] {
		to++
	}
	all := []DiffLine{}
	for i := range from {
		all = append(all, DiffLine{" ", after[i], i + 1})
	}
	all = append(all, diffMiddle(before[from:len(before)-to], after[from:len(after)-to], from)...)
	for i := len(after) - to; i < len(after); i++ {
		all = append(all, DiffLine{" ", after[i], i + 1})
	}
	near := make([]bool, len(all))
	for i, line := range all {
		if line.Op != " " {
			for j := max(0, i-diffContext); j <= min(len(all)-1, i+diffContext); j++ {
				near[j] = true
			}
		}
	}
	shown := []DiffLine{}
	for i, line := range all {
		if near[i] {
			shown = append(shown, line)
		}
	}
	return shown
}

// diffMiddle returns the difference by the longest common subsequence. If the lists are too
// long, all of before is removed and all of after is added.
func diffMiddle(before, after []string, offset int) (lines []DiffLine) {
	if len(before)*len(after) > maxDiff {
		for i, text := range before {
			lines = append(lines, DiffLine{"-", text, offset + i + 1})
		}
		for i, text := range after {
			lines = append(lines, DiffLine{"+", text, offset + i + 1})
		}
		return lines
	}
	width := len(after) + 1
	common := make([]int32, (len(before)+1)*width) // length of the common subsequence from (i, j) on
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			lines = append(lines, DiffLine{" ", after[j], offset + j + 1})
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && common[(i+1)*width+j] >= common[i*width+j+1]:
			lines = append(lines, DiffLine{"-", before[i], offset + i + 1})
			i++
		default:
			lines = append(lines, DiffLine{"+", after[j], offset + j + 1})
			j++
		}
	}
	return lines
}

// maxRejudged is the maximum number of paths of a change.
const maxRejudged = 50

// changedVerdicts returns the paths of the ledger with another verdict in the new version. Crawlers
// select their group by default rules.
func (v *view) changedVerdicts(before, after *policy.Robots) []ChangedVerdict {
	list := []ChangedVerdict{}
	var target policy.Target
	for _, e := range v.entries {
		subject := v.groupQueryOf(e.row.Token, e.row.Class)
		for _, item := range e.row.Paths.Items {
			if strings.HasSuffix(item.Key.Path, "…") || !utf8.ValidString(item.Key.Path) {
				continue // a cut path can have another verdict
			}
			target.Set(item.Key.Path, false)
			was, is := subject.Verdict(before, &target), subject.Verdict(after, &target)
			if was.Allowed == is.Allowed {
				continue
			}
			same := func(r ChangedVerdict) bool { return r.Token == e.row.Token && r.Path == item.Key.Path }
			if i := slices.IndexFunc(list, same); i >= 0 {
				list[i].Count += item.Count
				continue
			}
			list = append(list, ChangedVerdict{
				Token: e.row.Token, Path: item.Key.Path, Before: verdictWord(was), After: verdictWord(is),
				NewRule: is.Rule.String(), Line: is.Rule.Line, Count: item.Count,
			})
		}
	}
	slices.SortFunc(list, func(a, b ChangedVerdict) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Path, b.Path))
	})
	return list[:min(len(list), maxRejudged)]
}

func verdictWord(v policy.Verdict) string {
	if v.Allowed {
		return judge.Allowed.String()
	}
	return judge.Disallowed.String()
}
