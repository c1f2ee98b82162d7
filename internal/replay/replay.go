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

// Options configures [Run]. Logs and Versions are required.
type Options struct {
	// Logs are names of files, patterns such as access.log*, or - for Stdin. Files may be
	// compressed. Run reads the logs in the order of their first requests. If a log has no times,
	// Run reads them in the given order.
	Logs  []string
	Stdin io.Reader
	// Versions are the versions of the robots.txt. Each applies until the time of the next. The
	// first also applies before its own time.
	Versions []Version
	// Sites are the hosts whose requests are judged, for example example.com or
	// https://example.com. Empty means all hosts. Requests without a host in the log are judged
	// unless each version has a host.
	Sites []string
	// Requests before Since, and at or after Until, are skipped. The zero time sets no limit.
	Since, Until time.Time
	// Settings are the settings of robots_guard. Clients are judged by the names that they claim,
	// because logs cannot verify them.
	Settings judge.Settings
	// Rate has the rate limits of crawlers. Nil means that the report contains no rates.
	Rate *rate.Settings
	// Paths adds [Report.Challenge].
	Paths bool
	// Sources adds [Report.Sources].
	Sources bool
	// Grace is the time for which a crawler may obey the previous version after a change. Zero means
	// the default of robots_guard, and a negative value means no such time.
	Grace time.Duration
	// Registry identifies the crawlers. Nil means uaident.Default.
	Registry *uaident.Registry
	// Workers is the number of worker goroutines. Zero means one for each processor.
	Workers int
	// Lines, if not nil, is updated with the number of lines read so far.
	Lines *atomic.Int64
	// Now becomes the Created time of the report.
	Now time.Time

	maxLine int // maxLine is 0 for the default.
}

// Run judges the requests in access logs and returns a report. If ctx is done, or a log cannot be
// read to its end, Run returns an error and a report about the lines read until then. In the second
// case it still reads the other logs. For invalid options the report is nil.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Lines == nil {
		o.Lines = new(atomic.Int64)
	}
	p, logs, err := o.newPlan()
	if err != nil {
		return nil, err
	}
	s := newOrderedResults(p)
	report := &Report{Created: o.Now.UTC().Truncate(time.Second)}
	for _, in := range logs {
		log := &LogReport{Name: in.name, Compression: in.compression, Empty: in.empty}
		if in.format != nil {
			log.Format = in.format.Name
		}
		s.logReports[in] = log
		report.Logs = append(report.Logs, log)
	}
	workers := make([]*worker, max(1, o.Workers))
	for i := range workers {
		workers[i] = newWorker(p)
	}
	err = judgeLogs(ctx, logs, workers, s, &o)
	total := s.tally
	for _, w := range workers {
		w.hostCache.flush(w)
		total.merge(w.tally)
	}
	report.fill(p, total, s, &o, logs)
	if err != nil {
		report.Incomplete = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return report, err
}

// newPlan validates the options, parses the versions, and opens the logs.
func (o *Options) newPlan() (*replayPlan, []*logInput, error) {
	p := &replayPlan{registry: o.Registry, rate: o.Rate, collectPaths: o.Paths, collectSources: o.Sources, since: math.MinInt64, until: math.MaxInt64, crawlers: new(crawlerNumbers)}
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
		return nil, nil, errors.New("the end time is not after the start time")
	}
	var err error
	if p.versions, err = parseVersions(o, p.registry); err != nil {
		return nil, nil, err
	}
	p.byHost = groupVersionsByHost(p.versions)
	if p.hosts, err = parseSites(o.Sites); err != nil {
		return nil, nil, err
	}
	if len(o.Logs) == 0 {
		return nil, nil, errors.New("no log given")
	}
	logs, err := openInputs(o.Logs, o.Stdin)
	if err != nil {
		return nil, nil, err
	}
	for _, in := range logs {
		if in.hasRequests && !in.hasTimes && (!o.Since.IsZero() || !o.Until.IsZero()) {
			return nil, nil, errors.New(in.name + " has no times, so its requests cannot be limited to a time range")
		}
	}
	return p, logs, nil
}

// errInterrupted is the error of a replay that ctx stopped.
var errInterrupted = errors.New("interrupted: the report covers the lines read until then")

// judgeLogs reads the logs and lets the workers judge chunks of lines in parallel. It passes the
// finished chunks to s in the order of the logs.
func judgeLogs(ctx context.Context, logs []*logInput, workers []*worker, s *orderedResults, o *Options) error {
	depth := 2*len(workers) + 2
	free := make(chan *chunk, depth)
	for range depth {
		free <- &chunk{buffer: make([]byte, cmp.Or(o.maxLine, maxLine)), done: make(chan struct{}, 1)}
	}
	ordered := make(chan *chunk, depth)
	work := make([]chan *chunk, len(workers))
	var running sync.WaitGroup
	for i, w := range workers {
		work[i] = make(chan *chunk, depth)
		running.Go(func() {
			for k := range work[i] {
				w.processChunk(k)
				o.Lines.Add(int64(k.lines))
				k.done <- struct{}{}
			}
		})
	}
	running.Go(func() {
		for k := range ordered {
			<-k.done
			s.addChunk(k)
			free <- k
		}
	})
	read, result := make(chan *chunk), make(chan error, 1)
	go func() { // The goroutine ends with the logs, or when a blocked read returns after the end of ctx.
		result <- readLogs(ctx, logs, free, read)
	}()
	err := func() error {
		for next := 0; ; next++ {
			select {
			case k := <-read:
				ordered <- k
				work[next%len(work)] <- k // A fixed order makes estimated counts the same in each run.
			case err := <-result:
				return err
			case <-ctx.Done():
				return nil
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

// readLogs reads the logs one after the other until ctx is done, and sends their chunks to read.
// readLogs returns the errors of unreadable logs.
func readLogs(ctx context.Context, logs []*logInput, free <-chan *chunk, read chan<- *chunk) (failed error) {
	emit := func(k *chunk) {
		select {
		case read <- k:
		case <-ctx.Done():
		}
	}
	for _, in := range logs {
		err := in.readErr
		if in.format != nil && ctx.Err() == nil { // The log is neither empty nor unreadable.
			err = readChunks(ctx, in, free, emit)
		}
		failed = errors.Join(failed, in.explainReadError(err))
	}
	return failed
}
