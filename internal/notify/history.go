package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

const (
	maxStored = 300 << 10 // maximum size of stored alerts in bytes
	// settles is the time after a start for which a previously sent alert counts as open,
	// although it was not found again yet.
	settles = time.Hour
)

// stored is the stored form of a history.
type stored struct {
	By        string              `json:"by"`        // sending instance
	Alerts    []alert.Alert       `json:"alerts"`    // sent to any receiver
	Receivers map[string][]string `json:"receivers"` // IDs of alerts by hash of the URL, which may be a secret
}

// History remembers the alerts that receivers were sent, across reloads, and across restarts
// with [History.Keep]. The zero value is empty.
type History struct {
	revision atomic.Uint64

	mu       sync.Mutex
	queues   map[string]*queue // by URL
	used     []*[]string       // URLs of each running configuration
	instance string            // "" if nothing is stored
	imported bool
}

// queue returns the queue of a receiver.
func (h *History) queue(key string) *queue {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.queues[key]
	if q == nil {
		if h.queues == nil {
			h.queues = make(map[string]*queue)
		}
		q = &queue{busy: make(chan struct{}, 1), sent: make(map[string]alert.Alert), earlier: make(map[string]bool), waits: make(map[string]time.Time), changes: &h.revision}
		h.queues[key] = q
	}
	return q
}

// use registers the receivers until ctx ends. Then it forgets receivers without a
// configuration, unless no configuration remains, because the store may still save the
// history.
func (h *History) use(ctx context.Context, keys []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	mine := &keys
	h.used = append(h.used, mine)
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.used = slices.DeleteFunc(h.used, func(other *[]string) bool { return other == mine })
		if len(h.used) > 0 {
			h.forget()
		}
	})
}

// forget removes receivers without a configuration. h.mu must be held.
func (h *History) forget() {
	for key := range h.queues {
		if !slices.ContainsFunc(h.used, func(keys *[]string) bool { return slices.Contains(*keys, key) }) {
			delete(h.queues, key)
			h.revision.Add(1)
		}
	}
}

// Keep sets the instance whose history is stored.
func (h *History) Keep(instance string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.instance = instance
}

// Revision returns the number of changes. An unchanged history is not stored.
func (h *History) Revision() uint64 { return h.revision.Load() }

// Export returns the sent alerts that have not ended, for [History.Import]. Beyond the
// maximum size it omits the least severe, then the oldest.
func (h *History) Export() (json.RawMessage, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, receivers := make(map[string]alert.Alert), make(map[string][]string)
	for key, q := range h.queues {
		q.mu.Lock()
		maps.Copy(all, q.sent)
		receivers[nameOf(key)] = slices.Sorted(maps.Keys(q.sent))
		q.mu.Unlock()
	}
	k := stored{By: h.instance, Alerts: []alert.Alert{}, Receivers: receivers}
	size := 0
	for _, a := range slices.SortedFunc(maps.Values(all), func(x, y alert.Alert) int {
		return cmp.Or(cmp.Compare(slices.Index(alert.Severities(), x.Severity), slices.Index(alert.Severities(), y.Severity)), y.Since.Compare(x.Since), cmp.Compare(x.ID, y.ID))
	}) {
		a.RemedySnippet = "" // the end of an alert needs no remedy
		text, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > maxStored {
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

// Import restores the history of this instance after a restart. It ignores invalid data.
func (h *History) Import(data json.RawMessage) {
	var k stored
	if err := json.Unmarshal(data, &k); err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if k.By != h.instance || h.instance == "" || h.imported {
		return
	}
	h.imported = true // after a reload the history is newer than the stored history
	alerts := make(map[string]alert.Alert, len(k.Alerts))
	for _, a := range k.Alerts {
		alerts[a.ID] = a
	}
	for key, q := range h.queues {
		q.mu.Lock()
		for _, id := range k.Receivers[nameOf(key)] {
			if a, ok := alerts[id]; ok && len(q.sent) < maxSent {
				if _, sent := q.sent[id]; !sent {
					q.sent[id], q.earlier[id] = a, true
				}
			}
		}
		q.mu.Unlock()
	}
	h.revision.Add(1)
}

// nameOf returns the name of a receiver in a stored history.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}
