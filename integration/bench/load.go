package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// request is a request with the expected status.
type request struct {
	bytes  []byte
	status int
}

func newRequest(host, target, agent string, status int) request {
	return request{fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nAccept: */*\r\n\r\n", target, host, agent), status}
}

// load is the result of a load.
type load struct {
	requests     int
	elapsed, cpu time.Duration // cpu is the processor time of the server, 0 if unknown
}

func (l load) perSecond() float64  { return float64(l.requests) / l.elapsed.Seconds() }
func (l load) perRequest() float64 { return float64(l.cpu) / float64(l.requests) } // nanoseconds

func (l *load) add(other load) {
	l.requests += other.requests
	l.elapsed += other.elapsed
	l.cpu += other.cpu
}

// connections is the number of concurrent clients.
const connections = 16

// clients are open connections to a server.
type clients struct {
	requests []request
	cpu      func() time.Duration // returns the processor time of the server so far
	each     [connections]client
}

// client is a connection and its position in the list of requests.
type client struct {
	conn   io.ReadWriteCloser
	next   int
	waits  bool   // a response is outstanding
	answer []byte // the part of the response received so far
}

// largest is the maximum size of a response in bytes.
const largest = 16 << 10

// dial connects the clients. Each client sends all requests in turn and starts with a
// different one.
func dial(address string, cpu func() time.Duration, requests []request) (*clients, error) {
	all := &clients{requests: requests, cpu: cpu}
	for i := range all.each {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			all.close()
			return nil, err
		}
		own, err := unwatched(conn)
		if err != nil {
			all.close()
			return nil, err
		}
		all.each[i] = client{conn: own, next: i * len(requests) / connections, answer: make([]byte, 0, largest)}
	}
	return all, nil
}

func (all *clients) close() {
	for i := range all.each {
		if conn := all.each[i].conn; conn != nil {
			_ = conn.Close()
		}
	}
}

// driveTimeout is the time after which drive gives up on a server that does not
// respond.
const driveTimeout = 30 * time.Second

// drive makes each client send requests as fast as responses arrive, and at least one.
// It returns an error for an unexpected status, because then the server did different
// work.
//
// drive polls the connections and never sleeps. Waking a sleeping client would cost the
// server some microseconds each time, and the slower client would distort the
// measurement.
func (all *clients) drive(d time.Duration) (load, error) {
	runtime.LockOSThread() // goroutines of an origin in this process get other threads
	defer runtime.UnlockOSThread()
	cpu, start := all.cpu(), time.Now()
	for i := range all.each {
		if err := all.each[i].send(all.requests); err != nil {
			return load{}, err
		}
	}
	requests := 0
	for waiting, last := connections, start; waiting > 0; {
		before := requests
		for i := range all.each {
			c := &all.each[i]
			if !c.waits {
				continue
			}
			ended, err := c.read(all.requests)
			if err != nil {
				return load{}, err
			}
			if !ended {
				continue
			}
			requests++
			if last = time.Now(); last.Sub(start) >= d {
				waiting--
			} else if err := c.send(all.requests); err != nil {
				return load{}, err
			}
		}
		if requests == before {
			if time.Since(last) > driveTimeout {
				return load{}, fmt.Errorf("no response in %v", driveTimeout)
			}
			yield()
		}
	}
	return load{requests, time.Since(start), all.cpu() - cpu}, nil
}

// send sends the next request.
func (c *client) send(requests []request) error {
	c.waits = true
	_, err := c.conn.Write(requests[c.next].bytes)
	return err
}

// read reads the available part of the response. It reports whether the response is
// complete.
func (c *client) read(requests []request) (ended bool, err error) {
	n, err := c.conn.Read(c.answer[len(c.answer):cap(c.answer)])
	if n == 0 || err != nil {
		return false, err
	}
	c.answer = c.answer[:len(c.answer)+n]
	status, size, err := answerIn(c.answer)
	if err != nil || size == 0 {
		return false, err
	}
	r := requests[c.next]
	switch {
	case status != r.status:
		return false, fmt.Errorf("status %d, want %d, for\n%s", status, r.status, r.bytes)
	case size != len(c.answer):
		return false, fmt.Errorf("%d bytes, want %d, for\n%s", len(c.answer), size, r.bytes)
	}
	c.answer, c.waits = c.answer[:0], false
	if c.next++; c.next == len(requests) {
		c.next = 0
	}
	return true, nil
}

// answerIn returns the status and the size of the HTTP/1.1 response at the start of
// data. The response must have a Content-Length. A value is 0 as long as the data for
// it is missing. answerIn does little work, because the client and the server share the
// CPUs.
func answerIn(data []byte) (status, size int, err error) {
	header, _, ok := bytes.Cut(data, []byte("\r\n\r\n"))
	if !ok {
		if len(data) == largest {
			err = errors.New("the response is too large")
		}
		return 0, 0, err
	}
	if len(header) < 12 || !bytes.HasPrefix(header, []byte("HTTP/1.1 ")) {
		return 0, 0, fmt.Errorf("no HTTP: %q", header)
	}
	if status, err = strconv.Atoi(string(header[9:12])); err != nil {
		return 0, 0, err
	}
	_, rest, ok := bytes.Cut(header, []byte("\r\nContent-Length: "))
	if !ok {
		return 0, 0, errors.New("the response has no length")
	}
	digits, _, _ := bytes.Cut(rest, []byte("\r\n"))
	length, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0, 0, err
	}
	if size = len(header) + 4 + length; size > largest {
		return 0, 0, errors.New("the response is too large")
	}
	if len(data) < size {
		return status, 0, nil
	}
	return status, size, nil
}

// once sends each request once over one connection and waits for the responses.
func once(address string, requests []request) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(3 * time.Minute))
	c := client{conn: conn, answer: make([]byte, 0, largest)}
	for range requests {
		if err := c.request(requests); err != nil {
			return err
		}
	}
	return nil
}

// request sends the next request and waits for the response. The connection must block.
func (c *client) request(requests []request) error {
	err := c.send(requests)
	for c.waits && err == nil {
		_, err = c.read(requests)
	}
	return err
}

// onceByAll sends each request once over as many connections as there are clients.
func onceByAll(address string, requests []request) error {
	ended := make(chan error)
	parts := slices.Collect(slices.Chunk(requests, (len(requests)+connections-1)/connections))
	for _, part := range parts {
		go func() { ended <- once(address, part) }()
	}
	var errs []error
	for range parts {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}
