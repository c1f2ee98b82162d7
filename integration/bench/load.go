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

// request is what a client sends and the status that it has to get.
type request struct {
	bytes  []byte
	status int
}

func newRequest(host, target, agent string, status int) request {
	return request{fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nAccept: */*\r\n\r\n", target, host, agent), status}
}

// loadResult is what came of some load.
type loadResult struct {
	requests  int
	perSecond float64
	p99       time.Duration // that 99 % of the requests took at most
}

// connections is how many clients send at once.
const connections = 16

// clients are connections to a server that stay open.
type clients struct {
	requests []request
	each     [connections]client
}

// client is one of them and what it asks next.
type client struct {
	conn   io.ReadWriteCloser
	next   int
	asked  time.Time // zero while there is nothing to wait for
	answer []byte    // as much of it as has come
}

// largest is how many bytes an answer may have.
const largest = 16 << 10

// dial connects clients that ask in turn for all requests, each beginning with
// another one.
func dial(address string, requests []request) (*clients, error) {
	all := &clients{requests: requests}
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

// patience is how long a server may hang before that is an error and the end of
// measuring it.
const patience = 30 * time.Second

// drive has each client ask as fast as answers come, and once at least. A status
// that was not expected is an error, for then something else was measured.
//
// It looks for answers without end and never sleeps. Who sleeps has to be woken, which
// takes the server some microseconds: the more often, the slower it is, and then what
// is measured of it is not only what it does.
func (all *clients) drive(d time.Duration) (loadResult, error) {
	runtime.LockOSThread() // other goroutines, such as those of an origin, have other threads
	defer runtime.UnlockOSThread()
	var times []time.Duration
	start := time.Now()
	deadline := start.Add(d)
	for i := range all.each {
		if err := all.each[i].ask(all.requests, start); err != nil {
			return loadResult{}, err
		}
	}
	for under, last := connections, start; under > 0; {
		before := len(times)
		for i := range all.each {
			c := &all.each[i]
			if c.asked.IsZero() {
				continue
			}
			ended, err := c.read(all.requests)
			if err != nil {
				return loadResult{}, err
			}
			if !ended {
				continue
			}
			last = time.Now()
			times = append(times, last.Sub(c.asked))
			if !last.Before(deadline) {
				c.asked, under = time.Time{}, under-1
			} else if err := c.ask(all.requests, last); err != nil {
				return loadResult{}, err
			}
		}
		if len(times) == before {
			if time.Since(last) > patience {
				return loadResult{}, fmt.Errorf("no answer in %v", patience)
			}
			yield()
		}
	}
	elapsed := time.Since(start)
	slices.Sort(times)
	return loadResult{len(times), float64(len(times)) / elapsed.Seconds(), times[len(times)*99/100]}, nil
}

// ask sends the next request.
func (c *client) ask(requests []request, now time.Time) error {
	c.asked = now
	_, err := c.conn.Write(requests[c.next].bytes)
	return err
}

// read reads what has come of an answer, and reports whether that is all of it.
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
	c.answer = c.answer[:0]
	if c.next++; c.next == len(requests) {
		c.next = 0
	}
	return true, nil
}

// answerIn returns the status and the size of the HTTP/1.1 answer, with a length, that
// data begins with; 0 for what has not come yet. It does as little as it can: what the
// client spends, the server may lack.
func answerIn(data []byte) (status, size int, err error) {
	header, _, ok := bytes.Cut(data, []byte("\r\n\r\n"))
	if !ok {
		if len(data) == largest {
			err = errors.New("the answer is too large")
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
		return 0, 0, errors.New("the answer has no length")
	}
	digits, _, _ := bytes.Cut(rest, []byte("\r\n"))
	length, err := strconv.Atoi(string(digits))
	if err != nil {
		return 0, 0, err
	}
	if size = len(header) + 4 + length; size > largest {
		return 0, 0, errors.New("the answer is too large")
	}
	if len(data) < size {
		return status, 0, nil
	}
	return status, size, nil
}

// once sends each request once, over one connection, and waits for the answers.
func once(address string, requests []request) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(3 * time.Minute))
	c := client{conn: conn, answer: make([]byte, 0, largest)}
	for range requests {
		if err := c.ask(requests, time.Now()); err != nil {
			return err
		}
		for ended := false; !ended; {
			if ended, err = c.read(requests); err != nil {
				return err
			}
		}
	}
	return nil
}

// onceByAll sends each request once, over as many connections as there are clients.
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
