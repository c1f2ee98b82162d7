package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Resolver resolves names and addresses.
//
// An error that wraps [ErrNoName] is conclusive: a server answered with NXDOMAIN or without a
// record of that type. All other errors are inconclusive.
type Resolver interface {
	// LookupPTR returns the names of an address.
	LookupPTR(ctx context.Context, addr netip.Addr) ([]string, error)
	// LookupAddr returns the addresses of a name in the address family of like, and follows CNAME
	// records.
	LookupAddr(ctx context.Context, name string, like netip.Addr) ([]netip.Addr, error)
}

// ErrNoName is wrapped by errors of a [Resolver] if a server answered that the record does
// not exist.
var ErrNoName = errors.New("no such DNS record")

// netResolver queries the DNS servers of the system, or one configured server.
//
// net.Resolver sets IsNotFound for NXDOMAIN and for an empty answer, which are both conclusive.
// net.Resolver also sets IsNotFound without a query if nsswitch.conf lists files only. In that case
// Server is empty. A lookup of both address families or with search domains hides partial failures.
// So netResolver uses Go's own client, one family at a time, and rooted names. Go's client
// distinguishes SERVFAIL (IsTemporary), timeouts (IsTimeout), and REFUSED and lame referrals
// (neither). Go's client also repeats truncated answers over TCP.
type netResolver struct {
	net.Resolver
	server string // server is "" for the servers of the system.
}

func newResolver(server string) *netResolver {
	r := &netResolver{net.Resolver{PreferGo: true}, server}
	r.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, cmp.Or(server, address))
		if udp, ok := conn.(*net.UDPConn); ok && server == "" {
			return shortTimeoutConn{udp}, err
		}
		return conn, err
	}
	return r
}

// dnsTimeout is the timeout of one UDP query to a server of the system. After that the next
// server is queried.
const dnsTimeout = 700 * time.Millisecond

// shortTimeoutConn limits the deadline of a query to dnsTimeout. The default of resolv.conf, five
// seconds, exceeds the timeout of a whole lookup, so that no second server would be queried.
type shortTimeoutConn struct{ *net.UDPConn }

func (c shortTimeoutConn) SetDeadline(t time.Time) error {
	if soon := time.Now().Add(dnsTimeout); soon.Before(t) {
		t = soon
	}
	return c.UDPConn.SetDeadline(t)
}

func (r *netResolver) LookupPTR(ctx context.Context, addr netip.Addr) ([]string, error) {
	names, err := r.Resolver.LookupAddr(ctx, addr.String())
	return names, r.convertError(err)
}

func (r *netResolver) LookupAddr(ctx context.Context, name string, like netip.Addr) ([]netip.Addr, error) {
	network := "ip6"
	if like.Is4() {
		network = "ip4"
	}
	addrs, err := r.LookupNetIP(ctx, network, name)
	return addrs, r.convertError(err)
}

// convertError makes an error wrap [ErrNoName] if the error is conclusive. convertError also
// corrects the server in the error, since net.Resolver reports a server of the system even if Dial
// used another.
func (r *netResolver) convertError(err error) error {
	dns, ok := errors.AsType[*net.DNSError](err)
	if !ok {
		return err
	}
	conclusive := dns.IsNotFound && !dns.IsTemporary && !dns.IsTimeout && dns.Server != ""
	if r.server != "" && dns.Server != "" {
		named := *dns
		named.Server = r.server
		err = &named
	}
	if conclusive {
		return fmt.Errorf("%w: %w", ErrNoName, err)
	}
	return err
}

// isUnanswered reports whether err means that no DNS server answered.
func isUnanswered(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsTimeout {
		return true
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// These are bounds on the names of an address that are compared with the domains, and on the
// matching names that are resolved. Operators give each address one name.
const (
	maxNames          = 64
	maxForwardLookups = 4
)

// dnsResult is the result of a reverse DNS lookup whose names were resolved again
// (forward-confirmed).
type dnsResult struct {
	state   State    // state is Verified, Spoofed (conclusive) or Unknown.
	names   []string // names are the first names of the address.
	name    string   // name is the name that decided.
	problem error    // problem is the reason for Unknown.
}

// confirmDNS looks up the names of addr. The state is Verified if a name is below one of the
// domains in suffixes and resolves to addr. Suffixes must have a leading dot and be in lower case.
func confirmDNS(ctx context.Context, r Resolver, addr netip.Addr, suffixes []string) dnsResult {
	names, err := r.LookupPTR(ctx, addr)
	if err != nil && !errors.Is(err, ErrNoName) && len(names) == 0 {
		return dnsResult{state: Unknown, problem: err}
	}
	c := dnsResult{state: Spoofed}
	for _, name := range names[:min(len(names), maxForwardLookups)] {
		c.names = append(c.names, strings.TrimSuffix(name, "."))
	}
	if err != nil && !errors.Is(err, ErrNoName) || len(names) > maxNames {
		c.state, c.problem = Unknown, err
		if err == nil {
			c.problem = fmt.Errorf("the address has %d names in DNS, which is too many", len(names))
		}
	}
	forwards := 0
	for _, name := range names[:min(len(names), maxNames)] {
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		if !isInDomains(name, suffixes) {
			continue
		}
		if forwards++; forwards > maxForwardLookups {
			c.state, c.problem = Unknown, errors.New("the address has too many names in the operator's domains")
			break
		}
		addrs, err := r.LookupAddr(ctx, name+".", addr)
		for _, a := range addrs {
			if a.Unmap() == addr {
				return dnsResult{state: Verified, names: c.names, name: name}
			}
		}
		if err != nil && !errors.Is(err, ErrNoName) {
			c.state, c.problem = Unknown, err
		}
		c.name = name
	}
	return c
}

// isInDomains reports whether a host name is below one of the domains, which have a leading dot.
func isInDomains(name string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if len(name) > len(suffix) && strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}
