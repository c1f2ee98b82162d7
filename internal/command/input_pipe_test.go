//go:build linux

package command

import (
	"os"
	"strconv"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestPipe reads a robots.txt from a pipe with a file name, as in <(command).
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const robots = "User-agent: *\nDisallow: /private/\n"
	if _, err := w.WriteString(robots); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	body, err := readFile(nil, "/dev/fd/"+strconv.Itoa(int(r.Fd())), policy.MaxSize)
	if err != nil || string(body) != robots {
		t.Errorf("%q, %v", body, err)
	}
}
