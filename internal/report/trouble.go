package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxErrorBytes is the maximum length of a quoted error in bytes.
const maxErrorBytes = 400

// DescribeFetchProblem describes why the last fetch of a robots.txt failed. The result is "" if it
// did not fail.
func DescribeFetchProblem(s *policy.State) string {
	switch {
	case s == nil || s.FailureCount == 0:
		return ""
	case s.LastErr == nil && s.LastStatus == http.StatusTooManyRequests:
		return "the server limits the rate of requests (status 429)"
	case s.LastErr == nil:
		return "the server answers " + describeStatus(s.LastStatus)
	}
	return describeErrorAndStatus(s.LastErr, s.LastStatus)
}

// DescribeError describes the cause of an error in plain words, followed by the error in
// parentheses.
func DescribeError(err error) string { return describeErrorAndStatus(err, 0) }

func describeErrorAndStatus(err error, status int) string {
	said := text.Truncate(err.Error(), maxErrorBytes)
	if status != 0 {
		said = describeStatus(status) + ", " + said
	}
	if words := describeErrorKind(err); words != "" {
		return words + " (" + said + ")"
	}
	return said
}

func describeStatus(status int) string {
	if name := http.StatusText(status); name != "" {
		return fmt.Sprintf("status %d %s", status, name)
	}
	return fmt.Sprintf("status %d", status)
}

// describeErrorKind returns the cause of an error in plain words, or "". Some errors can be
// recognized by their text only, because Caddy wraps them.
func describeErrorKind(err error) string {
	var (
		unresolved *net.DNSError
		timeout    interface{ Timeout() bool }
		record     tls.RecordHeaderError
		alert      tls.AlertError
		untrusted  *tls.CertificateVerificationError
		authority  x509.UnknownAuthorityError
		name       x509.HostnameError
	)
	says := func(part string) bool { return strings.Contains(err.Error(), part) }
	switch {
	case errors.As(err, &unresolved), says("no such host"), says("server misbehaving"):
		return "DNS: the name does not resolve"
	case errors.Is(err, syscall.ECONNREFUSED), says("connection refused"):
		return "connection refused: nothing listens at that address"
	case errors.As(err, &untrusted), errors.As(err, &authority), errors.As(err, &name), says("x509: "):
		return "TLS: the certificate is not trusted"
	case errors.As(err, &record), errors.As(err, &alert), says("tls: "), says("HTTP response to HTTPS client"):
		return "TLS: the handshake fails"
	case says("malformed HTTP"):
		return "not HTTP: another service listens at that address"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout(), says("i/o timeout"):
		return "time-out: no answer in time"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), says("connection reset"), says("EOF"):
		return "the connection broke off"
	case says("no route to host"), says("network is unreachable"):
		return "the address cannot be reached"
	}
	return ""
}
