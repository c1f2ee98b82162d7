//go:build !unix

package main

import "time"

// cpuTime returns the time that has passed, for want of better.
func cpuTime() time.Duration { return time.Since(started) }
