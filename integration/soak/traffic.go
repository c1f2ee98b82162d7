package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// traffic is the requests that are made, and what came of them.
type traffic struct {
	world   *world
	port    string
	clients [2]*http.Client // with connections that stay, and with new ones

	mu      sync.Mutex
	counts  map[count]tally
	wrong   []string // the first answers that should not have been
	wrongs  int
	sent    int
	slowest time.Duration // of a browser
	loose   int           // answers for which more than one status was right
}

// count is what requests are counted by, as in the metrics of the server.
type count struct{ host, crawler string }

// tally is how often a client of a site asked.
type tally struct {
	answered int
	refused  int // of these
	broken   int // no answer came, so the server may have counted it or not
}

func newTraffic(w *world, port string) *traffic {
	t := &traffic{world: w, port: port, counts: make(map[count]tally)}
	for i := range t.clients {
		t.clients[i] = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
			DisableKeepAlives:   i == 1,
			MaxIdleConnsPerHost: 64,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port) // whatever the host
			},
		}}
	}
	return t
}

// run makes so many requests a second until ctx ends.
func (t *traffic) run(ctx context.Context, rate float64) {
	const workers = 16
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for rest(ctx, time.Duration(random.ExpFloat64()*workers/rate*float64(time.Second))) {
				s := t.world.sites[random.IntN(len(t.world.sites))]
				path := paths[random.IntN(len(paths))]
				if path == "/robots.txt" && !s.readers {
					path = "/page"
				}
				t.ask(s, clients[random.IntN(len(clients))], path, t.clients[random.IntN(2)])
			}
		})
	}
	group.Wait()
	for _, client := range t.clients {
		client.CloseIdleConnections()
	}
}

// ask makes a request and holds the answer against what the world says.
func (t *traffic) ask(s *site, c client, path string, by *http.Client) {
	host := s.host
	if s.invented {
		host = strconv.FormatUint(rand.Uint64(), 36) + "." + host
	}
	sent, begun := t.world.now(s), time.Now()
	got, err := t.do(s, c, host, path, by)
	took := time.Since(begun)
	may := t.world.expected(s, c, path, sent)
	configs := t.world.config.since(sent.config)
	if err != nil {
		return // counted as broken
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.kind == browser && path != "/robots.txt" {
		t.slowest = max(t.slowest, took)
	}
	if len(may) > 1 {
		t.loose++
	}
	known := slices.ContainsFunc(configs, func(k config) bool { return strconv.Itoa(int(k)) == got.config })
	if known && slices.Contains(may, got.status) {
		return
	}
	t.wrongs++
	if len(t.wrong) < 20 {
		t.wrong = append(t.wrong, fmt.Sprintf("%s %s%s as %s: %d, verdict %q, by configuration %q, want %v by %v; text %d, origin %q, took %s",
			begun.UTC().Format("15:04:05.000"), host, path, c.name, got.status, got.verdict, got.config, may, configs, int(s.text.last()), s.state.last(), took))
	}
}

// probe makes a request that is counted and not judged, and returns the status,
// 0 if no answer came.
func (t *traffic) probe(s *site, c client, path string) int {
	got, _ := t.do(s, c, s.host, path, t.clients[1])
	return got.status
}

// answer is what matters of an answer.
type answer struct {
	status          int
	config, verdict string
}

// do makes a request and counts it.
func (t *traffic) do(s *site, c client, host, path string, by *http.Client) (got answer, err error) {
	r, err := http.NewRequest(http.MethodGet, "http://"+host+":"+t.port+path, nil)
	if err != nil {
		return got, err
	}
	r.Header.Set("User-Agent", c.userAgent)
	response, err := by.Do(r)
	if err == nil {
		got = answer{response.StatusCode, response.Header.Get("X-Config"), response.Header.Get("X-Verdict")}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent++
	key := count{s.host, c.label}
	tally := t.counts[key]
	switch {
	case err != nil:
		tally.broken++
	case got.status == http.StatusForbidden || got.status == http.StatusGone:
		tally.refused++
		fallthrough
	default:
		tally.answered++
	}
	t.counts[key] = tally
	return got, err
}

// compare holds what the server has counted against what was sent.
func (t *traffic) compare(metrics map[string]float64) (problems []string, counted int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	judged, blocked := make(map[count]int), make(map[count]int)
	for name, value := range metrics {
		labels, ok := labelsOf(name, "caddy_robots_guard_requests_total")
		if !ok {
			continue
		}
		key := count{labels["host"], labels["crawler"]}
		judged[key] += int(value)
		counted += int(value)
		if labels["action"] == "blocked" {
			blocked[key] += int(value)
		}
	}
	for key, sent := range t.counts {
		if key.crawler == "" {
			continue
		}
		if key.host == inventedHost {
			key.host = "_other"
		}
		if n := judged[key]; n < sent.answered || n > sent.answered+sent.broken {
			problems = append(problems, fmt.Sprintf("%s at %s: %d counted, %d answered, %d broken", key.crawler, key.host, n, sent.answered, sent.broken))
		}
		if n := blocked[key]; n < sent.refused || n > sent.refused+sent.broken {
			problems = append(problems, fmt.Sprintf("%s at %s: %d counted as blocked, %d refused, %d broken", key.crawler, key.host, n, sent.refused, sent.broken))
		}
		delete(judged, key)
	}
	for key, n := range judged {
		problems = append(problems, fmt.Sprintf("%d counted for %q at %q, which nobody sent", n, key.crawler, key.host))
	}
	slices.Sort(problems)
	return problems, counted
}
