package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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
	perSecond float64       // requests
	p99       time.Duration // that 99 % of the requests took at most
}

// connections is how many clients send at once.
const connections = 16

// drive sends the requests over connections that stay open, each client
// beginning with another one, as fast as answers come, and one each at least. A status that was not
// expected is an error, for then something else was measured.
func drive(address string, requests []request, d time.Duration) (loadResult, error) {
	var (
		group sync.WaitGroup
		mutex sync.Mutex
		all   []time.Duration
		errs  []error
	)
	start := time.Now()
	deadline := start.Add(d)
	for i := range connections {
		group.Go(func() {
			times, err := driveOne(address, requests, i*len(requests)/connections, deadline)
			mutex.Lock()
			defer mutex.Unlock()
			all = append(all, times...)
			if err != nil {
				errs = append(errs, err)
			}
		})
	}
	group.Wait()
	elapsed := time.Since(start)
	if len(errs) > 0 {
		return loadResult{}, errors.Join(errs[0], fmt.Errorf("%d of %d clients failed", len(errs), connections))
	}
	if len(all) == 0 {
		return loadResult{}, errors.New("there was no answer in time")
	}
	slices.Sort(all)
	return loadResult{float64(len(all)) / elapsed.Seconds(), all[len(all)*99/100]}, nil
}

func driveOne(address string, requests []request, next int, deadline time.Time) (times []time.Duration, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// A server that hangs is an error and not the end of all measuring.
	_ = conn.SetDeadline(deadline.Add(30 * time.Second))
	reader := bufio.NewReaderSize(conn, 16<<10)
	before := time.Now()
	for first := true; first || before.Before(deadline); first = false {
		r := requests[next]
		if next++; next == len(requests) {
			next = 0
		}
		if _, err := conn.Write(r.bytes); err != nil {
			return times, err
		}
		status, err := readAnswer(reader)
		if err != nil {
			return times, err
		}
		if status != r.status {
			return times, fmt.Errorf("status %d, want %d, for\n%s", status, r.status, r.bytes)
		}
		after := time.Now()
		times = append(times, after.Sub(before))
		before = after
	}
	return times, nil
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
	_, err = io.CopyN(io.Discard, reader, int64(length))
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
