package replay

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/replay/logformat"
)

// site is an authority whose requests are judged.
type site struct {
	scheme string // http or https; "" for both
	host   string // in lower case
	port   string // "" for any, unless there is a scheme, whose default it is then
}

// siteList says which requests are judged. An empty one takes all.
type siteList []site

// parseSites reads authorities such as example.com, example.com:8080 or
// https://example.com.
func parseSites(words []string) (siteList, error) {
	var list siteList
	for _, word := range words {
		text := word
		if !strings.Contains(text, "://") {
			text = "//" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil ||
			u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%q is no site; name one like example.com, example.com:8080 or https://example.com", word)
		}
		list = append(list, site{scheme: u.Scheme, host: strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port: u.Port()})
	}
	return list, nil
}

// hostMemo remembers whether the last host was one of the sites.
type hostMemo struct {
	text  [300]byte // host and scheme
	n     [2]int    // the length of each
	ours  bool
	span  span   // its versions of the robots.txt, if those are kept by host
	host  []byte // alone, in lower case
	count uint64 // how often it came since it was last counted
}

// matches reports whether the record is of one of the sites, and counts its
// host.
func (m *hostMemo) matches(w *worker, r *logformat.Record) bool {
	n := [2]int{len(r.Host), len(r.Scheme)}
	h, end := n[0], n[0]+n[1]
	if end > len(m.text) {
		return len(w.sites) == 0 && w.byHost == nil
	}
	if n != m.n || !bytes.Equal(m.text[:h], r.Host) || !bytes.Equal(m.text[h:end], r.Scheme) {
		m.flush(w)
		copy(m.text[:], r.Host)
		copy(m.text[h:], r.Scheme)
		m.n, m.ours = n, w.sites.match(r)
		host, _ := hostOf(r)
		m.host = append(m.host[:0], host...)
		for i, c := range m.host {
			if 'A' <= c && c <= 'Z' {
				m.host[i] = c | 0x20
			}
		}
		if w.byHost != nil {
			var known bool
			m.span, known = w.byHost[string(m.host)]
			m.ours = m.ours && known
		}
	}
	m.count++
	return m.ours
}

// flush counts the host.
func (m *hostMemo) flush(w *worker) {
	if m.count > 0 {
		w.tally.hosts.Add(unsafeString(m.host), m.count, 0, maxHosts, strings.Clone)
		m.count = 0
	}
}

// match reports whether a record is of one of the sites. What a log does not say
// of the scheme and the port is taken to match.
func (l siteList) match(r *logformat.Record) bool {
	if len(l) == 0 {
		return true
	}
	host, port := hostOf(r)
	for _, s := range l {
		if !strings.EqualFold(host, s.host) || s.scheme != "" && len(r.Scheme) > 0 && !strings.EqualFold(unsafeString(r.Scheme), s.scheme) {
			continue
		}
		want := s.port
		if want == "" {
			switch s.scheme {
			case "http":
				want = "80"
			case "https":
				want = "443"
			}
		}
		if want == "" || len(port) == 0 || port == want {
			return true
		}
	}
	return false
}

// hostOf returns the host of a record as sites have it, and its port, "" if that
// is not known.
func hostOf(r *logformat.Record) (host, port string) {
	host, port = addr.CutPort(unsafeString(r.Host))
	return addr.Unbracket(strings.TrimSuffix(host, ".")), strings.TrimPrefix(port, ":")
}
