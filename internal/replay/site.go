package replay

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
)

// hostList has the hosts whose requests are judged, as [NormalizeHost] returns them. An empty list
// means all hosts.
type hostList []string

// parseSites returns the hosts of sites such as example.com or https://example.com:8443.
func parseSites(sites []string) (hostList, error) {
	var hosts hostList
	for _, site := range sites {
		text := site
		if !strings.Contains(text, "://") {
			text = "//" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil ||
			u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%q is not a site; write one like example.com or https://example.com", site)
		}
		hosts = append(hosts, NormalizeHost(u.Hostname()))
	}
	return hosts, nil
}

// NormalizeHost returns a host as clients send it: in lower case, with IDNs in punycode, and
// without a trailing dot.
func NormalizeHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

// includes reports whether requests for the host are judged.
func (l hostList) includes(host string) bool { return len(l) == 0 || slices.Contains(l, host) }

// hostCache caches the result for the last logged host, because many consecutive lines have the
// same host.
type hostCache struct {
	loggedHost   []byte // loggedHost is the host as logged.
	host         []byte // host is in lower case and has no port.
	isIncluded   bool
	versionRange versionRange // versionRange has the host's versions of the robots.txt, if each host has its own.
	count        uint64       // count is the number of lines since the host was last counted.
}

// maxHost is the maximum length of a host in a log, in bytes. A longer host matches no site.
const maxHost = 300

// countAndMatch counts a line with this host, and reports whether the line's request is to be
// judged.
func (m *hostCache) countAndMatch(w *worker, sent []byte) bool {
	if len(sent) > maxHost {
		return len(w.hosts) == 0 && w.byHost == nil
	}
	if !bytes.Equal(m.loggedHost, sent) {
		m.flush(w)
		m.loggedHost = append(m.loggedHost[:0], sent...)
		m.host = appendHost(m.host[:0], sent)
		m.isIncluded = w.hosts.includes(unsafeString(m.host))
		if w.byHost != nil {
			var known bool
			m.versionRange, known = w.byHost[string(m.host)]
			m.isIncluded = m.isIncluded && known
		}
	}
	m.count++
	return m.isIncluded
}

// flush adds the number of lines with the cached host to the worker's tally.
func (m *hostCache) flush(w *worker) {
	if m.count > 0 {
		w.tally.hosts.Add(unsafeString(m.host), m.count, 0, maxHosts, strings.Clone)
		m.count = 0
	}
}

// appendHost appends a host from a log to dst, without its port and in lower case.
func appendHost(dst, sent []byte) []byte {
	host, _ := addr.SplitPort(unsafeString(sent))
	for _, c := range []byte(addr.Unbracket(strings.TrimSuffix(host, "."))) {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}
