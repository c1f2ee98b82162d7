package managed

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotsguard/caddy-robots-guard/caddymodule/robotstxt/rules"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// AnyCrawler is the name of the group for crawlers without their own group.
const AnyCrawler = "*"

// Rule is a rule of a configuration or of a list.
type Rule = rules.Rule

// rule is a [Rule] that was checked and parsed. A Rule with a training preference becomes several
// rules.
type rule struct {
	Rule                   // The hosts of this rule are normalized.
	name       string      // name is the result of [Rule.Name].
	list       string      // list is the name of the list of rules, or "" for a rule of the configuration.
	window     Window      // window is parsed from the fields From and Until.
	tokens     []string    // tokens are the product tokens that the field For selects.
	preference *preference // preference is parsed from the field ContentUsage or ContentSignal.
}

// RuleError is an error in a rule of a configuration or of a list.
type RuleError struct {
	Rule     string // Rule is the name of the rule.
	Position string // Position is the file and line, or "" if they are unknown.
	Err      error
}

// Error returns the name of the rule and the error, without the position.
func (e *RuleError) Error() string { return e.Rule + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *RuleError) Unwrap() error { return e.Err }

// Plan has the rules in force for a set of hosts, by crawler, and the other lines to add to the
// site's robots.txt. A Plan is immutable.
type Plan struct {
	byCrawler         map[string]*crawlerRules // The key is the name of the crawler in lower case.
	crawlerOrder      []string                 // crawlerOrder has the keys of byCrawler, sorted.
	inheritors        []groupNames
	preferencesForAll []*rule // These are the rules with preferences about all crawlers.
	sitemaps          []string
	extraLines        []string
	dependsOnHost     bool // dependsOnHost is true if a line contains the host placeholder.
}

// crawlerRules are the rules in force for one crawler, or for the * group.
type crawlerRules struct {
	name          string // The name has the case in which the file has it.
	crawler       *uaident.Crawler
	rules         []*rule
	ids           []string
	wholeSiteLine string   // wholeSiteLine is the line for the whole site, or "".
	pathLines     []string // pathLines are the lines for paths.
	delayLine     string   // delayLine is the Crawl-delay line, or "".
	preferences   []preference
}

// newPlan returns the plan for rules that do not contradict each other. An invalid sitemap or line
// is an error.
func newPlan(resolver *nameResolver, rules []*rule, sitemaps, lines []string) (*Plan, error) {
	p := &Plan{byCrawler: make(map[string]*crawlerRules), sitemaps: sitemaps, extraLines: lines}
	for _, r := range rules {
		p.addRule(resolver.registry, r)
	}
	p.addPreferencesForAll()
	for _, w := range p.byCrawler {
		w.ids, w.pathLines = removeDuplicates(w.ids), removeDuplicates(w.pathLines)
	}
	if err := p.validateExtraLines(); err != nil {
		return nil, err
	}
	slices.Sort(p.crawlerOrder)
	p.findInheritors(resolver.crawlerNames)
	return p, nil
}

// IsEmpty reports whether the plan has nothing to add to a base.
func (p *Plan) IsEmpty() bool { return len(p.byCrawler)+len(p.sitemaps)+len(p.extraLines) == 0 }

// addRule adds a rule to the rules of each of its crawlers.
func (p *Plan) addRule(registry *uaident.Registry, r *rule) {
	if len(r.For) == 0 {
		p.preferencesForAll = append(p.preferencesForAll, r)
	}
	for _, name := range r.tokens {
		folded := strings.ToLower(name)
		w := p.byCrawler[folded]
		if w == nil {
			w = &crawlerRules{name: name}
			if name != AnyCrawler {
				w.crawler = registry.Lookup(name)
			}
			p.byCrawler[folded] = w
			p.crawlerOrder = append(p.crawlerOrder, folded)
		}
		w.addRule(r)
	}
}

// addPreferencesForAll adds the preferences about all crawlers to the rules of the * group. If a
// rule is about the * group only, its preference wins.
func (p *Plan) addPreferencesForAll() {
	w := p.byCrawler[AnyCrawler]
	if w == nil && len(p.preferencesForAll) > 0 {
		w = &crawlerRules{name: AnyCrawler}
		p.byCrawler[AnyCrawler] = w
		p.crawlerOrder = append(p.crawlerOrder, AnyCrawler)
	}
	for _, r := range p.preferencesForAll {
		if rest := r.preference.subtract(w.preferences); len(rest.uses) > 0 {
			w.rules, w.ids = append(w.rules, r), append(w.ids, r.name)
			w.preferences = append(w.preferences, rest)
		}
	}
}

// addRule adds a rule for the crawler.
func (w *crawlerRules) addRule(r *rule) {
	w.rules, w.ids = append(w.rules, r), append(w.ids, r.name)
	switch {
	case r.CrawlDelay != "":
		w.delayLine = "Crawl-delay: " + r.CrawlDelay
	case r.preference != nil:
		w.preferences = append(w.preferences, *r.preference)
	case len(r.Paths) == 0:
		w.wholeSiteLine = ruleLine(r.Allow, "/")
	}
	for _, path := range r.Paths {
		w.pathLines = append(w.pathLines, ruleLine(r.Allow, path))
	}
}

// removeDuplicates removes, in place, each string that is equal to an earlier one.
func removeDuplicates(all []string) []string {
	known := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(s string) bool {
		isRepeated := known[s]
		known[s] = true
		return isRepeated
	})
}

// ruleLine returns an Allow or Disallow line.
func ruleLine(allow bool, path string) string {
	if allow {
		return "Allow: " + path
	}
	return "Disallow: " + path
}

// validateExtraLines returns an error for an invalid sitemap or line of the configuration. It also
// sets p.dependsOnHost.
func (p *Plan) validateExtraLines() error {
	for _, s := range p.sitemaps {
		if err := checkLine(s); err != nil {
			return fmt.Errorf("sitemap: %w", err)
		}
		if err := checkPlaceholders(s); err != nil {
			return err
		}
		if u, err := url.Parse(replaceHost(s, "example.com")); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("sitemap %q is not a complete http or https URL; begin it with https:// and the host", s)
		}
	}
	for _, s := range p.extraLines {
		if err := checkLine(s); err != nil {
			return fmt.Errorf("line: %w", err)
		}
		if err := checkPlaceholders(s); err != nil {
			return err
		}
		robots := policy.Parse([]byte("User-agent: *\n" + s + "\n"))
		records := robots.Records()
		if len(robots.GroupNames()) > 1 || robots.RuleCount() > 0 || len(records) == 1 && records[0].Group >= 0 {
			return fmt.Errorf("line %q belongs to a group of crawlers; write a rule instead, such as disallow GPTBot", s)
		}
	}
	texts := slices.Concat(p.sitemaps, p.extraLines)
	for _, w := range p.byCrawler {
		texts = append(texts, slices.Concat(w.pathLines, preferenceLines(w.preferences))...)
	}
	p.dependsOnHost = slices.ContainsFunc(texts, dependsOnHost)
	return nil
}

// checkPlaceholders returns an error for a Caddy placeholder other than the host placeholder.
func checkPlaceholders(s string) error {
	rest := replaceHost(s, "")
	for _, begin := range otherPlaceholders {
		switch {
		case !strings.Contains(rest, begin):
		case begin == "{env.":
			return fmt.Errorf("%q has a placeholder other than {host}; an environment variable is written as {$NAME} in a Caddyfile", s)
		default:
			return fmt.Errorf("%q has a placeholder other than {host}; all clients of a host get the same file", s)
		}
	}
	return nil
}

// otherPlaceholders are the prefixes of other Caddy placeholders. They would be published literally.
// A path may have other braces.
var otherPlaceholders = []string{"{http.", "{env.", "{file.", "{system.", "{time."}

// hostPlaceholder replaces {host} in a Caddyfile.
const hostPlaceholder = "{http.request.host}"

// shortPlaceholder is the same placeholder in JSON and in lists of rules.
const shortPlaceholder = "{host}"

// checkLine returns an error for an empty string, and for a string of several lines.
func checkLine(s string) error {
	if s == "" {
		return errors.New("the value is empty; remove it")
	}
	if strings.ContainsAny(s, "\r\n\x00") {
		return fmt.Errorf("%q is more than one line", s)
	}
	return nil
}

// checkPath returns an error for an invalid path pattern.
func checkPath(path string) error {
	switch {
	case path == "" || path[0] != '/' && path[0] != '*':
		return fmt.Errorf("path %q begins with neither / nor *, so it would match nothing", path)
	case strings.ContainsAny(path, "\r\n\x00"):
		return fmt.Errorf("path %q is more than one line", path)
	case strings.Contains(path, "#"):
		return fmt.Errorf("path %q has a #, which begins a comment; write %%23", path)
	case strings.Trim(path, " \t") != path:
		return fmt.Errorf("path %q has a space at its end, which no crawler reads; write %%20", path)
	}
	return checkPlaceholders(path)
}

// dependsOnHost reports whether a string contains a host placeholder.
func dependsOnHost(s string) bool {
	return strings.Contains(s, hostPlaceholder) || strings.Contains(s, shortPlaceholder)
}

// replaceHost replaces both forms of the host placeholder with a host.
func replaceHost(s, host string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, hostPlaceholder, host), shortPlaceholder, host)
}

// shortenPlaceholder replaces the host placeholder with its short form, {host}.
func shortenPlaceholder(s string) string {
	return strings.ReplaceAll(s, hostPlaceholder, shortPlaceholder)
}

// maxNote is the maximum length of a reason, an owner or a ticket, in characters.
const maxNote = 500

var validID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// CheckRule checks which fields of a rule are set together, its ID, its notes and its times, and
// returns the time in which the rule is in force. It does not check names of crawlers, hosts and
// paths. Errors do not contain the name of the rule.
func CheckRule(r *Rule) (Window, error) {
	switch {
	case r.CrawlDelay != "" && (len(r.Paths) > 0 || r.Allow):
		return Window{}, errors.New("a rule with a delay cannot have other statements")
	case r.ContentUsage+r.ContentSignal != "" && (len(r.Paths) > 0 || r.Allow || r.CrawlDelay != "" || r.ContentUsage != "" && r.ContentSignal != ""):
		return Window{}, errors.New("a rule with a preference cannot have other statements; write a second rule")
	case r.TrainingPreference != "" && (len(r.For)+len(r.Paths) > 0 || r.Allow || r.CrawlDelay+r.ContentUsage+r.ContentSignal != ""):
		return Window{}, errors.New("a rule with training_preference applies to all crawlers and cannot have other statements")
	case r.TrainingPreference != "" && r.TrainingPreference != "y" && r.TrainingPreference != "n":
		return Window{}, fmt.Errorf("training_preference %q is neither y nor n", r.TrainingPreference)
	case r.ID != "" && !validID.MatchString(r.ID):
		return Window{}, fmt.Errorf("%q cannot be a rule's name; use up to 64 letters, digits, dots, dashes and underscores", r.ID)
	case r.ID == "" && (r.From != "" || r.Until != "" || len(r.Hosts) > 0 || r.Reason+r.Owner+r.Ticket != ""):
		return Window{}, errors.New("a rule with times, hosts or a reason needs an id, which is its name in the robots.txt and in messages")
	}
	for _, note := range [][2]string{{"reason", r.Reason}, {"owner", r.Owner}, {"ticket", r.Ticket}} {
		if utf8.RuneCountInString(note[1]) > maxNote || strings.ContainsAny(note[1], "\r\n\x00") {
			return Window{}, fmt.Errorf("%s has to be one line of up to %d characters", note[0], maxNote)
		}
	}
	if r.CrawlDelay != "" {
		if err := CheckCrawlDelay(r.CrawlDelay); err != nil {
			return Window{}, err
		}
	}
	return ParseWindow(r.From, r.Until)
}

// CheckCrawlDelay returns an error unless seconds is a number above 0 and up to 86400, written with
// digits and at most one dot. Not all crawlers read a number such as 1e1.
func CheckCrawlDelay(seconds string) error {
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil || strings.Trim(seconds, "0123456789.") != "" || !(n > 0 && n <= 86400) {
		return fmt.Errorf("crawl_delay %q is not a number of seconds above 0 and up to 86400, such as 10 or 0.5", seconds)
	}
	return nil
}

// expandTrainingPreference returns r, or the rules that express its training preference: a
// Content-Usage, a Content-Signal, and the groups that operators interpret as a preference.
func expandTrainingPreference(r Rule) []Rule {
	if r.TrainingPreference == "" {
		return []Rule{r}
	}
	yes := r.TrainingPreference == "y"
	r.TrainingPreference = ""
	usage, signal, groups := r, r, r
	usage.ContentUsage, signal.ContentSignal, groups.Allow = "train-ai=n", "ai-train=no", yes
	if yes {
		usage.ContentUsage, signal.ContentSignal = "train-ai=y", "ai-train=yes"
	}
	groups.For = []string{judge.TokenPrefix + policy.TrainingToken, "Google-Extended", "Applebot-Extended"}
	return []Rule{usage, signal, groups}
}
