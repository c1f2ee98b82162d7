package main

import (
	"fmt"
	"time"
)

// cause is why no answer came.
type cause int

const (
	killed   cause = iota // the instance was
	reloaded              // it was while the request was under way
	otherwise
	numCauses
)

// broken are the requests to which no answer came.
type broken struct {
	by    [numCauses]int
	first []string // of those otherwise
}

func (b *broken) add(because cause, instance string, over protocol, err error) {
	if b.by[because]++; because == otherwise && len(b.first) < 5 {
		b.first = append(b.first, fmt.Sprintf("%s %s by %v: %v", time.Now().UTC().Format(time.TimeOnly), instance, over, err))
	}
}

func (b *broken) all() (n int) {
	for _, part := range b.by {
		n += part
	}
	return n
}
