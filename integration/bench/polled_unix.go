//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// polled is a connection that nothing waits for, by its descriptor.
type polled int

// unwatched returns a connection of which a reading does not wait, but is of nothing
// if nothing has come. The runtime does not have it: of its own it waits for all, and is
// woken by what comes even if nobody reads.
func unwatched(conn net.Conn) (io.ReadWriteCloser, error) {
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	own := -1
	failed := raw.Control(func(fd uintptr) { own, err = syscall.Dup(int(fd)) }) // non-blocking, too
	if err = errors.Join(failed, err); err != nil {
		return nil, err
	}
	syscall.CloseOnExec(own)
	return polled(own), nil
}

func (c polled) Read(p []byte) (n int, err error) {
	n, err = syscall.Read(int(c), p)
	switch {
	case err == syscall.EAGAIN, err == syscall.EINTR:
		return 0, nil
	case err == nil && n == 0:
		return 0, io.ErrUnexpectedEOF
	}
	return max(n, 0), err
}

func (c polled) Write(p []byte) (n int, err error) {
	n, err = syscall.Write(int(c), p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

func (c polled) Close() error { return syscall.Close(int(c)) }
