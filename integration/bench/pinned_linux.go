package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// processors returns the numbers of the CPUs on which this process may run.
func processors() (list []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	return list
}

// startOn starts a command on one CPU. A child process inherits the CPU affinity of the
// thread that starts it.
func startOn(processor int, command *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(processor)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	err := command.Start()
	if undo := unix.SchedSetaffinity(0, &before); err == nil {
		err = undo
	}
	return err
}

// stayOn pins this process to the CPUs in list.
func stayOn(list []int) error {
	var set unix.CPUSet
	for _, processor := range list {
		set.Set(processor)
	}
	for range 2 { // a new thread may have started in between
		threads, err := filepath.Glob("/proc/self/task/*")
		if err != nil {
			return err
		}
		for _, thread := range threads {
			id, err := strconv.Atoi(filepath.Base(thread))
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(id, &set); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	return nil
}

// yield lets other runnable threads run, without sleeping.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// cpuOf returns the processor time of a process with nanosecond resolution, 0 if unknown.
func cpuOf(pid int) time.Duration {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel: all threads of a process
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduled), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
