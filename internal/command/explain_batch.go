package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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

// batchRequest is a request to judge, decoded from an input line of explain --batch.
type batchRequest struct {
	ID        json.RawMessage `json:"id"`
	Robots    *string         `json:"robots"`
	RobotsB64 []byte          `json:"robots_b64"`
	Token     string          `json:"token"`
	UserAgent batchAgent      `json:"user_agent"`
	URL       string          `json:"url"`
	Method    string          `json:"method"`
	Host      string          `json:"host"` // Host is only used with --robots.
	Time      batchTime       `json:"time"` // Time is only used with --robots.
}

// batchAgent is the value of "user_agent". null, as exported from a database, means a client
// without a User-Agent, unless the line has a token.
type batchAgent struct {
	text            string
	isGiven, isNull bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *batchAgent) UnmarshalJSON(value []byte) error {
	*a = batchAgent{isGiven: true, isNull: string(value) == "null"}
	return json.Unmarshal(value, &a.text)
}

// batchTime is the time of a request: RFC 3339, or Unix seconds as a number or a string. null, ""
// and 0 mean no time.
type batchTime struct{ time.Time }

// maxBatchTime is an exclusive limit for times, in Unix seconds. A time in the year 2242 or later
// is a mistake.
const maxBatchTime = 1 << 33

// UnmarshalJSON implements json.Unmarshaler.
func (t *batchTime) UnmarshalJSON(value []byte) (err error) {
	text := strings.Trim(string(value), `"`)
	if text == "" || text == "null" || text == "0" {
		return nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && 0 <= seconds && seconds < maxBatchTime {
		t.Time = time.UnixMicro(int64(seconds * 1e6))
		return nil
	}
	if t.Time, err = time.Parse(time.RFC3339, text); err != nil || t.Unix() < 0 || t.Unix() >= maxBatchTime {
		return fmt.Errorf(`"time" is %s; give seconds since 1970, or a time like 2026-11-20T10:00:00Z`, text)
	}
	return nil
}

// batchJudge judges the requests of explain --batch, and caches the last robots.txt.
type batchJudge struct {
	history *replay.RobotsHistory // history is from --robots. It is nil without the flag.
	last    struct {              // This is the robots.txt of the last line, since many lines tend to have the same.
		body    []byte
		robots  *policy.Robots
		overlay *uaident.Overlay
	}
}

// judgeStdin reads requests from standard input, one a line, and prints a verdict for each.
func (x *explainRunner) judgeStdin(cmd *cobra.Command) error {
	var b batchJudge
	if x.robots == "-" {
		return errors.New("--batch reads requests from standard input; name a file or a directory with --robots")
	}
	if x.robots != "" {
		versions, _, err := x.config.readVersions(cmd.Context(), x.robots)
		if err != nil {
			return err
		}
		if b.history, err = replay.NewRobotsHistory(versions, uaident.Default()); err != nil {
			return err
		}
	}
	out := (&output{json: true}).newPrinter(cmd)
	number, bad := 0, false
	err := out.answerLines(cmd.InOrStdin(), func(line []byte) error {
		if number++; number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // Some shells write a byte order mark.
		}
		v := b.judge(line)
		if v.Error != "" {
			v.Error, bad = fmt.Sprintf("line %d: %s", number, v.Error), true
		}
		return out.print(v, nil)
	})
	if err == nil && bad {
		err = errors.New("some lines were not understood; see their \"error\"")
	}
	return err
}

// judge returns the verdict for an input line. For an invalid line, Verdict is unknown, Allowed is
// true, and Error is set.
func (b *batchJudge) judge(line []byte) explain.Verdict {
	var request batchRequest
	unknown := explain.Verdict{ID: json.RawMessage("null"), Allowed: true, Verdict: judge.Unknown.String()}
	err := json.Unmarshal(line, &request)
	if err != nil {
		_ = json.Unmarshal(line, &struct{ ID *json.RawMessage }{&request.ID}) // This is for the error message.
	}
	if request.ID != nil {
		unknown.ID = request.ID
	}
	isAgent := request.UserAgent.isGiven && (request.Token == "" || !request.UserAgent.isNull)
	switch {
	case err != nil:
		unknown.Error = "not a request as explain --help describes: " + jsontext.RemoveGoTypes(err).Error()
		return unknown
	case isAgent && request.Token != "":
		unknown.Error = `both "token" and "user_agent" are given; leave out one`
		return unknown
	}
	robots, overlay := b.findRobots(&request)
	if robots == nil { // The directory contains no robots.txt for the host.
		return unknown
	}
	r := explain.Request{UserAgent: request.UserAgent.text, Token: request.Token, URL: request.URL, Method: request.Method}
	if !isAgent {
		r.Token = cmp.Or(request.Token, "*")
	}
	v := defaultSite.Judge(robots, overlay, r)
	v.ID = unknown.ID
	return v
}

// defaultSite judges requests by the default settings, because there is no configuration.
var defaultSite = explain.Site{Registry: uaident.Default()}

// findRobots returns the robots.txt in a request, or else the version from --robots for the host
// and the time of the request. Without either, the robots.txt is empty. findRobots returns nil if
// --robots has no version for the host.
func (b *batchJudge) findRobots(q *batchRequest) (*policy.Robots, *uaident.Overlay) {
	body := q.RobotsB64
	switch {
	case body == nil && q.Robots != nil:
		body = []byte(*q.Robots)
	case body == nil && b.history != nil:
		return b.history.RobotsAt(cmp.Or(q.Host, addr.AuthorityOfURL(q.URL)), q.Time.Time)
	}
	if b.last.robots == nil || !bytes.Equal(b.last.body, body) {
		b.last.body, b.last.robots = body, policy.Parse(body)
		b.last.overlay = defaultSite.Registry.NewOverlay(b.last.robots.GroupNames())
	}
	return b.last.robots, b.last.overlay
}
