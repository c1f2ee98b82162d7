package option

import (
	"fmt"
	"os"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Written says where something stands in a Caddyfile. It goes into the JSON only where what
// is named there was not found while the Caddyfile was read, as on another machine, or can
// be told only when all sites are there: the error that tells of it later has nothing else
// to name the line by.
type Written struct {
	// Where it stands, such as `Caddyfile:12`, for messages. The Caddyfile fills it in where
	// it names something that was not there as it was read.
	WrittenAt string `json:"at,omitempty"`
}

// Mark keeps the line that is being read.
func (w *Written) Mark(d *caddyfile.Dispenser) {
	w.WrittenAt = fmt.Sprintf("%s:%d", d.File(), d.Line())
}

// IsMissing reports whether a file is not there, or not yet, as on another machine.
func IsMissing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// At returns an error with the line, if that is kept.
func (w *Written) At(err error) error {
	if err == nil || w.WrittenAt == "" {
		return err
	}
	return fmt.Errorf("%w, at %s", err, w.WrittenAt)
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
