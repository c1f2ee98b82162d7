package replay

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"
)

// combinedLog makes a log in the Combined format.
func combinedLog(seed uint64, lines int) []byte {
	return sampleLog(seed, lines, (*sampleEntry).Combined)
}

func sampleLog(seed uint64, lines int, write func(*sampleEntry, io.Writer) error) []byte {
	var b bytes.Buffer
	l := newSample(seed, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	for range lines {
		e := l.Next()
		_ = write(&e, &b)
	}
	return b.Bytes()
}

// BenchmarkReplay measures the lines per second of one worker.
func BenchmarkReplay(b *testing.B) {
	const lines = 200000
	for _, bc := range []struct {
		name  string
		write func(*sampleEntry, io.Writer) error
	}{{"combined", (*sampleEntry).Combined}, {"caddy", (*sampleEntry).Caddy}, {"headers", (*sampleEntry).CaddyFull}} {
		b.Run(bc.name, func(b *testing.B) {
			log := sampleLog(1, lines, bc.write)
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				report, err := Run(context.Background(), Options{
					Logs: []string{"-"}, Stdin: bytes.NewReader(log), Workers: 1, Versions: oneVersion(sampleRobots),
				})
				if err != nil || report.Lines != lines || report.Malformed != 0 || report.Requests == 0 {
					b.Fatalf("%v, %+v", err, report)
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
