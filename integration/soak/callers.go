package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// protocol is a version of HTTP, by its major number.
type protocol int

// protocols are those by which clients ask, the first one also without TLS.
var protocols = []protocol{1, 2, 3}

func (p protocol) String() string {
	if p == 1 {
		return "HTTP/1.1"
	}
	return "HTTP/" + strconv.Itoa(int(p))
}

// caller is a transport whose connections can be closed.
type caller interface {
	http.RoundTripper
	hangUp()
}

// callers ask an instance, over connections that stay and new ones.
type callers struct {
	instance *instance
	kept     map[protocol]caller
}

func newCallers(in *instance) *callers {
	c := &callers{in, make(map[protocol]caller)}
	for _, p := range protocols {
		c.kept[p] = newCaller(in, p, true)
	}
	return c
}

// do makes a request and hands over the answer.
func (c *callers) do(r *http.Request, p protocol, again bool, read func(*http.Response) error) error {
	by := c.kept[p]
	if !again {
		by = newCaller(c.instance, p, false)
		defer by.hangUp()
	}
	client := http.Client{Transport: by, Timeout: time.Minute}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return read(response)
}

// close closes all connections.
func (c *callers) close() {
	for _, by := range c.kept {
		by.hangUp()
	}
}

type overTCP struct{ *http.Transport }

func (o overTCP) hangUp() { o.CloseIdleConnections() }

type overQUIC struct{ *http3.Transport }

func (o overQUIC) hangUp() { _ = o.Close() }

// newCaller returns a transport that finds every host at an instance, by one
// protocol, and keeps its connections for other requests if it is used again.
func newCaller(in *instance, p protocol, again bool) caller {
	config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a CA of these instances' own
	if p == 3 {
		return overQUIC{&http3.Transport{TLSClientConfig: config, Dial: func(ctx context.Context, _ string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
			return quic.DialAddrEarly(ctx, "127.0.0.1:"+in.tls, config, settings)
		}}}
	}
	transport := &http.Transport{
		TLSClientConfig:     config,
		Protocols:           new(http.Protocols),
		MaxIdleConnsPerHost: 64,
		DisableKeepAlives:   !again,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			port := in.clear
			if strings.HasSuffix(address, ":443") {
				port = in.tls
			}
			return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}
	transport.Protocols.SetHTTP1(p == 1)
	transport.Protocols.SetHTTP2(p == 2)
	return overTCP{transport}
}
