package alert

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Watch updates the alerts now and every minute until ctx ends. It calls tell with each new
// list. tell must not block or call the Book. Watch also means that a configuration was
// loaded, until ctx ends.
func (b *Book) Watch(ctx context.Context, tell func(List)) {
	b.follow(ctx, &watcher{tell, b.now()})
	go func() {
		ticker := time.NewTicker(lookInterval)
		defer ticker.Stop()
		b.tell(b.List())
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

// Follow calls tell with each new list until ctx ends. It does not update the alerts.
func (b *Book) Follow(ctx context.Context, tell func(List)) {
	b.follow(ctx, &watcher{tell: tell})
}

func (b *Book) follow(ctx context.Context, w *watcher) {
	b.mu.Lock()
	b.watchers[w] = true
	b.mu.Unlock()
	context.AfterFunc(ctx, func() { b.leave(w) })
}

// watcher receives new lists.
type watcher struct {
	tell   func(List)
	loaded time.Time // load time of its configuration; zero for Follow
}

// lastLoaded returns the load time of the running configuration. b.mu must be held.
func (b *Book) lastLoaded() time.Time {
	last := b.reloaded
	for w := range b.watchers {
		if w.loaded.After(last) {
			last = w.loaded
		}
	}
	return last
}

// leave ends a watch.
func (b *Book) leave(w *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.watchers, w)
}

// tell calls the watchers, unless they already have a newer list.
func (b *Book) tell(list List) {
	b.telling.Lock()
	defer b.telling.Unlock()
	if list.number < b.told {
		return
	}
	b.told = list.number
	b.mu.Lock()
	watchers := slices.Collect(maps.Keys(b.watchers))
	b.mu.Unlock()
	for _, w := range watchers {
		w.tell(list)
	}
}
