package alert

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Watch updates the alerts now and every minute until ctx ends. It calls onUpdate with each new
// list. onUpdate must not block or call the Manager. Watch also means that a configuration was
// loaded, until ctx ends.
func (b *Manager) Watch(ctx context.Context, onUpdate func(List)) {
	b.addWatcher(ctx, &watcher{onUpdate, b.now()})
	go func() {
		ticker := time.NewTicker(updateInterval)
		defer ticker.Stop()
		b.notifyWatchers(b.List())
		for {
			select {
			case <-ticker.C:
				b.List()
			case <-ctx.Done():
				return
			}
		}
	}()
}

// Subscribe calls onUpdate with each new list until ctx ends. It does not update the alerts.
func (b *Manager) Subscribe(ctx context.Context, onUpdate func(List)) {
	b.addWatcher(ctx, &watcher{onUpdate: onUpdate})
}

func (b *Manager) addWatcher(ctx context.Context, w *watcher) {
	b.mu.Lock()
	b.watchers[w] = true
	b.mu.Unlock()
	context.AfterFunc(ctx, func() { b.removeWatcher(w) })
}

// watcher receives new lists.
type watcher struct {
	onUpdate func(List)
	loadedAt time.Time // load time of its configuration; zero for Follow
}

// lastLoad returns the load time of the running configuration. b.mu must be held.
func (b *Manager) lastLoad() time.Time {
	last := b.firstLoad
	for w := range b.watchers {
		if w.loadedAt.After(last) {
			last = w.loadedAt
		}
	}
	return last
}

// removeWatcher ends a watch.
func (b *Manager) removeWatcher(w *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.watchers, w)
}

// notifyWatchers calls the watchers, unless they already have a newer list.
func (b *Manager) notifyWatchers(list List) {
	b.notifyMu.Lock()
	defer b.notifyMu.Unlock()
	if list.number < b.lastNotified {
		return
	}
	b.lastNotified = list.number
	b.mu.Lock()
	watchers := slices.Collect(maps.Keys(b.watchers))
	b.mu.Unlock()
	for _, w := range watchers {
		w.onUpdate(list)
	}
}
