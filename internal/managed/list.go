package managed

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
)

// The limits of a list.
const (
	// MaxListBytes is the maximum size of a list.
	MaxListBytes = 16 << 20
	maxRules     = 100_000
)

// listFields and ruleFields are the JSON fields of a list and of a rule.
var (
	listFields = []string{"rules", "$schema"}
	ruleFields = []string{"id", "for", "disallow", "allow", "crawl_delay", "content_usage", "content_signal", "from", "until", "hosts", "reason", "owner", "ticket"}
)

const (
	emptyList = `a list without a rule is {"rules": []}`
	wantList  = `a list is an object, for example {"rules": []}`
	wantRules = `rules has to be a list of rules`
	wantRule  = `a rule is an object such as {"id": "sale", "for": ["GPTBot"], "disallow": ["/sale"]}`
	wantFor   = `for has to be a list of product tokens and classes such as ["ai_training"], or ["*"]`
	wantHosts = `hosts has to be a list, for example ["shop.example.com"]; leave it out for all hosts`
	wantPaths = `%s has to be a list of paths such as ["/search"], or true for the whole site`
)

// listDecoder decodes the JSON of a list of rules.
type listDecoder struct{ *jsontext.Decoder }

// ParseRuleList parses the JSON of a list of rules. Errors begin with the name of the list, and
// with the line and column of the mistake if these are known.
func ParseRuleList(name string, data []byte) (*RuleList, error) {
	if len(data) > MaxListBytes {
		return nil, fmt.Errorf("%s: the list has more than %d MiB; write fewer rules, or several lists", name, MaxListBytes>>20)
	}
	decoded, err := jsontext.NewDecoder(name, data, emptyList)
	if err != nil {
		return nil, err
	}
	d := listDecoder{decoded}
	rules, given := []Rule{}, false
	lines := make(map[string]string) // The value is the position of the rule with this ID.
	err = d.ReadObject(wantList, listFields, func(field string) error {
		if field == "$schema" {
			_, err := d.ReadString(field)
			return err
		}
		given = true
		return d.ReadArray(wantRules, func() error {
			rule, err := d.readRule()
			if err != nil {
				return err
			}
			if first := lines[rule.ID]; first != "" {
				return fmt.Errorf("%s: rule %s: the rule at %s has the same name; give each its own name", rule.At, rule.ID, first)
			}
			if lines[rule.ID] = rule.At; len(rules) == maxRules {
				return d.Errorf("the list has more than %d rules; write several lists", maxRules)
			}
			rules = append(rules, rule)
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, err
	case !given:
		return nil, fmt.Errorf("%s: %s, but the field rules is missing", name, wantList)
	}
	return &RuleList{name, rules}, nil
}

// readRule reads a rule and checks it with checkRule.
func (d listDecoder) readRule() (r Rule, err error) {
	texts := map[string]*string{"id": &r.ID, "content_usage": &r.ContentUsage, "content_signal": &r.ContentSignal, "from": &r.From, "until": &r.Until, "reason": &r.Reason, "owner": &r.Owner, "ticket": &r.Ticket}
	numStatements := 0
	begin := 0
	err = d.ReadObject(wantRule, ruleFields, func(field string) (err error) {
		if begin == 0 {
			begin = d.Offset() // This is the position of the first field. It is never 0.
		}
		switch field {
		case "for":
			r.For, err = d.ReadStrings(field, wantFor)
		case "disallow", "allow":
			var given bool
			if r.Paths, given, err = d.readPaths(field, r.Paths); given {
				r.Allow = field == "allow"
				numStatements++
			}
		case "crawl_delay":
			if r.CrawlDelay, err = d.readDelay(); r.CrawlDelay != "" {
				numStatements++
			}
		case "hosts":
			r.Hosts, err = d.ReadStrings(field, wantHosts)
		default:
			*texts[field], err = d.ReadString(field)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	if begin > 0 {
		d.SetErrorOffset(begin)
	}
	for _, preference := range []string{r.ContentUsage, r.ContentSignal} {
		if preference != "" {
			numStatements++
		}
	}
	r.At = d.Position()
	return r, d.checkRule(&r, numStatements)
}

// checkRule returns an error for a rule that is incomplete or has several statements. numStatements
// counts its fields such as disallow and crawl_delay.
func (d listDecoder) checkRule(r *Rule, numStatements int) error {
	if r.ID == "" {
		return d.Errorf("a rule needs an id, which is its name in the robots.txt and in messages")
	}
	switch {
	case len(r.For) == 0 && r.ContentUsage+r.ContentSignal == "":
		return d.Errorf("rule %s: the rule names no crawler; %s", r.ID, wantFor)
	case numStatements == 0:
		return d.Errorf("rule %s: the rule has no effect; add disallow, allow, crawl_delay or a preference", r.ID)
	case numStatements > 1:
		return d.Errorf("rule %s: a rule can have only one kind of statement; write a second rule", r.ID)
	}
	if _, err := CheckRule(r); err != nil {
		return d.Errorf("rule %s: %w", r.ID, err)
	}
	return nil
}

// readPaths reads the value of disallow or allow. The value true means the whole site. The value
// null leaves the paths unchanged, and given is false. An empty list is an error, because a rule
// without paths applies to the whole site.
func (d listDecoder) readPaths(field string, before []string) (paths []string, given bool, err error) {
	t := d.Next()
	switch t.FirstByte {
	case jsontext.Null:
		return before, false, nil
	case 't':
		return before, true, nil
	case '[':
		paths, err = d.ReadRemainingStrings(field, fmt.Sprintf(wantPaths, field))
		return paths, true, err
	}
	return before, false, d.Errorf(wantPaths+", and not %s", field, t)
}

// readDelay reads the seconds of crawl_delay. The result is "" for null.
func (d listDecoder) readDelay() (string, error) {
	t := d.Next()
	if t.FirstByte == jsontext.Null {
		return "", nil
	}
	if t.FirstByte == '"' || CheckCrawlDelay(t.Text) != nil {
		return "", d.Errorf("crawl_delay has to be a number of seconds above 0 and up to 86400, and not %s", t)
	}
	return t.Text, nil
}
