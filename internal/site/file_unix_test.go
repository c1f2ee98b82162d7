//go:build unix

package site

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestFileSourceNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "robots.txt")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan policy.FetchResult, 1)
	go func() { done <- FileSource{Path: path}.fetch() }()
	select {
	case answer := <-done:
		if answer.AccessResult() != policy.Unreachable {
			t.Errorf("got %v", answer.AccessResult())
		}
	case <-time.After(20 * time.Second):
		t.Fatal("blocks until somebody writes to the pipe")
	}
}
