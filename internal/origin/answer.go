package origin

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// answerOf makes an answer of an HTTP response that is complete, or as much of
// it as is parsed.
func answerOf(status int, header http.Header, body []byte) policy.Answer {
	answer := policy.Answer{Status: status, Header: header}
	switch {
	case status < 200 || status > 599,
		// Neither was asked for: taking a part for the whole would forget rules,
		// taking "not modified" for "there is none" would forget all of them.
		status == http.StatusPartialContent, status == http.StatusNotModified:
		return policy.Answer{Err: fmt.Errorf("status %d is no answer to a plain GET", status)}
	case status >= 300, status == http.StatusNoContent, status == http.StatusResetContent:
		return answer // nothing in the body counts
	}
	body, err := Decode(header, body)
	if err != nil {
		return policy.Answer{Err: err}
	}
	answer.Body = body
	return answer
}

// maxWindow bounds what unpacking an answer may take, in bytes (RFC 8878 section
// 3.1.1.1.2 recommends to support windows of 8 MiB).
const maxWindow = 8 << 20

// Decode undoes a Content-Encoding. None was asked for, but some origins
// keep only compressed files. Not more is unpacked than would be parsed.
func Decode(header http.Header, body []byte) ([]byte, error) {
	var decoder io.Reader
	switch coding := strings.ToLower(strings.Join(header.Values("Content-Encoding"), ", ")); coding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		if len(body) == 0 {
			return nil, nil
		}
		zip, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("unpacking the answer: %w", err)
		}
		decoder = zip
	case "zstd":
		zip, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("unpacking the answer: %w", err)
		}
		defer zip.Close()
		decoder = zip
	default:
		if isMisnomer(coding) && bytes.IndexByte(body, 0) < 0 {
			return body, nil
		}
		return nil, fmt.Errorf("the answer has Content-Encoding %q, which was not asked for and cannot be read; serve robots.txt unencoded to clients that send no Accept-Encoding", coding)
	}
	text, err := io.ReadAll(io.LimitReader(decoder, policy.MaxSize+1))
	if err != nil && len(text) <= policy.MaxSize {
		return nil, fmt.Errorf("unpacking the answer: %w", err)
	}
	return text, nil
}

// codings are those that there are, but for identity (the HTTP Content Coding Registry of
// IANA, https://www.iana.org/assignments/http-parameters, as of 2026).
var codings = []string{
	"aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip", "zstd",
}

// isMisnomer reports whether a Content-Encoding names no coding, but a charset or "none", as
// scripts send it by mistake: clients take what comes as it is.
func isMisnomer(coding string) bool {
	for name := range strings.SplitSeq(coding, ",") {
		if slices.Contains(codings, strings.TrimSpace(name)) {
			return false
		}
	}
	return true
}
