package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// lag is how long it takes at most until all instances know what a crawler has read at
// one of them.
const lag = time.Minute

// reader is a client of a site, at whichever instance.
type reader struct{ host, client string }

// reading is a text that it was served.
type reading struct {
	text text
	at   time.Time
}

// readings are what clients have read last.
type readings map[reader][]reading

// note notes a robots.txt that a client was served.
func (all readings) note(who reader, body string, now time.Time) {
	var version int
	i := strings.Index(body, "# version ")
	if i < 0 {
		return
	}
	if n, _ := fmt.Sscanf(body[i:], "# version %d", &version); n != 1 {
		return
	}
	all[who] = append(all[who], reading{text(version), now})
	all.forget(who, now)
}

// forget drops what all know that a client has read another text after.
func (all readings) forget(who reader, now time.Time) {
	for known := all[who]; len(known) > 1 && now.Sub(known[1].at) > lag; known = all[who] {
		all[who] = slices.Delete(known, 0, 1)
	}
}

// of returns the texts that a client has read last as far as any instance may know.
func (all readings) of(who reader, now time.Time) (texts []text) {
	all.forget(who, now)
	for _, r := range all[who] {
		if !slices.Contains(texts, r.text) {
			texts = append(texts, r.text)
		}
	}
	return texts
}
