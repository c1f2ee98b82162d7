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

// Robots returns the robots.txt of the site that the filter selects. ok is false if the filter
// selects no site, or an unknown one.
func (s *Source) Robots(f Filter) (Robots, bool) {
	v := s.applyFilter(f)
	live, known := s.SiteStates[f.Site]
	site := slices.IndexFunc(s.Ledger.Sites, func(site *ledger.Site) bool { return site.Name == f.Site })
	if f.Site == "" || !known && site < 0 {
		return Robots{}, false
	}
	r := Robots{ViewHeader: v.header(), Health: s.robotsHealth(live), HitsComplete: true, Lines: []RobotsLine{}, Findings: []lint.Finding{}, Versions: []RobotsVersion{}}
	good := live.currentVersion()
	if good == nil {
		return r, true
	}
	found := s.lintReport(live)
	r.UnlistedFindings, r.Findings = found.UnlistedFindings, append(r.Findings, found.Findings...)
	r.Lines, r.Licenses = annotateLines(good.Robots, r.Findings), good.Robots.LicenseURLs()
	if site >= 0 {
		r.countHits(s.Ledger.Sites[site].VersionHits, good.Hash)
	}
	versions := live.storedVersions()
	for i, version := range versions {
		shown := RobotsVersion{
			Version: formatVersion(version.Hash), Status: version.Status, Bytes: len(version.Robots.Text()), Rules: version.Robots.RuleCount(),
			FirstFetched: version.FirstFetched, LastFetched: version.LastFetched, ReplacedAt: version.ReplacedAt, Text: version.Robots.Text(),
			Diff: []DiffLine{}, ChangedVerdicts: []ChangedVerdict{},
		}
		if i+1 < len(versions) {
			before := versions[i+1].Robots
			shown.Diff = diffLines(splitLines(before.Text()), splitLines(version.Robots.Text()))
			shown.ChangedVerdicts = v.findChangedVerdicts(before, version.Robots)
		}
		r.Versions = append(r.Versions, shown)
	}
	return r, true
}

// countHits sets Hits and NeverHit of all lines. files has the hits by version.
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

// isEmptyRule reports whether a rule has an empty path. Such a rule matches no request.
func isEmptyRule(text string) bool {
	text, _, _ = strings.Cut(text, "#")
	_, path, _ := strings.Cut(text, ":")
	return strings.TrimSpace(path) == ""
}

// annotateLines returns the lines of a robots.txt with their kinds and findings.
func annotateLines(robots *policy.Robots, findings []lint.Finding) []RobotsLine {
	lines := []RobotsLine{}
	for i, text := range splitLines(robots.Text()) {
		lines = append(lines, RobotsLine{Line: i + 1, Text: text, Kind: KindOther})
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

// splitLines splits a robots.txt into lines. As in the parser, a line ends with LF, CR or CRLF.
func splitLines(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return []string{}
	}
	return strings.Split(text, "\n")
}

// These are bounds of a diff: the number of context lines, and of steps of the search.
const (
	diffContext = 3
	maxDiff     = 4_000_000
)

// diffLines returns the lines that differ between two lists of lines, with the lines around them.
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
	all = append(all, diffByLCS(before[from:len(before)-to], after[from:len(after)-to], from)...)
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

// diffByLCS compares two lists of lines by their longest common subsequence. If the lists are too
// long, it returns all lines as changed. offset is added to line numbers.
func diffByLCS(before, after []string, offset int) (lines []DiffLine) {
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
	common := make([]int32, (len(before)+1)*width) // This is the length of the common subsequence from (i, j) on.
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

// maxChangedVerdicts is the maximum number of changed verdicts of a version.
const maxChangedVerdicts = 50

// findChangedVerdicts returns the stored paths for which two versions have different verdicts. Each
// path is judged for the crawler that requested it.
func (v *filteredSource) findChangedVerdicts(before, after *policy.Robots) []ChangedVerdict {
	list := []ChangedVerdict{}
	var target policy.Target
	for _, e := range v.entries {
		subject := v.newGroupQuery(e.row.Token, e.row.Class)
		for _, item := range e.row.Paths.Items {
			if strings.HasSuffix(item.Key.Path, "…") || !utf8.ValidString(item.Key.Path) {
				continue // A cut path can have another verdict.
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
				Token: e.row.Token, Path: item.Key.Path, Before: formatVerdict(was), After: formatVerdict(is),
				Rule: is.Rule.String(), Line: is.Rule.Line, Count: item.Count,
			})
		}
	}
	slices.SortFunc(list, func(a, b ChangedVerdict) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Path, b.Path))
	})
	return list[:min(len(list), maxChangedVerdicts)]
}

func formatVerdict(v policy.Verdict) string {
	if v.Allowed {
		return judge.Allowed.String()
	}
	return judge.Disallowed.String()
}
