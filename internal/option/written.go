package option

import (
	"fmt"
	"os"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// IsMissing reports whether a file is not there, or not yet, as on another machine.
func IsMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// LineOf returns the line that d reads, such as "Caddyfile:12". Modules keep it for errors
// that they find after the Caddyfile was read, such as a file that does not exist.
func LineOf(d *caddyfile.Dispenser) string { return fmt.Sprintf("%s:%d", d.File(), d.Line()) }

// At adds a line that [LineOf] returned to an error. It returns err as it is if err is nil
// or line is empty.
func At(line string, err error) error {
	if err == nil || line == "" {
		return err
	}
	return fmt.Errorf("%w, at %s", err, line)
}
