//go:build !unix

package main

import "time"

// cpuTime returns the elapsed time, because this system does not report CPU time.
func cpuTime() time.Duration { return time.Since(started) }
