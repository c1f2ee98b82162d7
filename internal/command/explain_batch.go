package command

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/jsontext"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// batchRequest is a line of the input of explain --batch.
type batchRequest struct {
	ID        json.RawMessage `json:"id"`
	Robots    *string         `json:"robots"`
	RobotsB64 []byte          `json:"robots_b64"`
	Token     string          `json:"token"`
	UserAgent batchAgent      `json:"user_agent"`
	URL       string          `json:"url"`
	Method    string          `json:"method"`
	Host      string          `json:"host"` // with --robots
	Time      batchTime       `json:"time"` // with --robots
}

// batchAgent is an optional User-Agent. The null of a database means a client without a User-Agent,
// unless the line has a token.
type batchAgent struct {
	text        string
	given, null bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *batchAgent) UnmarshalJSON(value []byte) error {
	*a = batchAgent{given: true, null: string(value) == "null"}
	return json.Unmarshal(value, &a.text)
}

// batchTime is the time of a request: RFC 3339, or Unix seconds as a number or a string. null, ""
// and 0 mean no time.
type batchTime struct{ time.Time }

// maxBatchTime bounds times, in Unix seconds. A time in the year 2242 or later is a mistake.
const maxBatchTime = 1 << 33

// UnmarshalJSON implements json.Unmarshaler.
func (t *batchTime) UnmarshalJSON(value []byte) error {
	text := strings.Trim(string(value), `"`)
	if text == "" || text == "null" || text == "0" {
		return nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if math.IsNaN(seconds) {
		seconds = -1 // the conversion to an integer depends on the processor
	}
	at := time.UnixMicro(int64(min(seconds, maxBatchTime) * 1e6))
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	if err != nil || at.Unix() < 0 || at.Unix() >= maxBatchTime {
		return fmt.Errorf(`"time" is %s; give seconds since 1970, or a time like 2026-11-20T10:00:00Z`, text)
	}
	t.Time = at
	return nil
}

// batchResponse is the response to a line.
type batchResponse struct {
	ID        json.RawMessage `json:"id"`
	Allowed   bool            `json:"allowed"`
	Verdict   string          `json:"verdict"`
	Rule      string          `json:"rule"`
	Line      int             `json:"line"`
	Group     string          `json:"group"`
	Ambiguous bool            `json:"ambiguous"`
	Crawler   string          `json:"crawler"`
	Class     string          `json:"class"`
	Error     string          `json:"error,omitempty"`
}

// errBadLines makes the process exit with ExitFailed after a batch with invalid lines.
var errBadLines = errors.New("some lines were not understood; see their \"error\"")

// batch judges lines.
type batch struct {
	history    *replay.RobotsHistory // from --robots; nil without the flag
	identities map[agentKey]uaident.Identity
	last       struct { // robots.txt of the last line, since many lines tend to have the same
		body    []byte
		robots  *policy.Robots
		overlay *uaident.Overlay
	}
}

// agentKey is a cache key: a User-Agent, and the names that a robots.txt adds to the registry.
type agentKey struct {
	userAgent string
	overlay   *uaident.Overlay
}

// Bounds of the cache of User-Agents: their number, and their length in bytes.
const (
	maxIdentities     = 2048
	maxCachedAgentLen = 512
)

// runBatch judges the lines of standard input.
func (x *explainRunner) runBatch(cmd *cobra.Command) error {
	var texts *replay.RobotsHistory
	if x.robots == "-" {
		return errors.New("--batch reads requests from standard input; name a file or a directory with --robots")
	}
	if x.robots != "" {
		versions, _, err := x.config.readVersions(cmd.Context(), x.robots)
		if err != nil {
			return err
		}
		if texts, err = replay.NewRobotsHistory(versions, uaident.Default()); err != nil {
			return err
		}
	}
	return newBatch(texts).run(cmd.InOrStdin(), cmd.OutOrStdout())
}

func newBatch(texts *replay.RobotsHistory) *batch {
	return &batch{history: texts, identities: make(map[agentKey]uaident.Identity)}
}

// run writes a response to out for each line of in, in order.
func (b *batch) run(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	w := bufio.NewWriterSize(out, 1<<16)
	bad := false
	enc := newEncoder(w)
	var long []byte
	for number := 1; ; number++ {
		line, err := readLine(lines, &long)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrTooLong) {
			return errors.Join(err, w.Flush())
		}
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // some shells write a byte order mark
		}
		result := unknownResult
		if errors.Is(err, bufio.ErrTooLong) {
			result.Error = fmt.Sprintf("longer than %d MiB", maxBatchLine>>20)
		} else {
			result = b.judgeLine(line)
		}
		if result.Error != "" {
			result.Error, bad = fmt.Sprintf("line %d: %s", number, result.Error), true
		}
		if err := enc.Encode(result); err != nil {
			return err
		}
		if lines.Buffered() == 0 {
			// The sender may wait for the response before sending more.
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bad {
		return errBadLines
	}
	return nil
}

// judgeLine judges one line. An invalid line has the verdict unknown, is allowed, and has an error.
func (b *batch) judgeLine(line []byte) batchResponse {
	var request batchRequest
	unknown := unknownResult
	if err := json.Unmarshal(line, &request); err != nil {
		var whose struct{ ID json.RawMessage }
		if json.Unmarshal(line, &whose) == nil && whose.ID != nil {
			unknown.ID = whose.ID
		}
		unknown.Error = "not a request as explain --help describes it: " + jsontext.WithoutGoTypes(err).Error()
		return unknown
	}
	if request.ID != nil {
		unknown.ID = request.ID
	}
	isAgent := request.UserAgent.given && (request.Token == "" || !request.UserAgent.null)
	if isAgent && request.Token != "" {
		unknown.Error = `both "token" and "user_agent" are given; leave out one`
		return unknown
	}
	robots, overlay := b.robots(&request)
	if robots == nil { // no robots.txt for the host
		return unknown
	}
	who := requester{token: request.Token, method: request.Method, hasUserAgent: isAgent}
	if isAgent {
		who.client = b.identify(request.UserAgent.text, overlay)
	}
	r := judgeURL(&defaultSite, robots, who, request.URL)
	return batchResponse{ID: unknown.ID, Crawler: r.Crawler, Class: r.Class, Allowed: r.Allowed, Verdict: r.Verdict,
		Rule: r.Rule, Line: r.Line, Group: r.Group, Ambiguous: r.Ambiguous}
}

// defaultSite is a site without a configuration.
var defaultSite = explain.Site{Registry: uaident.Default()}

var nullID = json.RawMessage("null")

// unknownResult is the response to an invalid line, without the error.
var unknownResult = batchResponse{ID: nullID, Allowed: true, Verdict: judge.Unknown.String()}

// robots returns the robots.txt in a line, or else the one of --robots. It returns nil if --robots
// has no robots.txt for the host.
func (b *batch) robots(q *batchRequest) (*policy.Robots, *uaident.Overlay) {
	body := q.RobotsB64
	switch {
	case body == nil && q.Robots != nil:
		body = []byte(*q.Robots)
	case body == nil && b.history != nil:
		return b.history.At(cmp.Or(q.Host, addr.Authority(q.URL)), q.Time.Time)
	}
	if b.last.robots == nil || !bytes.Equal(b.last.body, body) {
		b.last.body, b.last.robots = body, policy.Parse(body)
		b.last.overlay = overlayOf(b.last.robots)
	}
	return b.last.robots, b.last.overlay
}

// identify identifies a User-Agent. Recent results are cached.
func (b *batch) identify(userAgent string, overlay *uaident.Overlay) uaident.Identity {
	key := agentKey{userAgent, overlay}
	if client, known := b.identities[key]; known {
		return client
	}
	client := uaident.Default().IdentifyWith(userAgent, overlay)
	if len(userAgent) <= maxCachedAgentLen {
		if len(b.identities) == maxIdentities {
			clear(b.identities)
		}
		b.identities[key] = client
	}
	return client
}

// maxBatchLine bounds a line with its line ending, in bytes. A robots.txt of the maximum size needs
// up to 3 MiB if all characters are escaped.
const maxBatchLine = 8 << 20

// readLine reads a line with its line ending, if present. The line is valid until the next call.
// long is memory for lines that exceed the buffer. readLine skips a line that exceeds maxBatchLine
// and returns [bufio.ErrTooLong].
func readLine(lines *bufio.Reader, long *[]byte) (line []byte, err error) {
	line, err = lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole, tooLong := (*long)[:0], false
	for more := true; more; {
		if tooLong = tooLong || len(whole)+len(line) > maxBatchLine; !tooLong {
			whole = append(whole, line...)
		}
		if more = errors.Is(err, bufio.ErrBufferFull); more {
			line, err = lines.ReadSlice('\n')
		}
	}
	*long = whole
	if tooLong && (err == nil || errors.Is(err, io.EOF)) {
		return nil, bufio.ErrTooLong
	}
	return whole, err
}
