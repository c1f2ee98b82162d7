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
	maxStoredBytes = 300 << 10 // maximum size of stored alerts in bytes
	// restartGracePeriod is the time after a start for which a previously sent alert counts as open,
	// although it was not found again yet.
	restartGracePeriod = time.Hour
)

// storedHistory is the stored form of a history.
type storedHistory struct {
	Instance  string              `json:"by"`        // sending instance
	Alerts    []alert.Alert       `json:"alerts"`    // sent to any receiver
	Receivers map[string][]string `json:"receivers"` // IDs of alerts by hash of the URL, which may be a secret
}

// History remembers the alerts that receivers were sent, across reloads, and across restarts
// with [History.SetInstance]. The zero value is empty.
type History struct {
	revision atomic.Uint64

	mu         sync.Mutex
	queues     map[string]*queue // by URL
	activeKeys []*[]string       // URLs of each running configuration
	instance   string            // "" if nothing is stored
	isImported bool
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
		q = &queue{busy: make(chan struct{}, 1), sentAlerts: make(map[string]alert.Alert), sentBeforeStart: make(map[string]bool), waitingSince: make(map[string]time.Time), revision: &h.revision}
		h.queues[key] = q
	}
	return q
}

// registerReceivers registers the receivers until ctx ends. Then it forgets receivers without a
// configuration, unless no configuration remains, because the store may still save the
// history.
func (h *History) registerReceivers(ctx context.Context, keys []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	registered := &keys
	h.activeKeys = append(h.activeKeys, registered)
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.activeKeys = slices.DeleteFunc(h.activeKeys, func(other *[]string) bool { return other == registered })
		if len(h.activeKeys) > 0 {
			h.removeUnused()
		}
	})
}

// removeUnused removes receivers without a configuration. h.mu must be held.
func (h *History) removeUnused() {
	for key := range h.queues {
		if !slices.ContainsFunc(h.activeKeys, func(keys *[]string) bool { return slices.Contains(*keys, key) }) {
			delete(h.queues, key)
			h.revision.Add(1)
		}
	}
}

// SetInstance sets the instance whose history is stored.
func (h *History) SetInstance(instance string) {
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
	alerts, receivers := make(map[string]alert.Alert), make(map[string][]string)
	for key, q := range h.queues {
		q.mu.Lock()
		maps.Copy(alerts, q.sentAlerts)
		receivers[keyHash(key)] = slices.Sorted(maps.Keys(q.sentAlerts))
		q.mu.Unlock()
	}
	stored := storedHistory{Instance: h.instance, Alerts: []alert.Alert{}, Receivers: receivers}
	size := 0
	for _, a := range slices.SortedFunc(maps.Values(alerts), func(x, y alert.Alert) int {
		return cmp.Or(cmp.Compare(slices.Index(alert.Severities(), x.Severity), slices.Index(alert.Severities(), y.Severity)), y.Since.Compare(x.Since), cmp.Compare(x.ID, y.ID))
	}) {
		a.RemedySnippet = "" // the end of an alert needs no remedy
		encoded, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		if size += len(encoded); size > maxStoredBytes {
			break
		}
		stored.Alerts = append(stored.Alerts, a)
	}
	for name, ids := range receivers {
		receivers[name] = slices.DeleteFunc(ids, func(id string) bool {
			return !slices.ContainsFunc(stored.Alerts, func(a alert.Alert) bool { return a.ID == id })
		})
	}
	return json.Marshal(stored)
}

// Import restores the history of this instance after a restart. It ignores invalid data.
func (h *History) Import(data json.RawMessage) {
	var stored storedHistory
	if err := json.Unmarshal(data, &stored); err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if stored.Instance != h.instance || h.instance == "" || h.isImported {
		return
	}
	h.isImported = true // after a reload the history is newer than the stored history
	alerts := make(map[string]alert.Alert, len(stored.Alerts))
	for _, a := range stored.Alerts {
		alerts[a.ID] = a
	}
	for key, q := range h.queues {
		q.mu.Lock()
		for _, id := range stored.Receivers[keyHash(key)] {
			if a, ok := alerts[id]; ok && len(q.sentAlerts) < maxSentAlerts {
				if _, sent := q.sentAlerts[id]; !sent {
					q.sentAlerts[id], q.sentBeforeStart[id] = a, true
				}
			}
		}
		q.mu.Unlock()
	}
	h.revision.Add(1)
}

// keyHash returns the name of a receiver in a stored history.
func keyHash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}
