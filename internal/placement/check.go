package placement

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// checkGuards finds guards that do nothing, or not what is meant: one to which no
// request comes, and two for the same requests.
func checkGuards(placed []*Placed) error { return check(placed, Guard, errTwice) }

// checkTexts finds a robots_txt to which no request comes, and two for the same
// requests, of which only the first is ever asked.
func checkTexts(placed []*Placed) error {
	return check(placed, RobotsTXT, func(a, _ *Placed) error {
		return fmt.Errorf("%s: robots_txt stands there twice, and the second is never asked; write all rules into one", a.Site())
	})
}

// check looks at the handlers of one name. twice makes the error for two that meet
// the same requests.
func check(placed []*Placed, name string, twice func(a, b *Placed) error) error {
	type place struct{ server, reach string }
	known := make(map[place]*Placed)
	for _, p := range placed {
		if p.Name != name {
			continue
		}
		if p.Behind != "" {
			return fmt.Errorf("%s: %s stands behind %s, which answers every request, so that none comes to it; "+
				"put it first, and remember that route keeps the order of its lines", p.Site(), name, p.Behind)
		}
		here := place{p.Server, p.reach}
		if other := known[here]; other != nil {
			return twice(other, p)
		}
		known[here] = p
	}
	return nil
}

func errTwice(a, b *Placed) error {
	differ, err := differences(a.Config, b.Config)
	switch {
	case err != nil:
		return err
	case len(differ) == 0:
		return fmt.Errorf("%s: robots_guard stands there twice, so that every request would count twice; remove one", a.Site())
	}
	return fmt.Errorf("%s: two robots_guard for the same requests contradict each other (%s); keep one, or give each a matcher of its own",
		a.Site(), strings.Join(differ, ", "))
}

// differences returns the names of the options in which two handlers differ.
func differences(a, b json.RawMessage) (names []string, err error) {
	var options [2]map[string]any
	for i, config := range []json.RawMessage{a, b} {
		if err := json.Unmarshal(config, &options[i]); err != nil {
			return nil, err
		}
	}
	all := maps.Clone(options[0])
	maps.Copy(all, options[1])
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(options[0][name], options[1][name]) {
			names = append(names, name)
		}
	}
	return names, nil
}
