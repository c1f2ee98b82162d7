package rulelist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// IsNames reports whether a text is an object of JSON and no robots.txt.
func IsNames(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }

// FromNames makes a rule of the robots.json of the ai.robots.txt project
// (https://github.com/ai-robots-txt/ai.robots.txt): an object with the name of a
// crawler for each key, and what is known about it. The rule forbids them the whole
// site.
func FromNames(registry *uaident.Registry, data []byte) (in Imported, err error) {
	var crawlers map[string]struct {
		Operator *string `json:"operator"`
		Function *string `json:"function"`
	}
	if err := json.Unmarshal(data, &crawlers); err != nil {
		if _, err := parse("it", data); err == nil {
			return in, errors.New("it is a list of rules already")
		}
		return in, fmt.Errorf("it is no object of crawlers, as the robots.json of ai.robots.txt: %w", err)
	}
	rule := Rule{ID: "ai-robots-txt", Reason: "the crawlers of https://github.com/ai-robots-txt/ai.robots.txt"}
	known := make(map[string]bool)
	for _, name := range keysInOrder(data) {
		if told := crawlers[name]; told.Operator == nil && told.Function == nil {
			return in, fmt.Errorf("%.80q has neither operator nor function, so this is no robots.json of ai.robots.txt", name)
		}
		token := tokenOf(name)
		if token != name || token == "" {
			in.Notes = append(in.Notes, fmt.Sprintf("%.80q can be no product token and is left out", name))
			continue
		}
		word := judge.MeantToken + token
		in.noteApplication(registry, token)
		if c := registry.Lookup(token); c != nil {
			word = c.Token
			if c.Class == uaident.Search {
				in.Notes = append(in.Notes, c.Token+" is a search engine; take it out of the rule if it shall go on")
			}
		}
		if folded := strings.ToLower(word); !known[folded] {
			known[folded] = true
			rule.For = append(rule.For, word)
		}
	}
	if len(rule.For) == 0 {
		return in, errors.New("it names no crawler")
	}
	in.Rules = []Rule{rule}
	_, err = schedule(registry, in.Rules, nil, nil)
	return in, err
}

// keysInOrder returns the keys of an object of objects, as they stand there.
func keysInOrder(data []byte) (keys []string) {
	d, err := jsontext.NewDecoder("", data, "")
	if err != nil {
		return nil
	}
	for depth := 0; ; {
		switch t := d.Next(); t.First {
		case 0:
			return keys
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			if depth == 1 {
				keys = append(keys, t.Text)
			}
		}
	}
}
