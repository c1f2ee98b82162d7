package replay

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Version is a text of the robots.txt and since when it was served.
type Version struct {
	Name string // of the file or URL, for the report
	Host string // whose it is, in lower case and without a port; "" for all
	From time.Time
	Body []byte
	// Settings and Grace hold for the requests of Host in place of those of the options; nil
	// for those.
	Settings *judge.Settings
	Grace    time.Duration
}

// maxVersions bounds how many files of a directory are read.
const maxVersions = 10000

// ReadVersions reads a directory of dated versions of one robots.txt: all its
// files *.txt. When a version came into force stands in the file's name, as in
// robots-2026-11-20T10:00:00Z.txt; see [versionTime]. Where no time does, it is
// the time at which the file was last changed.
//
// A directory without such files holds one for each host instead, named for it,
// with that host's versions.
func ReadVersions(dir string) ([]Version, error) {
	versions, err := readVersions(dir)
	if err != nil || len(versions) > 0 {
		return versions, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if info, err := os.Stat(path); err != nil || !info.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		of, err := readVersions(path)
		if err != nil {
			return nil, err
		}
		for i := range of {
			of[i].Host = strings.ToLower(entry.Name())
		}
		if versions = append(versions, of...); len(versions) > maxVersions {
			return nil, fmt.Errorf("%s holds more than %d versions; remove versions of other times and hosts", dir, maxVersions)
		}
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("%s holds no robots.txt; name its versions like robots-2026-11-20T10:00:00Z.txt, or put that of each host into a directory, as in %s", dir, filepath.Join(dir, "example.com", "robots.txt"))
	}
	return versions, nil
}

// readVersions reads the files *.txt of a directory.
func readVersions(dir string) ([]Version, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var versions []Version
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || !strings.EqualFold(filepath.Ext(name), ".txt") {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		if len(versions) == maxVersions {
			return nil, fmt.Errorf("%s holds more than %d versions; remove versions of other times", dir, maxVersions)
		}
		from, ok := versionTime(name)
		if !ok {
			from = info.ModTime()
		}
		body, err := readVersion(path)
		if err != nil {
			return nil, err
		}
		versions = append(versions, Version{Name: path, From: from, Body: body})
	}
	return versions, nil
}

func readVersion(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}

// versionTime returns the time in the name of a file, such as robots-2026-11-20T10:00:00Z.txt,
// robots-20261120T100000Z.txt or robots-2026-11-20.txt, and false for none. A - may replace
// each : for systems that do not allow it. Without a zone the time is in UTC.
func versionTime(name string) (time.Time, bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, filepath.Ext(name)), "Z")
	start := strings.IndexAny(name, "0123456789")
	if start < 0 {
		return time.Time{}, false
	}
	name = name[start:]
	for _, layout := range []string{
		"2006-01-02T15:04:05", "2006-01-02T15-04-05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15-04-05-0700", "2006-01-02T15-04-05Z0700",
		"2006-01-02T15:04", "2006-01-02T15-04", "2006-01-02_15-04-05", "20060102T150405", "20060102150405", "2006-01-02", "20060102",
	} {
		if at, err := time.Parse(layout, name); err == nil {
			return at, isLogYear(at.Year())
		}
	}
	return time.Time{}, false
}

// version is a Version made ready for judging.
type version struct {
	name        string
	host        string // "" for all
	from, until int64  // until is when the next one came
	first       bool   // the first, which is held to have been there before, too
	body        []byte
	robots      *policy.Robots
	overlay     *uaident.Overlay
	state       policy.State // as the server's would be while the version is current
	settings    *judge.Settings
	grace       time.Duration // how long a crawler may follow a version before this one
}

// written returns the version as it was given.
func (v *version) written() Version {
	return Version{Name: v.name, Host: v.host, From: timeOf(v.from), Body: v.body}
}

// single reports whether the host never had another version.
func (v *version) single() bool { return v.first && v.until == math.MaxInt64 }

// span is the versions of a host.
type span struct{ from, to int }

// hostSpans returns which versions are of which host, nil if they are of all.
func hostSpans(versions []version) map[string]span {
	var spans map[string]span
	for i := range versions {
		host := versions[i].host
		if host == "" {
			return nil
		}
		if spans == nil {
			spans = make(map[string]span)
		}
		s, ok := spans[host]
		if !ok {
			s.from = i
		}
		s.to = i + 1
		spans[host] = s
	}
	return spans
}

// prepare sorts versions by host and time and parses them. A text that is the
// same as the one before is no version of its own.
func prepare(o *Options, registry *uaident.Registry) ([]version, error) {
	if len(o.Versions) == 0 {
		return nil, errors.New("there is no robots.txt to judge by")
	}
	sorted := slices.Clone(o.Versions)
	slices.SortStableFunc(sorted, func(a, b Version) int { return cmp.Or(strings.Compare(a.Host, b.Host), a.From.Compare(b.From)) })
	var versions []version
	var known []*policy.Version
	for _, v := range sorted {
		if v.Settings == nil {
			v.Settings, v.Grace = &o.Settings, o.Grace
		}
		hash := sha256.Sum256(v.Body)
		if n := len(known); n > 0 && versions[n-1].host == v.Host && known[n-1].Hash == hash {
			continue
		}
		robots := policy.Parse(v.Body)
		good := &policy.Version{Robots: robots, Hash: hash, Status: http.StatusOK, FirstRead: v.From, LastRead: v.From}
		known = append(known, good)
		versions = append(versions, version{
			name: v.Name, host: v.Host, from: v.From.UnixNano(), until: math.MaxInt64,
			body: v.Body, robots: robots, overlay: registry.Overlay(robots.Names()),
			settings: v.Settings, grace: max(0, cmp.Or(v.Grace, policy.MaxAge)),
		})
	}
	for i := range versions {
		v := &versions[i]
		if v.first = i == 0 || versions[i-1].host != v.host; !v.first {
			versions[i-1].until = v.from
			known[i-1].Until = known[i].FirstRead
		}
		v.state.Good = known[i]
		for j := i - 1; j >= 0 && versions[j].host == v.host && len(v.state.Past) < policy.MaxVersions; j-- {
			v.state.Past = append(v.state.Past, known[j])
		}
	}
	return versions, nil
}

// at returns which version was current at a time.
func at(versions []version, when int64) int {
	after := sort.Search(len(versions), func(i int) bool { return versions[i].from > when })
	return max(after-1, 0)
}
