package harness

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Node starts a script of Node.js in a folder, which stands beside a package that "npm
// install" puts there, and returns where it reads from and writes to. It ends with the
// test. Where Node.js or the package is missing, the test ends as by [Missing].
func Node(t testing.TB, folder, npm, gate, script string, args ...string) (in io.Writer, out *bufio.Reader) {
	t.Helper()
	node := Program(t, "node", "nodejs", gate)
	if _, err := os.Stat(filepath.Join(folder, "node_modules", npm)); err != nil {
		Missing(t, npm+", by npm install in "+folder, gate)
	}
	cmd := exec.Command(node, append([]string{script}, args...)...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	to, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = to.Close() // which ends it
		_ = cmd.Wait() // however it ended
	})
	return to, bufio.NewReader(from)
}
