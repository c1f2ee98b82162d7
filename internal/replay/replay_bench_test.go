package replay

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/replay/internal/sample"
)

// combinedLog makes a log in the Combined format.
func combinedLog(seed uint64, lines int) []byte {
	return sampleLog(seed, lines, (*sample.Entry).Combined)
}

func sampleLog(seed uint64, lines int, write func(*sample.Entry, io.Writer) error) []byte {
	var b bytes.Buffer
	l := sample.New(seed, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	for range lines {
		e := l.Next()
		_ = write(&e, &b)
	}
	return b.Bytes()
}

// BenchmarkReplay tells how many lines a second one worker replays.
func BenchmarkReplay(b *testing.B) {
	const lines = 200000
	for _, bc := range []struct {
		name  string
		write func(*sample.Entry, io.Writer) error
	}{{"combined", (*sample.Entry).Combined}, {"caddy", (*sample.Entry).Caddy}, {"headers", (*sample.Entry).CaddyFull}} {
		b.Run(bc.name, func(b *testing.B) {
			log := sampleLog(1, lines, bc.write)
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				report, err := Run(context.Background(), Options{
					Logs: []string{"-"}, Stdin: bytes.NewReader(log), Workers: 1, Versions: oneVersion(sample.Robots),
				})
				if err != nil || report.Lines != lines || report.Malformed != 0 || report.Requests == 0 {
					b.Fatalf("%v, %+v", err, report)
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
