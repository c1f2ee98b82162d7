// Package remote fetches text from files and URLs with bounds on size and time.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// LookEvery is the interval of checks for a changed file.
const LookEvery = 2 * time.Second

// Source is a file or URL.
type Source interface {
	// Read fetches the content, unless it has not changed since before.
	Read(ctx context.Context, before Answer) (Answer, error)
	// Name returns the name for messages.
	Name() string
	// IsURL reports whether the source is a URL.
	IsURL() bool
}

// Answer is the result of Read.
type Answer struct {
	// Data is the content. If it is too long, Data has one byte more than the maximum.
	Data []byte
	// Unchanged reports that the content has not changed. Data is nil then.
	Unchanged bool
	// ETag and LastModified are validators for the next Read.
	ETag, LastModified string
	// Life is the time until the next Read.
	Life time.Duration
}

// Kind describes the content of a source.
type Kind struct {
	// Option is the configuration option of the source, such as rules.
	Option string
	// Text is the name of the content, such as "a list".
	Text string
	// Max is the maximum size in bytes. Read returns at most one byte more.
	Max int64
}

// New returns the source for a configured place: an http or https URL, or a file.
func (k Kind) New(place string, now func() time.Time) (Source, error) {
	scheme, _, isURL := strings.Cut(place, "://")
	if !isURL {
		if place == "" {
			return nil, fmt.Errorf("%s needs a file or a URL", k.Option)
		}
		return file{k, place, now}, nil
	}
	u, err := url.Parse(place)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %q is not a URL: %w", k.Option, place, err)
	case scheme != "http" && scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%s %q is not an http or https URL; use one such as https://cms.example.com/%s.json, or a file", k.Option, place, k.Option)
	}
	u.Fragment = "" // never sent to servers
	return newWeb(k, u, now), nil
}

// timeGrain is the coarsest resolution of modification times in file systems (FAT).
const timeGrain = 2 * time.Second

// file is a Source on this machine.
type file struct {
	kind Kind
	path string
	now  func() time.Time
}

// Name implements [Source].
func (f file) Name() string { return f.path }

// IsURL implements [Source].
func (f file) IsURL() bool { return false }

// Read implements [Source].
func (f file) Read(_ context.Context, before Answer) (a Answer, err error) {
	a.Life = LookEvery
	info, err := os.Stat(f.path)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe could block
		err = errors.New("it is a directory, a pipe or a device; it has to be a regular file")
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", f.path, f.explain(err))
	}
	a.ETag, a.LastModified = strconv.FormatInt(info.Size(), 10), info.ModTime().Format(time.RFC3339Nano)
	if a.ETag == before.ETag && a.LastModified == before.LastModified {
		a.Unchanged = true
		return a, nil
	}
	if f.now().Sub(info.ModTime()).Abs() < timeGrain {
		a.ETag = "" // may change again within timeGrain
	}
	opened, err := os.Open(f.path)
	if err != nil {
		return a, fmt.Errorf("%s: %w", f.path, f.explain(err))
	}
	defer opened.Close()
	if a.Data, err = io.ReadAll(io.LimitReader(opened, f.kind.Max+1)); err != nil {
		return a, fmt.Errorf("%s: %w", f.path, err)
	}
	return a, nil
}

// explain adds the remedy to an error.
func (f file) explain(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // omits the path
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begins, instead := "", "correct the path"
	if full, err := filepath.Abs(f.path); err == nil && full != f.path {
		begins = "; a relative path begins where Caddy was started, so this is " + full
	}
	if near := text.NearFile(f.path); near != "" {
		instead = "did you mean " + near + "?"
	}
	return fmt.Errorf("there is no such file%s; %s", begins, instead)
}
