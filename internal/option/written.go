package option

import (
	"fmt"
	"os"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// IsFileMissing reports whether a file cannot be found on this machine. The file may exist on the
// machine that will run the configuration.
func IsFileMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// CaddyfileLine returns the current line of d, such as "Caddyfile:12". Modules store the line for errors
// found after parsing, such as a missing file.
func CaddyfileLine(d *caddyfile.Dispenser) string { return fmt.Sprintf("%s:%d", d.File(), d.Line()) }

// AddCaddyfileLine adds a line from [CaddyfileLine] to an error. If err is nil or line is empty, AddCaddyfileLine returns
// err unchanged.
func AddCaddyfileLine(line string, err error) error {
	if err == nil || line == "" {
		return err
	}
	return fmt.Errorf("%w, at %s", err, line)
}
