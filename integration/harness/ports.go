package harness

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
)

// Ports are allocated in blocks. A process claims a block by listening on its first
// port, so that no two processes allocate the same port. All ports are below the
// ephemeral range of the operating system, because an outgoing connection could take a
// free port in that range.
const (
	firstBlock = 10_000
	blockSize  = 100
	blocks     = 220
)

var ports struct {
	sync.Mutex
	next, end int
	claims    []net.Listener // open until the process exits
}

// ClaimPort returns a free TCP port that no other caller gets.
func ClaimPort() (string, error) {
	ports.Lock()
	defer ports.Unlock()
	for {
		for ports.next < ports.end {
			port := fmt.Sprint(ports.next)
			ports.next++
			if l, err := net.Listen("tcp", ":"+port); err == nil {
				return port, l.Close()
			}
		}
		if err := claimBlock(); err != nil {
			return "", err
		}
	}
}

func claimBlock() error {
	begin := os.Getpid() + len(ports.claims)
	for i := range blocks {
		first := firstBlock + (begin+i)%blocks*blockSize
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first)); err == nil {
			ports.claims = append(ports.claims, l)
			ports.next, ports.end = first+1, first+blockSize
			return nil
		}
	}
	return errors.New("no block of ports is free")
}

// FreePort is like ClaimPort for a test.
func FreePort(t testing.TB) string {
	t.Helper()
	port, err := ClaimPort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
