package rulelist

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
)

// lookEvery is how often it is looked whether a file has changed.
const lookEvery = 2 * time.Second

// source is where a list is.
type source interface {
	// read reads the list, unless it is as it was when the answer before came.
	read(ctx context.Context, before answer) (answer, error)
	// name is what messages call the list.
	name() string
	// isURL tells others' lists from those of this machine.
	isURL() bool
}

// answer is what came of reading a list.
type answer struct {
	data      []byte
	unchanged bool // then there are no data

	// What tells whether the list has changed since.
	etag, lastModified string

	life time.Duration // after which the list is to be read again
}

// sourceOf returns the source that a configuration names: a URL of http or https, or
// a file.
func sourceOf(place string, now func() time.Time) (source, error) {
	scheme, _, isURL := strings.Cut(place, "://")
	if !isURL {
		if place == "" {
			return nil, errors.New("rules needs a file or a URL")
		}
		return file{place}, nil
	}
	u, err := url.Parse(place)
	switch {
	case err != nil:
		return nil, fmt.Errorf("rules %q is no URL: %w", place, err)
	case scheme != "http" && scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("rules %q is no http or https URL; use one such as https://cms.example.com/rules.json, or a file", place)
	}
	u.Fragment = "" // which servers never see
	return &web{u, now}, nil
}

// file is a list on this machine.
type file struct{ path string }

func (f file) name() string { return f.path }
func (f file) isURL() bool  { return false }

func (f file) read(_ context.Context, before answer) (a answer, err error) {
	a.life = lookEvery
	info, err := os.Stat(f.path)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe could block
		err = errors.New("it is a directory, a pipe or a device; it has to be a regular file")
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", f.path, f.explain(err))
	}
	a.etag, a.lastModified = strconv.FormatInt(info.Size(), 10), info.ModTime().Format(time.RFC3339Nano)
	if a.etag == before.etag && a.lastModified == before.lastModified {
		a.unchanged = true
		return a, nil
	}
	opened, err := os.Open(f.path)
	if err != nil {
		return a, fmt.Errorf("%s: %w", f.path, f.explain(err))
	}
	defer opened.Close()
	if a.data, err = io.ReadAll(io.LimitReader(opened, MaxBytes+1)); err != nil {
		return a, fmt.Errorf("%s: %w", f.path, err)
	}
	return a, nil
}

// explain says what to do about a file that cannot be read.
func (f file) explain(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the path is named already
	}
	if full, absErr := filepath.Abs(f.path); errors.Is(err, fs.ErrNotExist) && absErr == nil && full != f.path {
		return fmt.Errorf("there is no such file; a relative path begins where Caddy was started, so this is %s", full)
	}
	return err
}
