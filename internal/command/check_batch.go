package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// batchRequest is a line of the input of check --batch.
type batchRequest struct {
	ID        json.RawMessage `json:"id"`
	Robots    string          `json:"robots"`
	RobotsB64 []byte          `json:"robots_b64"`
	Token     string          `json:"token"`
	UserAgent *string         `json:"user_agent"`
	URL       string          `json:"url"`
	Method    string          `json:"method"`
}

// batchResult is the line that answers it.
type batchResult struct {
	ID        json.RawMessage `json:"id"`
	Allowed   bool            `json:"allowed"`
	Verdict   string          `json:"verdict"`
	Rule      string          `json:"rule"`
	Line      int             `json:"line"`
	Group     string          `json:"group"`
	Ambiguous bool            `json:"ambiguous"`
	Error     string          `json:"error,omitempty"`
}

// errBadLines makes the process exit with ExitFailed after a batch in which
// some lines were answered by an error.
var errBadLines = errors.New("some lines were not understood; see their \"error\"")

// batch answers each line of in by a line on out, in order.
func batch(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	w := bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var parsed parsedFile
	bad := false
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(err, w.Flush())
		}
		if err != nil && len(line) == 0 {
			break
		}
		result := answerBatch(line, &parsed)
		if result.Error != "" {
			result.Error, bad = fmt.Sprintf("line %d: %s", number, result.Error), true
		}
		if err := enc.Encode(result); err != nil {
			return err
		}
		if lines.Buffered() == 0 {
			// Somebody may be waiting for the answer before sending more.
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

// answerBatch answers one line. What it cannot understand is allowed, with an
// error that says why.
func answerBatch(line []byte, parsed *parsedFile) batchResult {
	var request batchRequest
	if err := json.Unmarshal(line, &request); err != nil {
		return batchResult{ID: nullID, Allowed: true, Verdict: judge.Unknown.String(),
			Error: "not a request as check --help describes it: " + err.Error()}
	}
	if request.ID == nil {
		request.ID = nullID
	}
	if request.UserAgent != nil && request.Token != "" {
		return batchResult{ID: request.ID, Allowed: true, Verdict: judge.Unknown.String(),
			Error: `both "token" and "user_agent" are given; leave out one`}
	}
	body := request.RobotsB64
	if body == nil {
		body = []byte(request.Robots)
	}
	who := claimant{token: request.Token, method: request.Method, isAgent: request.UserAgent != nil}
	if who.isAgent {
		who.userAgent = *request.UserAgent
	}
	r := judgeURL(parsed.robots(body), who, request.URL)
	return batchResult{ID: request.ID, Allowed: r.Allowed, Verdict: r.Verdict, Rule: r.Rule,
		Line: r.Line, Group: r.Group, Ambiguous: r.Ambiguous}
}

var nullID = json.RawMessage("null")

// parsedFile remembers the last file: batches tend to ask about the same one
// many times in a row.
type parsedFile struct {
	body []byte
	last *policy.Robots
}

func (p *parsedFile) robots(body []byte) *policy.Robots {
	if p.last == nil || !bytes.Equal(p.body, body) {
		p.body, p.last = body, policy.Parse(body)
	}
	return p.last
}
