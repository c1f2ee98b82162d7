package alert

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Watch looks once a minute until ctx ends, and begins now; what this and every other
// look finds is told to tell, which may neither wait nor look. It says that a configuration
// was loaded, which counts until ctx ends, as it soon does if another part cannot be started.
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

// Follow has tell told what looks find until ctx ends. It begins none itself.
func (b *Book) Follow(ctx context.Context, tell func(List)) {
	b.follow(ctx, &watcher{tell: tell})
}

func (b *Book) follow(ctx context.Context, w *watcher) {
	b.mu.Lock()
	b.watchers[w] = true
	b.mu.Unlock()
	context.AfterFunc(ctx, func() { b.leave(w) })
}

// watcher is told what looks find.
type watcher struct {
	tell   func(List)
	loaded time.Time // when its configuration was; zero for who only follows
}

// lastLoaded returns when the configuration was loaded that runs. b.mu must be held.
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

// tell tells those who watch, unless they were told a later list: who looks may come to tell
// it long after.
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
