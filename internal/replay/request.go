package replay

import (
	"bytes"
	"net/netip"
	"slices"
	"unsafe"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/replay/logformat"
)

// decodePath returns the percent-decoded path of a request target, without the query.
func (w *worker) decodePath(target []byte) []byte {
	w.path = w.path[:0]
	return logformat.DecodePercent(rawPath(target), &w.path)
}

// rawPath returns the path of a request target as sent, without the query.
func rawPath(target []byte) []byte {
	if target[0] != '/' { // This target has the absolute form.
		target = target[bytes.Index(target, []byte("://"))+3:]
		i := bytes.IndexAny(target, "/?")
		if i < 0 || target[i] == '?' {
			return root
		}
		target = target[i:]
	}
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	return target
}

// appendQuery returns the path that rawPath returned for target, with the query of target.
func appendQuery(path, target []byte) []byte {
	i := bytes.IndexByte(target, '?')
	if i < 0 {
		return path
	}
	if !bytes.HasSuffix(target[:i], path) { // This target has the absolute form without a path.
		return slices.Concat(path, target[i:])
	}
	return target[i-len(path):]
}

var root = []byte{'/'}

// methodText returns GET, HEAD or OPTIONS, or POST for all other methods. An empty method means
// GET, because some formats have no method.
func methodText(b []byte) string {
	switch string(b) {
	case "GET", "":
		return "GET"
	case "HEAD":
		return "HEAD"
	case "OPTIONS":
		return "OPTIONS" // Such a request does not count as a fetch.
	}
	return "POST" // All other methods have the same effect.
}

// parseNetwork parses an address in a log and returns its network, or the zero Prefix for an
// invalid address.
func parseNetwork(b []byte) netip.Prefix {
	client, _ := netip.ParseAddr(unsafeString(b))
	return addr.NetworkOfAddr(client)
}

// unsafeString returns a string that shares the memory of b. It is valid only until b changes.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
