package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/robotsguard/caddy-robots-guard"
	"github.com/robotsguard/caddy-robots-guard/integration/bench/empty"
	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// chains holds the handler chains of Caddy servers in this process. Requests reach the
// handlers without a connection.
type chains struct {
	stock, empty, guarded *caddyhttp.Server
	files                 *caddyhttp.Server // stock Caddy with a file server
	directory             string
}

// startChains loads a configuration with four servers. Three serve pages from the
// configuration and differ in one handler: no handler, an empty handler, the guard. The
// fourth serves files.
func startChains() (*chains, error) {
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	c := &chains{directory: directory}
	if err := c.load(); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *chains) load() error {
	if err := os.WriteFile(c.directory+"/robots.txt", []byte(smallFile), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(c.directory+"/page.html", []byte(answerBody), 0o644); err != nil {
		return err
	}
	options, blocks := "", ""
	var addresses []string
	for _, s := range []struct{ extra, answer string }{
		{"", respond}, {empty.Directive, respond}, {guard("enforce"), respond},
		{"", "rewrite * /page.html\n\t\troot * " + c.directory + "\n\t\tfile_server"},
	} {
		port, err := harness.ClaimPort()
		if err != nil {
			return err
		}
		address := "127.0.0.1:" + port
		addresses = append(addresses, address)
		var sites string
		options, sites, _ = strings.Cut(caddyfile(address, c.directory, s.extra, s.answer), "\n}\n")
		blocks += sites
	}
	adapter := caddyconfig.GetAdapter("caddyfile")
	// The guard gets its own storage, so that data stored by other servers does not
	// matter.
	options += "\n\tstorage file_system " + c.directory + "/storage\n\tlog {\n\t\toutput discard\n\t}\n}\n"
	config, _, err := adapter.Adapt([]byte(options+blocks), nil)
	if err != nil {
		return err
	}
	if err := caddy.Load(config, true); err != nil {
		return err
	}
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		return err
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		for i, address := range addresses {
			if _, port, _ := strings.Cut(address, ":"); strings.HasSuffix(server.Listen[0], ":"+port) {
				*[]**caddyhttp.Server{&c.stock, &c.empty, &c.guarded, &c.files}[i] = server
			}
		}
	}
	// The first request of a crawler makes the guard fetch robots.txt.
	for _, try := range []struct {
		target string
		status int
	}{{"/products/", 200}, {"/private/", 403}} {
		w := httptest.NewRecorder()
		c.guarded.ServeHTTP(w, chainRequest("ExampleBot/1.0 (+https://crawl.example/about)", try.target))
		if w.Code != try.status {
			return fmt.Errorf("status %d for %s, want %d", w.Code, try.target, try.status)
		}
	}
	return nil
}

func (c *chains) stop() {
	_ = caddy.Stop()
	_ = os.RemoveAll(c.directory)
}

func chainRequest(agent, target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = hostOf(0)
	r.Header.Set("User-Agent", agent)
	return r
}

// chainRequests returns requests of the given clients for pages that every client may
// fetch.
func chainRequests(agents []string) []*http.Request { return chainRequestsIn("/products/", agents) }

// chainRequestsIn returns requests of the given clients for pages in folder.
func chainRequestsIn(folder string, agents []string) []*http.Request {
	requests := make([]*http.Request, len(agents))
	for i, agent := range agents {
		requests[i] = chainRequest(agent, fmt.Sprintf("%s%d?page=2", folder, i))
	}
	return requests
}

// discarder is an http.ResponseWriter that discards the response and does not allocate.
type discarder struct{ header http.Header }

func newDiscarder() *discarder { return &discarder{make(http.Header)} }

func (w *discarder) Header() http.Header         { return w.header }
func (w *discarder) Write(p []byte) (int, error) { return len(p), nil }
func (w *discarder) WriteHeader(int)             { clear(w.header) }

// comparison compares the handler chains with and without the guard.
func (c *chains) comparison() comparison {
	return comparison{name: "Chain", rows: []comparisonRow{
		c.row("browsers, all different", "/products/", agentsOf(1000, 1000, browserKinds...)),
		c.row(crawlersRow, "/products/", agentsOf(1000, 1000, knownKinds...)),
		c.row("crawlers, forbidden pages", "/private/", agentsOf(1000, 1000, knownKinds...)),
	}}
}

// Names of a row and of servers that chainTable uses.
const (
	crawlersRow = "crawlers, all different"
	emptyCell   = "with an empty handler"
	guardCell   = "with `robots_guard enforce`"
)

// chainTable measures the handler chains.
func chainTable(e effort) (string, error) {
	handlers, err := startChains()
	if err != nil {
		return "", err
	}
	defer handlers.stop()
	c := handlers.comparison()
	e.rounds, e.benchTime = 5*e.rounds, e.benchTime/5 // differences of a few microseconds need more rounds
	results := c.measure(e)
	empty, guarded := c.at(results, crawlersRow, emptyCell), c.at(results, crawlersRow, guardCell)
	more := guarded.over(&empty)
	return fmt.Sprintf("%s\nOver an empty handler, an allowed page for a crawler takes %s (quartiles %s to %s) and %s.\n",
		c.table(results), duration(more.middle), duration(more.low), duration(more.high), count(guarded.allocs-empty.allocs)), nil
}

// row returns the row for requests of agents for pages in folder.
func (c *chains) row(name, folder string, agents []string) comparisonRow {
	serve := func(s *caddyhttp.Server) func() {
		requests := chainRequestsIn(folder, agents)
		w := newDiscarder()
		next := 0
		return func() {
			requests[next].Body = http.NoBody // Caddy wraps the body of each request in its own reader
			s.ServeHTTP(w, requests[next])
			if next++; next == len(requests) {
				next = 0
			}
		}
	}
	return comparisonRow{name: name, cells: []cell{
		{who: "stock Caddy", run: serve(c.stock)},
		{who: emptyCell, run: serve(c.empty)},
		{who: guardCell, run: serve(c.guarded)},
		{who: "stock Caddy, the same page from a file", run: serve(c.files)},
	}}
}
