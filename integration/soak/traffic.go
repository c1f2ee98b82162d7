package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// traffic is the requests that are made, and what came of them.
type traffic struct {
	world *world

	mu       sync.Mutex
	counts   map[count]tally // of the lives that are under way
	read     readings
	wrong    []string // the first answers that should not have been
	wrongs   int
	sent     int
	broken   broken
	lost     int // answered, and the process that counted them was killed
	by       map[protocol]int
	statuses map[int]int
	as       map[string]int // by the identity that was told
	asked    int            // questions of another proxy
	slowest  time.Duration  // of a browser
	loose    int            // answers for which more than one status was right
	pending  int            // let pass since it was not known what the crawler was served
	older    int            // answers by a configuration that had been replaced before
}

// count is what requests are counted by, as in the metrics of an instance.
type count struct{ instance, host, crawler, identity string }

// tally is how often a client of a site asked.
type tally struct {
	answered int
	refused  int // of these
	slowed   int // of these, too fast
	broken   int // no answer came, so the server may have counted it or not
	compared int // answered when the metrics were looked at
	passed   int // where few requests in a life are
}

func newTraffic(w *world) *traffic {
	return &traffic{world: w, counts: make(map[count]tally), read: make(readings), by: make(map[protocol]int), statuses: make(map[int]int), as: make(map[string]int)}
}

// run makes so many requests a second until ctx ends.
func (t *traffic) run(ctx context.Context, rate float64) {
	const workers = 32 // some wait for an origin that hangs
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for rest(ctx, time.Duration(random.ExpFloat64()*workers/rate*float64(time.Second))) {
				in := t.world.instances[random.IntN(len(t.world.instances))]
				s := t.world.sites[random.IntN(len(t.world.sites))]
				path := paths[random.IntN(len(paths))]
				c := clients[random.IntN(len(clients))]
				if path == "/robots.txt" && !s.reads(c) {
					path = "/page"
				}
				t.ask(in, s, c, path, protocols[random.IntN(len(protocols))], random.IntN(4) > 0)
			}
		})
	}
	group.Wait()
}

// ask makes a request and holds the answer against what the world says.
func (t *traffic) ask(in *instance, s *site, c client, path string, by protocol, again bool) {
	host := s.host
	if s.invented {
		host = strconv.FormatUint(rand.Uint64(), 36) + "." + host
	}
	if s.clear {
		by = 1
	}
	sent, begun := t.world.now(in, s), time.Now()
	got, err := t.do(in, s, c, host, path, by, again)
	took := time.Since(begun)
	if err != nil {
		return // counted as broken, or nobody was there
	}
	configured, classes := in.config.since(sent.config), t.world.names.since(sent.names)
	answering := config(got.config)
	t.mu.Lock()
	defer t.mu.Unlock()
	may := t.world.expected(in, s, c, path, sent, answering, t.read.of(reader{s.host, c.name}, begun))
	t.by[by]++
	t.statuses[got.status]++
	t.as[got.identity]++
	if s.asked {
		t.asked++
	}
	if c.kind == browser && path != "/robots.txt" {
		t.slowest = max(t.slowest, took)
	}
	if len(may) > 1 {
		t.loose++
	}
	passed := slices.Contains(s.passes(path, sent), got.status)
	right := slices.Contains(may, got.status) || got.status == http.StatusOK && t.isFirst(in, s, c, path) || passed && t.isPending(in, s, c, path, got.verdict)
	older := !slices.Contains(configured, answering)
	if older {
		// Caddy sometimes leaves a connection by HTTP/2 to the configuration before, with
		// the registry of its time.
		right = right && by == 2 && again && got.config >= 0 && answering < configured[0]
		t.older++
	}
	known := got.identity == "" || got.identity == c.identity()
	named := c.name != "Quuxle" || got.class == "" || older || slices.ContainsFunc(classes, func(n names) bool { return n.class() == got.class })
	if right && named && known && got.protocol == by {
		return
	}
	t.wrongs++
	if len(t.wrong) < 20 {
		wrong := fmt.Sprintf("%s %s %s %s%s as %s: %d by %s, verdict %q, class %q, identity %q, by configuration %d, want %v by %v; text %d, origin %q, took %s",
			begun.UTC().Format("15:04:05.000"), in.name, by, host, path, c.name, got.status, got.protocol, got.verdict, got.class, got.identity, got.config, may, configured, int(s.text.last()), s.state.last(), took)
		fmt.Fprintln(os.Stderr, wrong) // it may be long until the end
		t.wrong = append(t.wrong, wrong)
	}
}

// isFirst reports whether a request that was let pass is the one that a limit grants
// its client in this life.
func (t *traffic) isFirst(in *instance, s *site, c client, path string) bool {
	if !s.slows(c, path) {
		return false
	}
	return t.grants(count{in.name, s.host, c.label, c.identity()}, 1)
}

// isPending reports whether a request that was let pass is one of the few that are while
// it is not known yet what its crawler was served: of each network eight and then eight
// in an hour at each site that has changed its robots.txt, in a life. Errors of a proxy
// do not tell their verdict. Each identity has a network of its own. Where another proxy
// asks, who has read robots.txt within a minute may have read a newer one than the guard.
func (t *traffic) isPending(in *instance, s *site, c client, path, verdict string) bool {
	if verdict != "stale" && verdict != "" || !s.readers || s.every == 0 || !s.enforces || !s.forbidden(c, path, 1) {
		return false
	}
	if s.asked && (verdict == "" || !s.reads(c)) {
		return false
	}
	pending := s.asked || t.grants(count{in.name, s.host, "", c.identity()}, 9+int(8*time.Since(in.born()).Hours()))
	if pending {
		t.pending++
	}
	return pending
}

// grants counts a request that was let pass, and reports whether there are no more
// than there may be.
func (t *traffic) grants(key count, most int) bool {
	tally := t.counts[key]
	tally.passed++
	t.counts[key] = tally
	return tally.passed <= most
}

// probe makes a request that is counted and not judged.
func (t *traffic) probe(in *instance, s *site, c client, path string) answer {
	got, _ := t.do(in, s, c, s.host, path, 1, true)
	return got
}

// answer is what matters of an answer, all of it empty if none came.
type answer struct {
	status, config                 int
	protocol                       protocol
	verdict, class, identity, body string
}

// errAway says that nobody may ask an instance at present.
var errAway = errors.New("the instance is away")

// do makes a request and counts it.
func (t *traffic) do(in *instance, s *site, c client, host, path string, by protocol, again bool) (got answer, err error) {
	if !in.gate.TryRLock() {
		return got, errAway
	}
	defer in.gate.RUnlock()
	r, err := s.request(c, host, path)
	if err != nil {
		return got, err
	}
	process, calls := in.life()
	mark := in.config.mark()
	err = calls.do(r, by, again, func(response *http.Response) error {
		h := response.Header
		body, err := io.ReadAll(response.Body)
		configured, missing := strconv.Atoi(h.Get("X-Config"))
		if missing != nil {
			configured = -1
		}
		got = answer{response.StatusCode, configured, protocol(response.ProtoMajor), h.Get("X-Verdict"), h.Get("X-Class"), h.Get("X-Identity"), string(body)}
		return err
	})
	because := otherwise
	switch {
	case err == nil:
	case process.EndsWithin(time.Second): // a connection may be closed first
		because = killed
	case len(in.config.since(mark)) > 1:
		because = reloaded
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent++
	key := count{in.name, s.host, c.label, c.identity()}
	tally := t.counts[key]
	if err != nil {
		tally.broken++
		t.broken.add(because, in.name, by, err)
	} else {
		tally.answered++
		if path == "/robots.txt" && got.status == http.StatusOK && !s.invented {
			t.read.note(reader{s.host, c.name}, got.body, time.Now())
		}
		switch got.status {
		case http.StatusForbidden, http.StatusGone:
			tally.refused++
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			tally.slowed++
		}
	}
	t.counts[key] = tally
	return got, err
}
