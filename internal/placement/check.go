package placement

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// CheckGuards finds guards that do nothing, or not what is meant: one to which no
// request comes, and two for the same requests.
func CheckGuards(placed []*Placed) error {
	type place struct{ server, reach string }
	known := make(map[place]*Placed)
	for _, g := range placed {
		if g.Name != Guard {
			continue
		}
		if g.Behind != "" {
			return fmt.Errorf("%s: robots_guard stands behind %s, which answers every request, so that none comes to it; "+
				"put it first, and remember that route keeps the order of its lines", g.Site(), g.Behind)
		}
		here := place{g.Server, g.reach}
		if other := known[here]; other != nil {
			return errTwice(other, g)
		}
		known[here] = g
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
