//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// polled is the file descriptor of a connection for polling.
type polled int

// unwatched returns a connection on which Read does not block, and returns 0 bytes if
// no data is available. The connection does not use the runtime's network poller. The
// poller wakes up for incoming data even if no goroutine reads.
func unwatched(conn net.Conn) (io.ReadWriteCloser, error) {
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	own := -1
	// the duplicate is non-blocking as well
	failed := raw.Control(func(fd uintptr) { own, err = syscall.Dup(int(fd)) })
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
