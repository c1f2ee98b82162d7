package site

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// fetchResultFromResponse converts an HTTP response into the result of a fetch. body may end after
// [policy.MaxSize]+1 bytes, since the parser reads no more.
func fetchResultFromResponse(status int, header http.Header, body []byte) policy.FetchResult {
	answer := policy.FetchResult{Status: status, Header: header}
	switch {
	case status < 200 || status > 599,
		// The request had no Range and no validator. Partial content would lose rules, and 304
		// would lose all rules.
		status == http.StatusPartialContent, status == http.StatusNotModified:
		return policy.FetchResult{Err: fmt.Errorf("status %d is not a valid response to a GET request", status)}
	case status >= 300, status == http.StatusNoContent, status == http.StatusResetContent:
		return answer // The body is not used.
	}
	body, err := DecodeBody(header, body)
	if err != nil {
		return policy.FetchResult{Err: err}
	}
	answer.Body = body
	return answer
}

// maxZstdWindow limits the memory for decompression, in bytes. RFC 8878 section 3.1.1.1.2 recommends
// support for windows of 8 MiB.
const maxZstdWindow = 8 << 20

// DecodeBody decompresses the body of a response with a Content-Encoding, if this is gzip or zstd.
// DecodeBody returns an error for other registered codings. The guard sends no Accept-Encoding, but
// some sites have only compressed files. DecodeBody stops after as many bytes as the parser reads.
func DecodeBody(header http.Header, body []byte) ([]byte, error) {
	var decoder io.Reader
	switch coding := strings.ToLower(strings.Join(header.Values("Content-Encoding"), ", ")); coding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		if len(body) == 0 {
			return nil, nil
		}
		gzipReader, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("unpacking the answer: %w", err)
		}
		decoder = gzipReader
	case "zstd":
		zstdReader, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxZstdWindow))
		if err != nil {
			return nil, fmt.Errorf("unpacking the answer: %w", err)
		}
		defer zstdReader.Close()
		decoder = zstdReader
	default:
		if isUnregisteredCoding(coding) && bytes.IndexByte(body, 0) < 0 {
			return body, nil
		}
		return nil, fmt.Errorf("the answer has Content-Encoding %q, which was not requested and cannot be read; serve robots.txt unencoded to clients that send no Accept-Encoding", coding)
	}
	decoded, err := io.ReadAll(io.LimitReader(decoder, policy.MaxSize+1))
	if err != nil && len(decoded) <= policy.MaxSize {
		return nil, fmt.Errorf("unpacking the answer: %w", err)
	}
	return decoded, nil
}

// registeredCodings are the registered codings except identity. They come from the HTTP Content Coding
// Registry of IANA, as of 2026. See https://www.iana.org/assignments/http-parameters.
var registeredCodings = []string{
	"aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip", "zstd",
}

// isUnregisteredCoding reports whether a Content-Encoding names no registered coding. Some scripts
// send a charset or "none" by mistake, and clients then use the body unchanged.
func isUnregisteredCoding(coding string) bool {
	for name := range strings.SplitSeq(coding, ",") {
		if slices.Contains(registeredCodings, strings.TrimSpace(name)) {
			return false
		}
	}
	return true
}

// FirstResponse returns the first response of a fetch, for the response audit. If redirects led to
// no robots.txt, this is the first redirect. Otherwise it is the last response. If the connection
// was closed without a response, response is zero and ok is true. ok is false if the response is
// unknown, for example after a timeout.
func FirstResponse(answer policy.FetchResult) (response responseaudit.RobotsResponse, ok bool) {
	response = responseaudit.RobotsResponse{Status: answer.Status, IsHTML: IsHTMLPage(answer.Status, answer.Header, answer.Body)}
	response.IsLoop = answer.Status >= 300 && answer.Status < 400 // FollowRedirects stopped at this redirect, or the status is 304.
	switch isFile := answer.Err == nil && answer.Status == http.StatusOK && !response.IsHTML; {
	case errors.Is(answer.Err, ErrResponseAborted) && len(answer.RedirectTargets) == 0:
		return responseaudit.RobotsResponse{}, true
	case len(answer.RedirectTargets) > 0 && !isFile:
		return responseaudit.RobotsResponse{Status: http.StatusFound, Location: answer.RedirectTargets[0], IsLoop: response.IsLoop}, true
	case answer.Status == 0:
		return response, false
	}
	response.Location = answer.Header.Get("Location")
	return response, true
}

// IsHTMLPage reports whether a response is an HTML page instead of a robots.txt. bodyStart is the
// beginning of the body. For status 200 the Content-Type is ignored, since some servers send a
// robots.txt as text/html.
func IsHTMLPage(status int, header http.Header, bodyStart []byte) bool {
	isHTML := strings.HasPrefix(header.Get("Content-Type"), "text/html") || strings.HasPrefix(header.Get("Content-Type"), "application/xhtml")
	isEncoded := header.Get("Content-Encoding") != ""
	switch {
	case len(bodyStart) == 0 || isEncoded:
		return isHTML && status != http.StatusOK
	case status != http.StatusOK && isHTML:
		return true
	}
	findings, _ := policy.Parse(bodyStart).Findings()
	return slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML })
}
