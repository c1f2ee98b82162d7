package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
)

// maxStoredAlerts is the maximum number of stored alerts of a receiver, the most severe first.
// Further open alerts are sent again after a restart.
const maxStoredAlerts = 40

// DeliveryHistory remembers which alerts were sent to which receiver, across reloads, and across
// restarts with [DeliveryHistory.Import]. The zero value is empty.
type DeliveryHistory struct {
	mu         sync.Mutex
	queues     map[string]*deliveryQueue // queues has the queues by the key of the receiver.
	revision   uint64                    // revision is the number of changes.
	isImported bool
}

// storedDeliveryHistory is the JSON of a DeliveryHistory in the storage.
type storedDeliveryHistory struct {
	// Receivers has the sent alerts that have not ended, by the key of the receiver.
	Receivers map[string][]alert.Alert `json:"receivers"`
}

// receiverKey returns the key of a receiver: a hash of its URL, which may be a secret.
func receiverKey(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:16])
}

// getOrCreateQueues returns the queues of receivers by key, and creates missing ones. Queues of
// receivers that are not configured any more stay, because a reload can fail. They are dropped if
// there are more than maxReceivers queues.
func (h *DeliveryHistory) getOrCreateQueues(keys []string) (queues []*deliveryQueue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queues) > maxReceivers {
		maps.DeleteFunc(h.queues, func(key string, _ *deliveryQueue) bool { return !slices.Contains(keys, key) })
	}
	for _, key := range keys {
		queues = append(queues, h.getOrCreateQueue(key))
	}
	return queues
}

// getOrCreateQueue returns the queue of the receiver with a key, created if necessary. The caller
// must have locked h.mu.
func (h *DeliveryHistory) getOrCreateQueue(key string) *deliveryQueue {
	q := h.queues[key]
	if q == nil {
		if h.queues == nil {
			h.queues = make(map[string]*deliveryQueue)
		}
		q = &deliveryQueue{history: h, sendLock: make(chan struct{}, 1), sent: make(map[string]sentAlert), waitingSince: make(map[string]time.Time)}
		h.queues[key] = q
	}
	return q
}

// Revision returns a number that grows with every change of the history.
func (h *DeliveryHistory) Revision() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revision
}

// Export returns the alerts whose end was not sent yet, for [DeliveryHistory.Import].
func (h *DeliveryHistory) Export() ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stored := storedDeliveryHistory{Receivers: make(map[string][]alert.Alert)}
	for key, q := range h.queues {
		var alerts []alert.Alert
		for _, a := range q.sent {
			a.RemedySnippet = "" // A message about the end of an alert contains no remedy.
			alerts = append(alerts, a.Alert)
		}
		slices.SortFunc(alerts, func(x, y alert.Alert) int { return x.Compare(&y) })
		stored.Receivers[key] = alerts[:min(len(alerts), maxStoredAlerts)]
	}
	return json.Marshal(stored)
}

// Import restores the history of this instance after a restart. Only the first call has an effect.
func (h *DeliveryHistory) Import(data []byte) error {
	var stored storedDeliveryHistory
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
