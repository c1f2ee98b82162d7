package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

const (
	maxKept = 300 << 10 // bytes of alerts that are stored
	// settles is how long after a start what was told before counts as still so although
	// nobody has found it again: who looks begins with nothing.
	settles = time.Hour
)

// kept is what is stored.
type kept struct {
	By        string              `json:"by"`        // the instance, for each tells what it sees
	Alerts    []alert.Alert       `json:"alerts"`    // that somebody was told
	Receivers map[string][]string `json:"receivers"` // their IDs, by a hash of whom: a URL may be a secret
}

// Keep says as which instance is kept what receivers were told.
func (t *Told) Keep(instance string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.instance = instance
}

// Revision tells how often what receivers were told has changed: what never has is not
// stored.
func (t *Told) Revision() uint64 { return t.revision.Load() }

// Export returns what receivers were told and is not over, for [Told.Import]: the most
// severe, then the latest, if that is too much.
func (t *Told) Export() (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, receivers := make(map[string]alert.Alert), make(map[string][]string)
	for key, g := range t.groups {
		g.mu.Lock()
		maps.Copy(all, g.told)
		receivers[nameOf(key)] = slices.Sorted(maps.Keys(g.told))
		g.mu.Unlock()
	}
	k := kept{By: t.instance, Alerts: []alert.Alert{}, Receivers: receivers}
	size := 0
	for _, a := range slices.SortedFunc(maps.Values(all), func(x, y alert.Alert) int {
		return cmp.Or(cmp.Compare(slices.Index(alert.Severities(), x.Severity), slices.Index(alert.Severities(), y.Severity)), y.Since.Compare(x.Since), cmp.Compare(x.ID, y.ID))
	}) {
		a.Copy = "" // what to do about it is over with it
		text, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > maxKept {
			break
		}
		k.Alerts = append(k.Alerts, a)
	}
	for name, ids := range receivers {
		receivers[name] = slices.DeleteFunc(ids, func(id string) bool {
			return !slices.ContainsFunc(k.Alerts, func(a alert.Alert) bool { return a.ID == id })
		})
	}
	return json.Marshal(k)
}

// Import takes over what receivers were told before a restart by this instance. What
// cannot be read was told to nobody.
func (t *Told) Import(data json.RawMessage) {
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.By != t.instance || t.instance == "" || t.took {
		return
	}
	t.took = true // by a reload more is known than what is stored
	alerts := make(map[string]alert.Alert, len(k.Alerts))
	for _, a := range k.Alerts {
		alerts[a.ID] = a
	}
	for key, g := range t.groups {
		g.mu.Lock()
		for _, id := range k.Receivers[nameOf(key)] {
			if a, ok := alerts[id]; ok && len(g.told) < maxTold {
				if _, told := g.told[id]; !told {
					g.told[id], g.earlier[id] = a, true
				}
			}
		}
		g.mu.Unlock()
	}
	t.revision.Add(1)
}

// nameOf stands for a receiver.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}
