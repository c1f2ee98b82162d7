package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
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
	conn   net.Conn
	reader *bufio.Reader
	next   int
	times  []time.Duration
}

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
		all.each[i] = client{conn: conn, reader: bufio.NewReaderSize(conn, 16<<10), next: i * len(requests) / connections}
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

// drive has each client ask as fast as answers come, and once at least. A status
// that was not expected is an error, for then something else was measured.
func (all *clients) drive(d time.Duration) (loadResult, error) {
	var (
		group sync.WaitGroup
		errs  [connections]error
	)
	start := time.Now()
	deadline := start.Add(d)
	for i := range all.each {
		group.Go(func() { errs[i] = all.each[i].drive(all.requests, deadline) })
	}
	group.Wait()
	elapsed := time.Since(start)
	if err := errors.Join(errs[:]...); err != nil {
		return loadResult{}, err
	}
	var times []time.Duration
	for i := range all.each {
		times = append(times, all.each[i].times...)
	}
	slices.Sort(times)
	return loadResult{len(times), float64(len(times)) / elapsed.Seconds(), times[len(times)*99/100]}, nil
}

func (c *client) drive(requests []request, deadline time.Time) error {
	c.times = c.times[:0]
	// A server that hangs is an error and not the end of all measuring.
	if err := c.conn.SetDeadline(deadline.Add(30 * time.Second)); err != nil {
		return err
	}
	before := time.Now()
	for first := true; first || before.Before(deadline); first = false {
		r := requests[c.next]
		if c.next++; c.next == len(requests) {
			c.next = 0
		}
		if _, err := c.conn.Write(r.bytes); err != nil {
			return err
		}
		status, err := readAnswer(c.reader)
		if err != nil {
			return err
		}
		if status != r.status {
			return fmt.Errorf("status %d, want %d, for\n%s", status, r.status, r.bytes)
		}
		after := time.Now()
		c.times = append(c.times, after.Sub(before))
		before = after
	}
	return nil
}

// readAnswer reads one HTTP/1.1 answer with a length and returns its status. It
// does as little as it can: what the client spends, the server lacks.
func readAnswer(reader *bufio.Reader) (status int, err error) {
	line, err := reader.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, fmt.Errorf("no HTTP: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length := -1
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if key, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(key, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errors.New("the answer has no length")
	}
	_, err = reader.Discard(length)
	return status, err
}

// once sends each request once, over one connection.
func once(address string, requests []request) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(3 * time.Minute))
	reader := bufio.NewReader(conn)
	for _, r := range requests {
		if _, err := conn.Write(r.bytes); err != nil {
			return err
		}
		if status, err := readAnswer(reader); err != nil || status != r.status {
			return fmt.Errorf("status %d, want %d (%v) for\n%s", status, r.status, err, r.bytes)
		}
	}
	return nil
}
