package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func BenchmarkParse(b *testing.B)    { parseComparison(nil).bench(b) }
func BenchmarkVerdict(b *testing.B)  { verdictComparison(nil).bench(b) }
func BenchmarkIdentify(b *testing.B) { identifyComparison().bench(b) }

func BenchmarkChain(b *testing.B) {
	c, err := startChains()
	if err != nil {
		b.Fatal(err)
	}
	defer c.stop()
	c.comparison().bench(b)
}

// BenchmarkStore measures filling a cache with sites.
func BenchmarkStore(b *testing.B) {
	for _, equal := range []bool{true, false} {
		b.Run(fmt.Sprintf("equal=%v", equal), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newStore(1000, equal)
			}
		})
	}
}

func (c comparison) bench(b *testing.B) {
	for _, row := range c.rows {
		for _, cell := range row.cells {
			b.Run(row.name+"/"+cell.who, func(b *testing.B) { cell.bench(b, row.bytes) })
		}
	}
}

// TestTimedVerdictsAreTheSame compares the answers of all parsers for the rows of the
// speed comparison. grobotstxt gives a different answer for a target full of escapes.
func TestTimedVerdictsAreTheSame(t *testing.T) {
	for _, row := range verdictComparison(nil).rows {
		turns := 1
		if strings.Contains(row.name, "another URL") {
			turns = 100
		}
		for turn := range turns {
			var answers []bool
			for _, cell := range row.cells {
				if cell.who == "grobotstxt" && row.name == "8,000 bytes of escapes" {
					continue
				}
				cell.run()
				answers = append(answers, answer)
			}
			if slices.Contains(answers, !answers[0]) {
				t.Errorf("%s, turn %d: the parsers (ours first) answer %v", row.name, turn, answers)
			}
		}
	}
}

// TestAgreement logs how often the peers give our answer, and checks the kinds on which
// they have to agree.
func TestAgreement(t *testing.T) {
	peers, kinds := verdictAgreement(200, nil)
	t.Log(agreementTable(peers, kinds))
	for _, kind := range kinds[:2] { // the kinds that the speed comparison uses
		for i, same := range kind.same {
			if same != kind.questions || kind.positive == 0 || kind.positive == kind.questions {
				t.Errorf("%s: %d questions, of which we disallow %d; %s agrees on %d", kind.kind, kind.questions, kind.positive, peers[i], same)
			}
		}
	}
}

// TestIdentifyGeneratedAgents checks the class of each kind of User-Agent in the speed
// comparison, and of some browsers that resemble robots.
func TestIdentifyGeneratedAgents(t *testing.T) {
	isRobot := identifiers()[0].isRobot
	for _, row := range []struct {
		kinds []agentKind
		robot bool
	}{
		{browserKinds, false},
		{robotKinds, true},
		{[]agentKind{{"devices named like robots", deviceLikeRobot}, {"apps named like robots", appLikeRobot}}, false},
	} {
		for _, kind := range row.kinds {
			random := rand.New(rand.NewPCG(3, 4))
			for range 200 {
				if ua := kind.make(random); isRobot(ua) != row.robot {
					t.Errorf("%s: robot %t: %q", kind.name, !row.robot, ua)
				}
			}
		}
	}
}

func deviceLikeRobot(random *rand.Rand) string {
	return fmt.Sprintf("Mozilla/5.0 (Linux; Android %d; %s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s Mobile Safari/537.36",
		8+random.IntN(8), pick(random, "CUBOT NOTE 20", "Spider 8", "XBot_Senior", "CUBOT_X18_Plus"), chromeVersion(random))
}

func appLikeRobot(random *rand.Rand) string {
	return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) %s/%d.%d.%d Chrome/%s Electron/%d.1.0 Safari/537.36",
		pick(random, "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7"),
		pick(random, "Code", "Cursor", "Slack", "Operator"), 1+random.IntN(4), random.IntN(99), random.IntN(9), chromeVersion(random), 20+random.IntN(15))
}

func TestGeneratedInput(t *testing.T) {
	for _, file := range []struct {
		name, text string
		rules      int
	}{
		{"largest", largestFile(), 0},
		{"catalogue", catalogueFile(catalogueRules), catalogueRules},
		{"10,000 rules", rulesFile(10000, 40), 10000},
		{"the most rules of the plot", catalogueFile(mostRules), mostRules},
	} {
		if len(file.text) > policy.MaxSize {
			t.Errorf("%s: %d bytes exceed policy.MaxSize", file.name, len(file.text))
		}
		if got := policy.Parse([]byte(file.text)).RuleCount(); file.rules > 0 && got != file.rules {
			t.Errorf("%s: %d rules, want %d", file.name, got, file.rules)
		}
	}
	for _, distinct := range []int{40, 1000} {
		different := map[string]bool{}
		robots := 0
		for _, ua := range mixedAgents(1000, distinct) {
			different[ua] = true
			if class := uaident.Identify(ua).Class; class != uaident.Browser {
				robots++
			}
		}
		if len(different) != distinct || robots != 300 {
			t.Errorf("%d different User-Agents with %d robots, want %d with 300", len(different), robots, distinct)
		}
	}
}
