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

// Resolver looks up names and addresses.
//
// An error that is [ErrNoName] says that there conclusively is none: a server
// answered so (NXDOMAIN, or no record of the kind). Any other error says that it
// is not known.
type Resolver interface {
	// LookupPTR returns the names of an address.
	LookupPTR(ctx context.Context, addr netip.Addr) ([]string, error)
	// LookupAddr returns the addresses of a name that are of the family of like. It
	// follows CNAME records.
	LookupAddr(ctx context.Context, name string, like netip.Addr) ([]netip.Addr, error)
}

// ErrNoName is in the error of a [Resolver] if a server says that there is no such
// name, or no record of the kind.
var ErrNoName = errors.New("there is no such record")

// netResolver asks the system's DNS servers, or the given one.
//
// The errors of net.Resolver conflate: IsNotFound is set for NXDOMAIN and for an
// empty answer, which both are conclusive, but also where no server was asked at
// all, since nsswitch.conf has files only; then Server is empty. A look-up of both
// families, or with search domains, reports a failed part as success or as not
// found. So it is made to
// use Go's own client, which tells SERVFAIL (IsTemporary), time-outs (IsTimeout),
// REFUSED and lame referrals (no flag) apart, with one family at a time and a
// rooted name, to which no search domain is added. An answer that is truncated is
// asked for again by TCP.
type netResolver struct {
	net.Resolver
	server string // that is asked, "" for those of the system
}

func newResolver(server string) *netResolver {
	r := &netResolver{net.Resolver{PreferGo: true}, server}
	r.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, cmp.Or(server, address))
		if udp, ok := conn.(*net.UDPConn); ok && server == "" {
			return briefConn{udp}, err
		}
		return conn, err
	}
	return r
}

// briefWait is how long one of the system's servers may take to answer by UDP.
// Then the next one is asked, or it again.
const briefWait = 700 * time.Millisecond

// briefConn waits for an answer no longer than briefWait. [net.Resolver] would wait
// for as long as resolv.conf says, by default five seconds: longer than a look-up
// may take, so that no server but the first would ever be asked.
type briefConn struct{ *net.UDPConn }

func (c briefConn) SetDeadline(t time.Time) error {
	if soon := time.Now().Add(briefWait); soon.Before(t) {
		t = soon
	}
	return c.UDPConn.SetDeadline(t)
}

func (r *netResolver) LookupPTR(ctx context.Context, addr netip.Addr) ([]string, error) {
	names, err := r.Resolver.LookupAddr(ctx, addr.String())
	return names, r.conclude(err)
}

func (r *netResolver) LookupAddr(ctx context.Context, name string, like netip.Addr) ([]netip.Addr, error) {
	network := "ip6"
	if like.Is4() {
		network = "ip4"
	}
	addrs, err := r.LookupNetIP(ctx, network, name)
	return addrs, r.conclude(err)
}

// conclude tells which errors say that there is no such record, and lets them name
// the server that was asked: net.Resolver names one of the system's, whatever it
// was made to dial.
func (r *netResolver) conclude(err error) error {
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

// isSilence reports whether an error says that nobody answered, rather than that
// the answer was of no use.
func isSilence(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsTimeout {
		return true
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// most names of an address that are held against the domains, and most of those
// below them that are looked up. An operator gives each address one.
const (
	mostNames    = 64
	mostForwards = 4
)

// confirmation is what forward-confirmed reverse DNS found.
type confirmation struct {
	state   State    // Verified, Spoofed (conclusively not confirmed) or Unknown
	names   []string // of the address, the first few
	name    string   // the one that decided
	problem error    // why it is unknown
	zones   bool     // the problem is one of the address's reverse zone, or of the DNS as a whole
}

// confirmDNS looks up whether one of addr's names is below one of the suffixes,
// each with a leading dot and in lower case, and has the address addr.
func confirmDNS(ctx context.Context, r Resolver, addr netip.Addr, suffixes []string) confirmation {
	names, err := r.LookupPTR(ctx, addr)
	if err != nil && !errors.Is(err, ErrNoName) && len(names) == 0 {
		return confirmation{state: Unknown, problem: err, zones: true}
	}
	c := confirmation{state: Spoofed}
	for _, name := range names[:min(len(names), mostForwards)] {
		c.names = append(c.names, strings.TrimSuffix(name, "."))
	}
	if err != nil && !errors.Is(err, ErrNoName) || len(names) > mostNames {
		c.state, c.problem, c.zones = Unknown, err, true
		if err == nil {
			c.problem = fmt.Errorf("the address has %d names", len(names))
		}
	}
	forwards, failed := 0, false
	for _, name := range names[:min(len(names), mostNames)] {
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		if !hasSuffix(name, suffixes) {
			continue
		}
		if forwards++; forwards > mostForwards {
			c.state, c.problem, c.zones = Unknown, errors.New("the address has too many names in the operator's domains"), true
			break
		}
		addrs, err := r.LookupAddr(ctx, name+".", addr)
		for _, a := range addrs {
			if a.Unmap() == addr {
				return confirmation{state: Verified, names: c.names, name: name}
			}
		}
		if err != nil && !errors.Is(err, ErrNoName) {
			c.state, c.problem, failed = Unknown, err, true
		}
		c.name = name
	}
	c.zones = c.zones && !failed // the operator's own zone may be to blame
	return c
}

// hasSuffix reports whether a name is below one of the domains.
func hasSuffix(name string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if len(name) > len(suffix) && strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}
