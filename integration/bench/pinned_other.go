//go:build !linux

package main

import (
	"os/exec"
	"runtime"
	"time"
)

// Other systems do not support pinning, and do not report the CPU time of other
// processes.

func processors() []int                      { return nil }
func startOn(_ int, command *exec.Cmd) error { return command.Start() }
func stayOn([]int) error                     { return nil }
func cpuOf(int) time.Duration                { return 0 }
func yield()                                 { runtime.Gosched() }
