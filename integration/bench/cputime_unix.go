//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime returns how long this process has computed so far, the collection of
// garbage included. Unlike the clock it stands still while others compute.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return time.Since(started)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
