package replay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Options say what to replay. Logs and Versions are needed.
type Options struct {
	// Logs are files, patterns of files, and - for Stdin. Compressed ones are
	// recognised. If the time of the first request of each can be told, they are
	// read in that order, else as given.
	Logs  []string
	Stdin io.Reader
	// Versions are the texts of the robots.txt, each in force from its time to
	// that of the next. The first is held to have been in force before, too.
	Versions []Version
	// Sites are the hosts whose requests count, such as example.com or
	// https://example.com. A request without a host in the log counts. Empty for all.
	Sites []string
	// Since and Until bound the time of the requests that count, Until
	// excluded. Zero for no bound.
	Since, Until time.Time
	// Settings are those of the handler. A log does not tell whether a User-Agent
	// is true, so clients are judged by what they claim.
	Settings judge.Settings
	// Rate has the rate limits of crawlers; nil for no report of rates.
	Rate *rate.Settings
	// Paths says that [Report.Challenge] is filled.
	Paths bool
	// Sources says that [Report.Sources] is filled.
	Sources bool
	// Grace is for how long a crawler may follow a version that was replaced: 0
	// for the handler's default, not at all if it is negative.
	Grace time.Duration
	// Registry knows the crawlers; nil for uaident.Default.
	Registry *uaident.Registry
	// Workers is how many goroutines judge; 0 for one for each processor.
	Workers int
	// Lines, if not nil, is the number of lines read so far while Run runs.
	Lines *atomic.Int64
	// Now is the time of the report. Zero for no time.
	Now time.Time

	maxLine int // 0 for the default
}

// Run replays logs. When ctx is done it stops early, and returns the report of
// what was read with an error that says so. So it does if a log cannot be read to
// its end: the others are read all the same. If it returns no report, nothing was
// read, and the error says what to do.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Lines == nil {
		o.Lines = new(atomic.Int64)
	}
	p, logs, err := o.plan()
	if err != nil {
		return nil, err
	}
	s := newSequence(p)
	report := &Report{Created: o.Now.UTC().Truncate(time.Second)}
	for _, in := range logs {
		log := &LogReport{Name: in.name, Compression: in.compression, Empty: in.empty}
		if in.format != nil {
			log.Format = in.format.Name
		}
		s.lines[in] = log
		report.Logs = append(report.Logs, log)
	}
	workers := make([]*worker, max(1, o.Workers))
	for i := range workers {
		workers[i] = newWorker(p)
	}
	err = pump(ctx, logs, workers, s, &o)
	total := s.tally
	for _, w := range workers {
		w.host.flush(w)
		total.merge(w.tally)
	}
	report.fill(p, total, s, &o, logs)
	if err != nil {
		err = s.located(err)
		report.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return report, err
}

// plan checks the options.
func (o *Options) plan() (*plan, []*input, error) {
	p := &plan{registry: o.Registry, rate: o.Rate, paths: o.Paths, sources: o.Sources, since: math.MinInt64, until: math.MaxInt64, crawlers: new(crawlers)}
	if p.registry == nil {
		p.registry = uaident.Default()
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if !o.Since.IsZero() {
		p.since = o.Since.UnixNano()
	}
	if !o.Until.IsZero() {
		p.until = o.Until.UnixNano()
	}
	if p.since >= p.until {
		return nil, nil, errors.New("the end of the time to replay is not after its beginning")
	}
	var err error
	if p.versions, err = prepare(o, p.registry); err != nil {
		return nil, nil, err
	}
	p.byHost = hostSpans(p.versions)
	if p.hosts, err = parseSites(o.Sites); err != nil {
		return nil, nil, err
	}
	if len(o.Logs) == 0 {
		return nil, nil, errors.New("no log given")
	}
	logs, err := inputs(o.Logs, o.Stdin)
	if err != nil {
		return nil, nil, err
	}
	for _, in := range logs {
		if in.found && !in.timed && (!o.Since.IsZero() || !o.Until.IsZero()) {
			return nil, nil, errors.New(in.name + " has no times, so no part of it can be chosen by time")
		}
	}
	return p, logs, nil
}

// errInterrupted says that a replay was stopped.
var errInterrupted = errors.New("interrupted: the report covers the lines read until then")

// pump reads the logs, has workers judge their chunks side by side, and hands
// them to s in order.
func pump(ctx context.Context, logs []*input, workers []*worker, s *sequence, o *Options) error {
	depth := 2*len(workers) + 2
	free := make(chan *chunk, depth)
	for range depth {
		free <- &chunk{buf: make([]byte, cmp.Or(o.maxLine, maxLine)), done: make(chan struct{}, 1)}
	}
	read, results := make(chan *chunk), make(chan error, 1)
	go func() { // ends when the logs do, or when ctx is done and no Read blocks any more
		results <- readAll(ctx, logs, free, read)
	}()
	ordered := make(chan *chunk, depth)
	work := make([]chan *chunk, len(workers))
	var running sync.WaitGroup
	for i, w := range workers {
		work[i] = make(chan *chunk, depth)
		running.Go(func() {
			for k := range work[i] {
				w.work(k)
				o.Lines.Add(int64(k.lines))
				k.done <- struct{}{}
			}
		})
	}
	running.Go(func() {
		for k := range ordered {
			<-k.done
			s.take(k)
			free <- k
		}
	})
	err := func() error {
		for next := 0; ; next++ {
			select {
			case k := <-read:
				ordered <- k
				// In turn, so that the same logs give the same estimates where counts
				// are estimated.
				work[next%len(work)] <- k
			case err := <-results:
				return err
			case <-ctx.Done():
				return errInterrupted
			}
		}
	}()
	for _, queue := range work {
		close(queue)
	}
	close(ordered)
	running.Wait()
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// readAll reads one log after the other.
func readAll(ctx context.Context, logs []*input, free chan *chunk, read chan<- *chunk) error {
	c := chunker{free: free, emit: func(k *chunk) {
		select {
		case read <- k:
		case <-ctx.Done():
		}
	}}
	var failed error
	for _, in := range logs {
		if in.format == nil { // nothing is in it, or nothing that can be read
			if in.broken != nil {
				failed = errors.Join(failed, &unreadable{in, in.broken})
			}
			continue
		}
		if err := c.read(ctx, in); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			failed = errors.Join(failed, &unreadable{in, err})
		}
	}
	return failed
}
