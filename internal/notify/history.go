package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// maxStoredAlerts is the maximum number of stored alerts of a receiver, the most severe first. Beyond
// it, open alerts are sent again after a restart.
const maxStoredAlerts = 40

// History remembers the alerts sent to receivers, across reloads, and across restarts with
// [History.Import]. The zero value is empty.
type History struct {
	mu         sync.Mutex
	queues     map[string]*queue // by key
	numConfigs int               // number of running configurations
	revision   uint64            // number of changes
	isImported bool
}

// storedHistory is the stored form of a History.
type storedHistory struct {
	Receivers map[string][]alert.Alert `json:"receivers"` // sent alerts that have not ended, by key
}

// receiverKey returns the key of a receiver: a hash of its URL, which may be a secret.
func receiverKey(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:16])
}

// useQueues returns the queues of the receivers of a configuration, which runs until ctx ends.
func (h *History) useQueues(ctx context.Context, keys []string) (queues []*queue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.numConfigs++
	for _, key := range keys {
		q := h.getOrCreateQueue(key)
		q.numConfigs++
		queues = append(queues, q)
	}
	context.AfterFunc(ctx, func() { h.releaseQueues(queues) })
	return queues
}

// releaseQueues drops the queues that no running configuration uses. If no configuration remains, it keeps all
// queues, because the store may still save the history.
func (h *History) releaseQueues(queues []*queue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.numConfigs--
	for _, q := range queues {
		q.numConfigs--
	}
	if h.numConfigs == 0 {
		return
	}
	count := len(h.queues)
	maps.DeleteFunc(h.queues, func(_ string, q *queue) bool { return q.numConfigs == 0 })
	if len(h.queues) < count {
		h.revision++
	}
}

// getOrCreateQueue returns the queue of a receiver. The caller must lock h.mu.
func (h *History) getOrCreateQueue(key string) *queue {
	q := h.queues[key]
	if q == nil {
		if h.queues == nil {
			h.queues = make(map[string]*queue)
		}
		q = &queue{history: h, sendLock: make(chan struct{}, 1), sent: make(map[string]sentAlert), waitingSince: make(map[string]time.Time)}
		h.queues[key] = q
	}
	return q
}

// Revision returns the number of changes. An unchanged history is not stored.
func (h *History) Revision() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revision
}

// Export returns the sent alerts without an end, for [History.Import].
func (h *History) Export() ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stored := storedHistory{Receivers: make(map[string][]alert.Alert)}
	for key, q := range h.queues {
		var alerts []alert.Alert
		for _, a := range q.sent {
			a.RemedySnippet = "" // the end of an alert needs no remedy
			alerts = append(alerts, a.Alert)
		}
		slices.SortFunc(alerts, func(x, y alert.Alert) int { return x.Compare(&y) })
		stored.Receivers[key] = alerts[:min(len(alerts), maxStoredAlerts)]
	}
	return json.Marshal(stored)
}

// Import restores the history of this instance after a restart. Later calls have no effect, because
// the history is newer than the stored history.
func (h *History) Import(data []byte) error {
	var stored storedHistory
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isImported {
		return nil
	}
	h.isImported = true
	for key, q := range h.queues {
		alerts := stored.Receivers[key]
		for _, a := range alerts[:min(len(alerts), maxStoredAlerts)] {
			if _, ok := q.sent[a.ID]; !ok {
				q.sent[a.ID] = sentAlert{a, true}
			}
		}
	}
	h.revision++
	return nil
}
