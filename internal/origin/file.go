package origin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// File reads a file of this machine. A file that does not exist is like a
// site without robots.txt: it restricts nothing.
type File struct {
	Path string // as the operating system spells it
}

// Prepare implements [Source]. ok is always true: no request is needed.
func (s File) Prepare(*http.Request, policy.Key) (fetch Fetch, ok bool) {
	return onceMore(func(context.Context, *policy.Version) policy.Answer { return s.fetch() }), true
}

func (s File) fetch() policy.Answer {
	body, err := ReadFile(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return policy.Answer{Status: http.StatusNotFound}
	case err != nil:
		return policy.Answer{Err: fmt.Errorf("source file: %w", err)}
	}
	return policy.Answer{Status: http.StatusOK, Body: body}
}

// CheckFile tells what keeps a file from being what an option names, such as a source,
// for the moment at which a configuration is loaded. A missing one is an error that ends
// with what else to write, unless that is empty: then it may be missing.
func CheckFile(option, path, otherwise string) error {
	_, err := ReadFile(path)
	if err == nil || otherwise == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	begins := ""
	if full, err := filepath.Abs(path); err == nil && full != path {
		begins = "; a relative path begins where Caddy was started, so this is " + full
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s file %s: there is no such file%s; %s, or %s", option, path, begins, cmp.Or(didYouMean(path), "correct the path"), otherwise)
	}
	return fmt.Errorf("%s file %s: %w%s", option, path, err, begins)
}

// didYouMean asks whether a file beside one that is not there is meant.
func didYouMean(path string) string {
	if near := text.NearFile(path); near != "" {
		return "did you mean " + near + "? Correct the path"
	}
	return ""
}

// ReadFile returns the beginning of a regular file, as much of it as is parsed.
func ReadFile(path string) ([]byte, error) {
	// Opening a named pipe or a device can block for as long as nobody writes
	// to it, so look first.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a directory, a pipe or a device; it has to be a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}
