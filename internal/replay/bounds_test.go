package replay

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// endless is a reader of one infinite line.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	n := int(min(int64(len(p)), e.n))
	e.n -= int64(n)
	return n, nil
}

// TestEndlessLine replays a line that is many times longer than the buffer.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	line := combined(noon, "GET /x", googlebot)
	r := replayed(t, "", func(o *Options) {
		o.Stdin = io.MultiReader(strings.NewReader(line), &endless{n: 64 << 20}, strings.NewReader("\n"+line))
	})
	if r.Lines != 3 || r.Malformed != 1 || r.Requests != 2 {
		t.Errorf("%d lines, %d malformed, %d requests", r.Lines, r.Malformed, r.Requests)
	}
}

// TestNoAllocation replays a log twice. The second time no line allocates.
func TestNoAllocation(t *testing.T) {
	p, logs, err := (&Options{Logs: []string{"-"}, Stdin: bytes.NewReader(combinedLog(1, 2000)), Versions: oneVersion(sampleRobots), Lines: new(atomic.Int64), Workers: 1}).newPlan()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(p)
	k := &chunk{input: logs[0], data: combinedLog(1, 2000)}
	w.processChunk(k)
	if n := testing.AllocsPerRun(5, func() { w.processChunk(k) }); n > 20 {
		t.Errorf("%v allocations for 2,000 lines", n)
	}
}

// TestBoundedMemory replays a log with a new crawler, path and host in every line. The memory stays
// bounded.
func TestBoundedMemory(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&log, "h%d.example 192.0.2.1 - - [%s +0000] \"GET /private/%d HTTP/1.1\" 200 5 \"-\" \"Invented%dBot/1.0 (+http://x%d.example)\"\n",
			i, time.Unix(int64(i)*86400*4, 0).UTC().Format("02/Jan/2006:15:04:05"), i, i, i)
	}
	r := replayed(t, log.String(), nil)
	if len(r.Crawlers) != 1 || r.Crawlers[0].Token != "_other" || r.Disallowed != 20000 || len(r.Paths) != maxReportedPaths || len(r.Hosts) != maxReportedHosts || len(r.Rules) != 1 {
		t.Errorf("%d crawlers, %d paths, %d hosts, %d rules", len(r.Crawlers), len(r.Paths), len(r.Hosts), len(r.Rules))
	}
}
