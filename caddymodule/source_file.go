package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// fileSource reads a file of this machine. A file that does not exist is like a
// site without robots.txt: it restricts nothing.
type fileSource struct {
	path string
}

func (s fileSource) prepare(*http.Request, policy.Key, witness) (read reader, ok bool) {
	return func(context.Context, *policy.Version) policy.Answer { return s.read() }, true
}

func (s fileSource) read() policy.Answer {
	body, err := s.content()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return policy.Answer{Status: http.StatusNotFound}
	case err != nil:
		return policy.Answer{Err: fmt.Errorf("source file: %w", err)}
	}
	return policy.Answer{Status: http.StatusOK, Body: body}
}

func (s fileSource) content() ([]byte, error) {
	// Opening a named pipe or a device can block for as long as nobody writes
	// to it, so look first.
	info, err := os.Stat(s.path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a directory, a pipe or a device; it has to be a regular file", s.path)
	}
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}
