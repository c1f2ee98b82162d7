//go:build !unix

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// polled is a connection for polling.
type polled struct{ net.Conn }

// unwatched returns a connection on which Read returns 0 bytes if no data is available.
// On this system Read waits for up to 50 microseconds.
func unwatched(conn net.Conn) (io.ReadWriteCloser, error) { return polled{conn}, nil }

func (c polled) Read(p []byte) (n int, err error) {
	if err = c.SetReadDeadline(time.Now().Add(50 * time.Microsecond)); err != nil {
		return 0, err
	}
	if n, err = c.Conn.Read(p); errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}
