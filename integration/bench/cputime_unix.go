//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process so far, including garbage collection.
// Other processes on the machine do not affect it.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return time.Since(started)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
