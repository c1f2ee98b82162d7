package verify

import (
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
)

// script contains the responses of a DNS server: records and response codes by name. All other
// names do not exist.
type script struct {
	records  []string       // in the format of zone files
	codes    map[string]int // by name, or by "TYPE name"
	silent   []string       // names without a response
	truncate []string       // names whose answers are truncated over UDP
	wrongID  []string       // names with a response with the wrong ID

	tcp *atomic.Int64 // counts queries over TCP, if not nil
}

func (s *script) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	name, kind := strings.ToLower(q.Question[0].Name), q.Question[0].Qtype
	isTCP := w.LocalAddr().Network() == "tcp"
	if isTCP && s.tcp != nil {
		s.tcp.Add(1)
	}
	if slices.Contains(s.silent, name) {
		return
	}
	m := new(dns.Msg).SetReply(q)
	m.RecursionAvailable = true
	code, ok := s.codes[dns.TypeToString[kind]+" "+name]
	if !ok {
		code, ok = s.codes[name]
	}
	exists := false
	for seen := 0; seen < 16 && !ok; seen++ { // adds CNAME records, as a resolver does
		next := ""
		for _, text := range s.records {
			r, err := dns.NewRR(text)
			if err != nil {
				panic(err)
			}
			if !strings.EqualFold(r.Header().Name, name) {
				continue
			}
			exists = true
			if cname, isCNAME := r.(*dns.CNAME); isCNAME {
				next = strings.ToLower(cname.Target)
				m.Answer = append(m.Answer, r)
			} else if r.Header().Rrtype == kind {
				m.Answer = append(m.Answer, r)
			}
		}
		if next == "" {
			break
		}
		name = next
	}
	if !ok && !exists {
		code = dns.RcodeNameError
	}
	m.Rcode = code
	if slices.Contains(s.wrongID, name) {
		m.Id++
	}
	if slices.Contains(s.truncate, name) && !isTCP {
		m.Answer, m.Truncated = nil, true
	}
	if !isTCP {
		size := dns.MinMsgSize
		if edns := q.IsEdns0(); edns != nil {
			size = int(edns.UDPSize())
		}
		m.Truncate(size)
	}
	w.WriteMsg(m)
}

// serveDNS starts a server and returns its address.
func serveDNS(t *testing.T, s *script) string {
	t.Helper()
	var udp net.PacketConn
	var tcp net.Listener
	for range 20 { // until a port is free for UDP and TCP
		var err error
		if udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if tcp, err = net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			break
		}
		udp.Close()
	}
	if tcp == nil {
		t.Fatal("no port is free for both UDP and TCP")
	}
	for _, server := range []*dns.Server{{PacketConn: udp, Handler: s}, {Listener: tcp, Handler: s}} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go server.ActivateAndServe()
		<-started
		t.Cleanup(func() { server.Shutdown() })
	}
	return udp.LocalAddr().String()
}

// reverse returns the name for the PTR records of an address.
func reverse(addr string) string {
	name, err := dns.ReverseAddr(addr)
	if err != nil {
		panic(err)
	}
	return name
}
