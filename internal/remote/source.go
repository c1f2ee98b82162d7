// Package remote reads texts that somebody else may change at any time, from a file or a
// URL, with bounds on all that the other side decides.
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

	"github.com/robotsguard/caddy-robots-guard/internal/spelling"
)

// LookEvery is how often it is looked whether a file has changed.
const LookEvery = 2 * time.Second

// Source is where a text is.
type Source interface {
	// Read reads the text, unless it is as it was when the answer before came.
	Read(ctx context.Context, before Answer) (Answer, error)
	// Name is what messages call the text.
	Name() string
	// IsURL tells others' texts from those of this machine.
	IsURL() bool
}

// Answer is what came of reading a text.
type Answer struct {
	// Data is the text, or as much of it as shows that it is too long.
	Data []byte
	// Unchanged says that it is as it was before; then there are no data.
	Unchanged bool
	// ETag and LastModified tell whether it has changed since.
	ETag, LastModified string
	// Life is after which time it is to be read again.
	Life time.Duration
}

// Kind is what is read.
type Kind struct {
	// Option is the word of a configuration that names the source, such as rules.
	Option string
	// Text is what it is called, such as "a list".
	Text string
	// Max is how many bytes it has at most: one more is read, so that it shows.
	Max int64
}

// New returns the source that a configuration names: a URL of http or https, or a file.
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
		return nil, fmt.Errorf("%s %q is no URL: %w", k.Option, place, err)
	case scheme != "http" && scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%s %q is no http or https URL; use one such as https://cms.example.com/%s.json, or a file", k.Option, place, k.Option)
	}
	u.Fragment = "" // which servers never see
	return newWeb(k, u, now), nil
}

// timeGrain is how exactly a file system may know when a file was changed: FAT counts two
// seconds, others whole ones.
const timeGrain = 2 * time.Second

// file is a text on this machine.
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
		a.ETag = "" // it may change once more and look the same
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

// explain says what to do about a file that cannot be read.
func (f file) explain(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the path is named already
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begins, instead := "", "correct the path"
	if full, err := filepath.Abs(f.path); err == nil && full != f.path {
		begins = "; a relative path begins where Caddy was started, so this is " + full
	}
	if near := spelling.NearFile(f.path); near != "" {
		instead = "did you mean " + near + "?"
	}
	return fmt.Errorf("there is no such file%s; %s", begins, instead)
}
