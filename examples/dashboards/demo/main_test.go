package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The command serves the page, and what its crawlers do is on it.
func TestDemo(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, address, io.Discard) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Requests, Blocked uint64
		Crawlers          int
		Sites             []string
		WouldBlock        uint64 `json:"would_block"`
	}
	ask := func(path string) (string, error) {
		r, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "localhost:" + port
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", answer.StatusCode)
		}
		return string(body), err
	}
	var last error
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		var text string
		if text, last = ask("/robots-guard/summary.json?window=1h"); last == nil {
			if err := json.Unmarshal([]byte(text), &summary); err != nil {
				t.Fatal(err)
			}
			if summary.Crawlers >= 10 && summary.Blocked > 0 && summary.WouldBlock > 0 && len(summary.Sites) == 2 {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the crawlers are not on the page: %+v, %v", summary, last)
		}
	}
	if page, err := ask("/robots-guard/"); err != nil || !strings.Contains(page, "<title>Robots Guard") {
		t.Errorf("the page: %v %.100s", err, page)
	}
}

// Nobody else sees the page, which has no password here.
func TestLoopbackOnly(t *testing.T) {
	for _, listen := range []string{":8080", "0.0.0.0:8080", "192.0.2.1:8080", "localhost", "example.com:80"} {
		if err := run(t.Context(), listen, io.Discard); err == nil {
			t.Errorf("%q is accepted", listen)
		}
	}
}

func TestRobotsChanges(t *testing.T) {
	for _, tc := range []struct {
		shop bool
		age  time.Duration
		want string
	}{{false, 0, blogBefore}, {false, change - 1, blogBefore}, {false, change, blogAfter}, {true, time.Hour, shopRobots}} {
		if got := robots(tc.shop, tc.age); got != tc.want {
			t.Errorf("shop %v after %v: %q", tc.shop, tc.age, got)
		}
	}
}
