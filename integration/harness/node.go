package harness

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Node starts a Node.js script in folder and returns its standard input and output. The
// script stops at the end of the test. The folder must contain the package npm, as "npm
// install" leaves it. If Node.js or the package is missing, the test ends as in
// [Missing].
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
		_ = to.Close() // the script exits at the end of its input
		_ = cmd.Wait() // the exit status does not matter
	})
	return to, bufio.NewReader(from)
}
