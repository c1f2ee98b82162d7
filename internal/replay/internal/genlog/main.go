// Command genlog writes an access log for measuring, in the Combined format or,
// with -caddy or -headers, in Caddy's JSON:
//
//	go run ./internal/replay/internal/genlog -lines 5000000 >access.log
package main

import (
	"bufio"
	"flag"
	"log"
	"os"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/replay/internal/sample"
)

func main() {
	lines := flag.Int("lines", 1000000, "how many lines")
	seed := flag.Uint64("seed", 1, "another seed makes another log")
	caddy := flag.Bool("caddy", false, "write Caddy's JSON")
	headers := flag.Bool("headers", false, "write Caddy's JSON with all header fields that browsers send")
	flag.Parse()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	l := sample.New(*seed, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	for range *lines {
		e := l.Next()
		write := e.Combined
		if *caddy {
			write = e.Caddy
		}
		if *headers {
			write = e.CaddyFull
		}
		if err := write(out); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
