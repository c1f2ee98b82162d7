package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// verdictCase is a question for all parsers: may the crawler fetch the target?
type verdictCase struct{ robots, token, target string }

// verdictKind is a family of questions about one feature of robots.txt.
type verdictKind struct {
	name string
	make func(*rand.Rand) verdictCase
}

// verdictKinds are the kinds of questions. The first two are the ones that the speed
// comparison uses. Each other kind is about a feature that some parsers are known to
// interpret differently.
var verdictKinds = []verdictKind{
	{"plain rules, plain URLs", func(random *rand.Rand) verdictCase {
		text, target := rulesFile(60, 0), plainTarget(random)
		if random.IntN(2) == 0 { // a URL below the path of a rule
			_, target, _ = strings.Cut(pick(random, strings.Split(strings.TrimSpace(text), "\n")[1:]...), ": ")
			target += "/page.html"
		}
		return verdictCase{text, "Googlebot", target}
	}},
	{"wildcards and `$`", func(random *rand.Rand) verdictCase {
		rule := pick(random, "/shop/*/edit", "/*.pdf$", "/*?sort=", "/a*b*c$", "/*/print$", "/shop*")
		target := pick(random, "/shop/1/edit", "/x.pdf", "/x.pdf?a", "/l?sort=1", "/a1b2c", "/a1b2c3", "/w/print", "/w/print/", "/shopping")
		return verdictCase{"User-agent: *\nDisallow: " + rule + "\n", "Googlebot", target}
	}},
	{"the longest rule wins", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: *\nDisallow: /shop/\nAllow: /shop/sale/\nDisallow: /shop/*/old\nAllow: /*.jpg$\n", "Googlebot",
			pick(random, "/shop/", "/shop/sale/x", "/shop/sale/old", "/shop/x.jpg", "/shop/sale/x.jpg", "/other")}
	}},
	{"escapes in rule or URL", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: *\nDisallow: " + pick(random, "/private", "/caf%C3%A9", "/café", "/a%7Eb", "/q%2fr", "/p%61th") + "\n", "Googlebot",
			pick(random, "/%70rivate", "/private", "/caf%c3%a9", "/caf%C3%A9", "/a~b", "/a%7eb", "/q%2Fr", "/q/r", "/path", "/p%61th")}
	}},
	{"doubled or escaped slashes", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: *\nDisallow: /private/\n", "Googlebot",
			pick(random, "/private/x", "//private/x", "/private//x", "/private%2Fx", "/%2Fprivate/x", "/public//x")}
	}},
	{"dot segments", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: *\nAllow: /public/\nDisallow: /private/\n", "Googlebot",
			pick(random, "/public/../private/x", "/./private/x", "/x/%2e%2e/private/", "/public/./x", "/private/../public/x")}
	}},
	{"names with a digit, a dot or a space", func(random *rand.Rand) verdictCase {
		name := pick(random, "MJ12bot", "360Spider", "archive.org_bot", "Sogou web spider", "Yahoo! Slurp", "008")
		return verdictCase{"User-agent: " + name + "\nDisallow: /\n\nUser-agent: *\nDisallow: /x\n", name, pick(random, "/", "/a", "/x")}
	}},
	{"one crawler's name within another's", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: " + pick(random, "Googlebot", "bingbot", "Google", "Googlebot-Image") + "\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n",
			pick(random, "Googlebot", "Googlebot-Image", "AB42bot", "bing"), pick(random, "/a", "/b")}
	}},
	{"groups of one name in several places", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: Googlebot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\nUser-agent: Googlebot\nDisallow: /c\n",
			pick(random, "Googlebot", "bingbot"), pick(random, "/a", "/b", "/c")}
	}},
	{"another key between user-agent lines", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: a\n" + pick(random, "Crawl-delay: 5", "Sitemap: /s.xml", "Host: example.com", "# note") + "\nUser-agent: b\nDisallow: /x\n",
			pick(random, "a", "b"), pick(random, "/x", "/y")}
	}},
	{"misspelt and similar keys", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: *\n" + pick(random, "Dissallow: /x", "Disalow: /x", "Disallow /x", "DisallowAITraining: /", "Allowed: /x") + "\n",
			"Googlebot", pick(random, "/x", "/y")}
	}},
	{"`index.html` stands for its directory", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: *\nDisallow: /\nAllow: /dir/index.html\n", "Googlebot", pick(random, "/dir/", "/dir/index.html", "/dir/x")}
	}},
	{"/robots.txt itself", func(random *rand.Rand) verdictCase {
		return verdictCase{"User-agent: *\nDisallow: /\n", "Googlebot", pick(random, "/robots.txt", "/robots.txt?x")}
	}},
}

func plainTarget(random *rand.Rand) string {
	return fmt.Sprintf("/%s/%s-%d", pick(random, words...), pick(random, words...), random.IntN(60))
}

// agreement counts how often each peer gave our answer.
type agreement struct {
	kind      string
	questions int
	positive  int   // number of our answers that disallow
	same      []int // number of equal answers, by peer
}

// verdictAgreement asks every parser n questions of each kind. If temoto cannot parse a
// file, that counts as a different answer.
func verdictAgreement(n int, g *google) (peers []string, kinds []agreement) {
	peers = []string{"grobotstxt", "temoto"}
	if g != nil {
		peers = append(peers, googleName)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range verdictKinds {
		a := agreement{kind: kind.name, questions: n, same: make([]int, len(peers))}
		for range n {
			q := kind.make(random)
			j, err := parseAll(q.robots)
			ours := j.byGuard(q.token, q.target)
			if !ours {
				a.positive++
			}
			answers := []bool{j.byGrobotstxt(q.token, q.target), err == nil && j.byTemoto(q.token, q.target)}
			if g != nil {
				answers = append(answers, g.allowed(q.robots, q.token, q.target))
			}
			for i, answer := range answers {
				if i == 1 && err != nil {
					answer = !ours
				}
				if answer == ours {
					a.same[i]++
				}
			}
		}
		kinds = append(kinds, a)
	}
	return peers, kinds
}

// byGuard is byOurs with the interpretation that the guard uses for the crawler.
func (j *parsedFile) byGuard(token, target string) bool {
	if known := uaident.Default().Lookup(token); known != nil && known.ParsesLeniently() {
		return j.ours.SelectWithLenientKeys(true, token).Judge(target).Allowed
	}
	return j.byOurs(token, target)
}

// agreementTable renders how often each peer gives our answer.
func agreementTable(peers []string, kinds []agreement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| kind of question | we forbid | %s |\n|---|---|%s\n", strings.Join(peers, " | "), strings.Repeat("---|", len(peers)))
	total := make([]int, len(peers))
	questions, positive := 0, 0
	for _, a := range kinds {
		fmt.Fprintf(&b, "| %s | %s", a.kind, percent(a.positive, a.questions))
		for i, same := range a.same {
			fmt.Fprintf(&b, " | %s", percent(same, a.questions))
			total[i] += same
		}
		questions += a.questions
		positive += a.positive
		b.WriteString(" |\n")
	}
	fmt.Fprintf(&b, "| all | %s", percent(positive, questions))
	for _, same := range total {
		fmt.Fprintf(&b, " | %s", percent(same, questions))
	}
	b.WriteString(" |\n")
	return b.String()
}

func percent(n, of int) string { return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(of)) }
