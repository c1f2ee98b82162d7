package site

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

// FileSource is a source that reads a local file. A missing file restricts nothing, like a site without a
// robots.txt.
type FileSource struct {
	Path string // Path has the form of the operating system.
}

// Prepare implements [Source]. ok is always true, since a file needs no request.
func (s FileSource) Prepare(*http.Request, policy.Key) (fetch FetchFunc, ok bool) {
	return func(context.Context, *policy.Version) policy.FetchResult { return s.fetch() }, true
}

func (s FileSource) fetch() policy.FetchResult {
	body, err := ReadFile(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return policy.FetchResult{Status: http.StatusNotFound}
	case err != nil:
		return policy.FetchResult{Err: fmt.Errorf("source file: %w", err)}
	}
	return policy.FetchResult{Status: http.StatusOK, Body: body}
}

// CheckFile returns an error if the file at path, which a Caddyfile option names, cannot be read.
// It runs while the configuration is loaded. A missing file is an error only if alternative is set.
// alternative is advice at the end of this error, such as "write base none".
func CheckFile(option, path, alternative string) error {
	_, err := ReadFile(path)
	if err == nil || alternative == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	absoluteHint := ""
	if full, err := filepath.Abs(path); err == nil && full != path {
		absoluteHint = "; a relative path begins where Caddy was started, so this is " + full
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s file %s: file not found%s; %s, or %s", option, path, absoluteHint, cmp.Or(similarFileHint(path), "correct the path"), alternative)
	}
	return fmt.Errorf("%s file %s: %w%s", option, path, err, absoluteHint)
}

// similarFileHint returns a hint with the name of a similar file in the same directory, or "".
func similarFileHint(path string) string {
	if near := text.NearestFile(path); near != "" {
		return "did you mean " + near + "? Correct the path"
	}
	return ""
}

// ReadFile returns the first bytes of a regular file, as many as the parser reads.
func ReadFile(path string) ([]byte, error) {
	// Check the type first, since opening a named pipe or a device may block forever.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a directory, a pipe or a device, not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}
