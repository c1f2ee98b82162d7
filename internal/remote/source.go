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

// FileCheckInterval is the interval of checks for a changed file.
const FileCheckInterval = 2 * time.Second

// Source is a file or URL whose content can be fetched.
type Source interface {
	// Read fetches the content. previous is the result of an earlier Read. If the content has not
	// changed since then, IsUnchanged is set.
	Read(ctx context.Context, previous FetchResult) (FetchResult, error)
	// Name returns the path of the file or the URL without its password, for messages.
	Name() string
	// IsURL reports whether the source is a URL.
	IsURL() bool
}

// FetchResult is the result of [Source.Read].
type FetchResult struct {
	// Data is the content. Content with more than MaxBytes bytes is cut to MaxBytes+1 bytes.
	Data []byte
	// IsUnchanged reports that the content is the same as in the previous result. Data is nil
	// then.
	IsUnchanged bool
	// ETag and LastModified identify the content in the next Read.
	ETag, LastModified string
	// Lifetime is the time after which the next Read is due: the freshness lifetime of a response, or
	// for a file [FileCheckInterval].
	Lifetime time.Duration
}

// SourceSettings describe what a source contains, for limits and error messages.
type SourceSettings struct {
	// OptionName is the configuration option that names the source, such as rules.
	OptionName string
	// ContentName is what the source contains, such as "a list".
	ContentName string
	// MaxBytes is the maximum size of the content. The caller must reject a longer result of Read.
	MaxBytes int64
}

// NewSource returns the source at location, which is an http or https URL or the path of a file.
func (k SourceSettings) NewSource(location string, now func() time.Time) (Source, error) {
	scheme, _, isURL := strings.Cut(location, "://")
	if !isURL {
		if location == "" {
			return nil, fmt.Errorf("%s needs a file or a URL", k.OptionName)
		}
		return fileSource{k, location, now}, nil
	}
	u, err := url.Parse(location)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %q is not a URL: %w", k.OptionName, location, err)
	case scheme != "http" && scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%s %q is not an http or https URL; use one such as https://cms.example.com/%s.json, or a file", k.OptionName, location, k.OptionName)
	}
	u.Fragment = "" // The fragment is never sent to servers.
	return newURLSource(k, u, now), nil
}

// modTimeResolution is the coarsest resolution of modification times in file systems (FAT).
const modTimeResolution = 2 * time.Second

// fileSource is a [Source] that reads a file.
type fileSource struct {
	kind SourceSettings
	path string
	now  func() time.Time
}

// Name implements [Source].
func (f fileSource) Name() string { return f.path }

// IsURL implements [Source].
func (f fileSource) IsURL() bool { return false }

// Read implements [Source].
func (f fileSource) Read(_ context.Context, previous FetchResult) (answer FetchResult, err error) {
	answer.Lifetime = FileCheckInterval
	info, err := os.Stat(f.path)
	if err == nil && !info.Mode().IsRegular() { // Opening a pipe could block.
		err = errors.New("it is a directory, a pipe or a device, not a regular file")
	}
	if err != nil {
		return answer, fmt.Errorf("%s: %w", f.path, f.addRemedy(err))
	}
	answer.ETag, answer.LastModified = strconv.FormatInt(info.Size(), 10), info.ModTime().Format(time.RFC3339Nano)
	if answer.ETag == previous.ETag && answer.LastModified == previous.LastModified {
		answer.IsUnchanged = true
		return answer, nil
	}
	if f.now().Sub(info.ModTime()).Abs() < modTimeResolution {
		answer.ETag = "" // The file may change again within modTimeResolution.
	}
	opened, err := os.Open(f.path)
	if err != nil {
		return answer, fmt.Errorf("%s: %w", f.path, f.addRemedy(err))
	}
	defer opened.Close()
	if answer.Data, err = io.ReadAll(io.LimitReader(opened, f.kind.MaxBytes+1)); err != nil {
		// With the size and the time of the file, the next Read would report it as unchanged.
		return FetchResult{Lifetime: FileCheckInterval}, fmt.Errorf("%s: %w", f.path, err)
	}
	return answer, nil
}

// addRemedy returns err with advice if the file does not exist, such as the path of a similar file.
func (f fileSource) addRemedy(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // The message omits the path.
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	absoluteHint, remedy := "", "correct the path"
	if full, err := filepath.Abs(f.path); err == nil && full != f.path {
		absoluteHint = "; a relative path begins where Caddy was started, so this is " + full
	}
	if near := text.NearestFile(f.path); near != "" {
		remedy = "did you mean " + near + "?"
	}
	return fmt.Errorf("file not found%s; %s", absoluteHint, remedy)
}
