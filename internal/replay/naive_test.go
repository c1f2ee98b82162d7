package replay

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// naive counts the lines of a Combined log one by one, without the fast code of the replay.
type naive struct {
	versions []Version
	robots   []*policy.Robots
	overlays []*uaident.Overlay

	lines, malformed, other, browsers, requests uint64
	crawlers                                    map[string]*CrawlerReport // keyed by token and class
	rules                                       map[string]uint64
	paths                                       map[string]uint64
}

var combinedLine = regexp.MustCompile(`^(\S+) - .*? \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (?:\d+|-) "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"`)

func newNaive(versions []Version) *naive {
	n := &naive{versions: versions, crawlers: map[string]*CrawlerReport{}, rules: map[string]uint64{}, paths: map[string]uint64{}}
	for _, v := range versions {
		robots := policy.Parse(v.Body)
		n.robots = append(n.robots, robots)
		n.overlays = append(n.overlays, uaident.Default().NewOverlay(robots.GroupNames()))
	}
	return n
}

// current returns the version in force.
func (n *naive) current(at time.Time) int {
	current := 0
	for i, v := range n.versions {
		if !v.From.After(at) {
			current = i
		}
	}
	return current
}

func (n *naive) line(line string) {
	n.lines++
	m := combinedLine.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
	if line == "" {
		n.other++
		return
	}
	if m == nil {
		n.malformed++
		return
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", m[2])
	if err != nil {
		n.malformed++
		return
	}
	words := strings.Split(m[3], " ")
	if len(words) < 2 || !strings.HasPrefix(words[1], "/") {
		n.other++
		return
	}
	target := words[1]
	current := n.current(at)
	client := uaident.Default().IdentifyWithOverlay(m[5], n.overlays[current])
	if client.Class == uaident.Browser {
		n.browsers++
		return
	}
	n.requests++
	who := judge.GroupQuery{Names: client.AppendNames(nil), WildcardApplies: client.WildcardApplies(), LenientKeys: client.ParsesLeniently()}
	group, named, applies := who.Group(n.robots[current])
	groupName := ""
	if named {
		groupName = group.FirstAgent().Name
	}
	name := judge.CrawlerName(client, groupName)
	if name == "" {
		name = "_other"
	}
	c := n.crawlers[name+" "+client.Class.String()]
	if c == nil {
		c = new(CrawlerReport)
		n.crawlers[name+" "+client.Class.String()] = c
	}
	c.Requests++
	path, _, _ := strings.Cut(target, "?")
	if path == "/robots.txt" {
		c.RobotsFetches++
		return
	}
	if !applies {
		c.Exempt++
		return
	}
	v := group.Judge(target)
	if v.Allowed {
		return
	}
	for i := current - 1; i >= 0; i-- {
		until := n.versions[i+1].From
		if at.Sub(until) >= 24*time.Hour {
			break
		}
		var t policy.Target
		t.Set(target, false)
		if who.Verdict(n.robots[i], &t).Allowed {
			c.Stale++
			return
		}
	}
	c.Disallowed++
	n.rules[fmt.Sprintf("%s:%d", n.versions[current].Name, v.Rule.Line)]++
	if strings.Contains(v.Rule.Path, "?") {
		path = target
	}
	n.paths[name+" "+path]++
}

// compare compares a report with the naive counts.
func (n *naive) compare(t *testing.T, r *Report) {
	t.Helper()
	if r.Lines != n.lines || r.Malformed != n.malformed || r.OtherLines != n.other || r.Browsers != n.browsers || r.Requests != n.requests {
		t.Errorf("%d lines, %d malformed, %d others, %d of browsers, %d requests; want %d, %d, %d, %d, %d",
			r.Lines, r.Malformed, r.OtherLines, r.Browsers, r.Requests, n.lines, n.malformed, n.other, n.browsers, n.requests)
	}
	if sum := r.Malformed + r.OtherLines + r.OtherSiteLines + r.OtherTimeLines + r.Browsers + r.Requests; sum != r.Lines {
		t.Errorf("the parts add up to %d of %d lines", sum, r.Lines)
	}
	if len(r.Crawlers) != len(n.crawlers) {
		t.Errorf("%d crawlers, want %d", len(r.Crawlers), len(n.crawlers))
	}
	for _, c := range r.Crawlers {
		want := n.crawlers[c.Token+" "+c.Class]
		if want == nil {
			t.Errorf("%s %s was not there", c.Token, c.Class)
			continue
		}
		if c.Requests != want.Requests || c.Disallowed != want.Disallowed || c.Stale != want.Stale || c.Exempt != want.Exempt || c.RobotsFetches != want.RobotsFetches {
			t.Errorf("%s: %+v, want %+v", c.Token, c, *want)
		}
	}
	if len(r.Rules) != len(n.rules) {
		t.Errorf("%d rules, want %d", len(r.Rules), len(n.rules))
	}
	for _, rule := range r.Rules {
		if want := n.rules[fmt.Sprintf("%s:%d", rule.Robots, rule.Line)]; rule.Requests != want {
			t.Errorf("%s: %d requests, want %d", rule.Rule, rule.Requests, want)
		}
	}
	for _, p := range r.Paths {
		if want := n.paths[p.Token+" "+p.Path]; p.Requests < want || p.Requests-p.CountError > want {
			t.Errorf("%s: %d requests (at most %d too many), want %d", p.Path, p.Requests, p.CountError, want)
		}
	}
}

// TestReplayCountsAsNaively compares the replay of random logs, in random pieces and compressions,
// with a naive count.
func TestReplayCountsAsNaively(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 2))
			begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
			versions := []Version{{Name: "a", From: begin, Body: []byte(sampleRobots)}}
			if seed%2 == 1 { // more versions, within the time of the log
				versions = append(versions,
					Version{Name: "b", From: begin.Add(time.Minute), Body: []byte("User-agent: *\nDisallow: /articles\nDisallow: /assets\n")},
					Version{Name: "c", From: begin.Add(2 * time.Minute), Body: []byte("User-agent: *\nDisallow: /\n\nUser-agent: ExampleSpider\nDisallow: /shop\n")},
					Version{Name: "d", From: begin.Add(25 * time.Hour), Body: []byte(sampleRobots + "\nUser-agent: bingbot\nDisallow: /articles/\n")})
			}
			l := newSample(seed, begin)
			want := newNaive(versions)
			dir := t.TempDir()
			var logs []string
			for file := range 3 {
				var text bytes.Buffer
				for range 1000 + random.IntN(1000) {
					switch e := l.Next(); random.IntN(150) {
					case 0:
						text.WriteString("\n")
					case 1:
						fmt.Fprintf(&text, "%s - - [%s] \"GET /cut o\n", e.Address, e.Time.Format("02/Jan/2006:15:04:05 -0700"))
					case 2:
						fmt.Fprintf(&text, "%s - - [%s] \"\\x16\\x03\" 400 0 \"-\" \"-\"\r\n", e.Address, e.Time.Format("02/Jan/2006:15:04:05 -0700"))
					case 3: // a jump of time, so that versions become a day old
						l.Skip(time.Duration(random.IntN(8)) * time.Hour)
						fallthrough
					default:
						_ = e.Combined(&text)
					}
				}
				body := text.Bytes()
				if random.IntN(2) == 0 {
					body = bytes.TrimSuffix(body, []byte("\n"))
				}
				for line := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n"), "\n") {
					want.line(line)
				}
				name := filepath.Join(dir, fmt.Sprintf("access.%d.log", file))
				if err := os.WriteFile(name, compressed(t, body, random.IntN(3)), 0o600); err != nil {
					t.Fatal(err)
				}
				logs = append(logs, name)
			}
			random.Shuffle(len(logs), func(i, j int) { logs[i], logs[j] = logs[j], logs[i] })
			if seed == 0 {
				logs = []string{filepath.Join(dir, "access.*")}
			}
			r, err := Run(context.Background(), Options{Logs: logs, Versions: versions, Workers: 1 + random.IntN(5), maxLine: 1000 + random.IntN(1<<16)})
			if err != nil {
				t.Fatal(err)
			}
			want.compare(t, r)
			if seed%2 == 1 && r.Stale == 0 {
				t.Error("nothing is stale; the test says less than it should")
			}
		})
	}
}

// compressed compresses with gzip, zstd or not at all.
func compressed(t *testing.T, body []byte, how int) []byte {
	t.Helper()
	var b bytes.Buffer
	switch how {
	case 0:
		return body
	case 1:
		z := gzip.NewWriter(&b)
		half := len(body) / 2
		_, _ = z.Write(body[:half]) // two members, as in appended logs
		_ = z.Close()
		z.Reset(&b)
		_, _ = z.Write(body[half:])
		_ = z.Close()
	default:
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = z.Write(body)
		_ = z.Close()
	}
	return b.Bytes()
}
