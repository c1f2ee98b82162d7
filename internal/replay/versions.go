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

// Version is the content of a robots.txt, and the time from which it was served.
type Version struct {
	Name string // Name is the file or URL, for the report.
	Host string // Host has no port and is as [NormalizeHost] returns it. "" means all hosts.
	From time.Time
	Body []byte
	// Settings, if not nil, replaces the settings and the grace of the options for requests to
	// Host.
	Settings *judge.Settings
	Grace    time.Duration
}

// maxVersions bounds the number of files that are read from a directory.
const maxVersions = 10000

// ReadVersions reads the versions of a robots.txt in a directory. The file name has the time from
// which a version applies, as in robots-2026-11-20T10:00:00Z.txt. A file robots.txt applies from
// its modification time. Other files are ignored, because a site's own directory also has files
// such as ads.txt.
//
// If the directory has no versions, each subdirectory has the versions of the host with the
// subdirectory's name.
func ReadVersions(dir string) ([]Version, error) {
	versions, err := readVersionsInDir(dir)
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
		of, err := readVersionsInDir(path)
		if err != nil {
			return nil, err
		}
		for i := range of {
			of[i].Host = NormalizeHost(entry.Name())
		}
		if versions = append(versions, of...); len(versions) > maxVersions {
			return nil, fmt.Errorf("%s holds more than %d versions; remove versions of other times and hosts", dir, maxVersions)
		}
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("%s contains no robots.txt; name the versions like robots-2026-11-20T10:00:00Z.txt, or create a directory for each host, as in %s", dir, filepath.Join(dir, "example.com", "robots.txt"))
	}
	return versions, nil
}

// readVersionsInDir reads the versions in a directory, but not in its subdirectories.
func readVersionsInDir(dir string) ([]Version, error) {
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
		from, hasTime := parseVersionTime(name)
		if !hasTime && !strings.EqualFold(name, "robots.txt") {
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
		if !hasTime {
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

// parseVersionTime returns the time in the name of a file like robots-2026-11-20T10:00:00Z.txt,
// robots-20261120T100000Z.txt or robots-2026-11-20.txt. parseVersionTime returns false for a name
// without a time. A - may replace each : for systems without : in file names. Without a zone the
// time is in UTC.
func parseVersionTime(name string) (time.Time, bool) {
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

// datedVersion is a parsed [Version] with the time at which the next version replaces it.
type datedVersion struct {
	name        string
	host        string // host is "" for all hosts.
	from, until int64  // until is the start of the next version.
	isFirst     bool   // isFirst is true for the first version of the host, which also applies before from.
	body        []byte
	robots      *policy.Robots
	overlay     *uaident.Overlay
	state       policy.State // state is the state of a server while the version is current.
	settings    *judge.Settings
	grace       time.Duration // grace is the time for which a crawler may follow an earlier version.
}

// original returns the Version before parsing, without its settings.
func (v *datedVersion) original() Version {
	return Version{Name: v.name, Host: v.host, From: fromUnixNano(v.from), Body: v.body}
}

// isOnlyOfHost reports whether the host has no other version.
func (v *datedVersion) isOnlyOfHost() bool { return v.isFirst && v.until == math.MaxInt64 }

// versionRange has the indexes of the versions of a host. from is included, to is not.
type versionRange struct{ from, to int }

// groupVersionsByHost returns the range of versions of each host. groupVersionsByHost returns nil
// if the versions apply to all hosts.
func groupVersionsByHost(versions []datedVersion) map[string]versionRange {
	var spans map[string]versionRange
	for i := range versions {
		host := versions[i].host
		if host == "" {
			return nil
		}
		if spans == nil {
			spans = make(map[string]versionRange)
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

// parseVersions parses the versions and sorts them by host and time. It drops a version with the
// same content as the previous version of its host.
func parseVersions(o *Options, registry *uaident.Registry) ([]datedVersion, error) {
	if len(o.Versions) == 0 {
		return nil, errors.New("there is no robots.txt to judge by")
	}
	sorted := slices.Clone(o.Versions)
	slices.SortStableFunc(sorted, func(a, b Version) int { return cmp.Or(strings.Compare(a.Host, b.Host), a.From.Compare(b.From)) })
	var versions []datedVersion
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
		good := &policy.Version{Robots: robots, Hash: hash, Status: http.StatusOK, FirstFetched: v.From, LastFetched: v.From}
		known = append(known, good)
		versions = append(versions, datedVersion{
			name: v.Name, host: v.Host, from: v.From.UnixNano(), until: math.MaxInt64,
			body: v.Body, robots: robots, overlay: registry.NewOverlay(robots.GroupNames()),
			settings: v.Settings, grace: max(0, cmp.Or(v.Grace, policy.MaxAge)),
		})
	}
	for i := range versions {
		v := &versions[i]
		if v.isFirst = i == 0 || versions[i-1].host != v.host; !v.isFirst {
			versions[i-1].until = v.from
			known[i-1].ReplacedAt = known[i].FirstFetched
		}
		v.state.Current = known[i]
		for j := i - 1; j >= 0 && versions[j].host == v.host && len(v.state.Previous) < policy.MaxVersions; j-- {
			v.state.Previous = append(v.state.Previous, known[j])
		}
	}
	return versions, nil
}

// findVersion returns the index of the version of one host that was served at a time.
func findVersion(versions []datedVersion, when int64) int {
	after := sort.Search(len(versions), func(i int) bool { return versions[i].from > when })
	return max(after-1, 0)
}
