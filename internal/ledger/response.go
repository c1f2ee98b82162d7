package ledger

import (
	"math"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Response is the site's response to a crawler's request that the guard let through. Site, Token,
// NamedByRobots, Class and Identity are as in the [Request].
type Response struct {
	At            time.Time // At is the time of the request.
	Site          string
	Token         string
	NamedByRobots bool
	Class         uaident.Class
	Identity      verify.State
	Kind          responseaudit.RequestKind
	Status        responseaudit.StatusClass
	Bytes         int64 // Bytes is the size of the body, as sent by the handlers behind the guard.
}

// RequestKindForVerdict returns the kind under which a request with verdict v is counted. Requests
// for robots.txt have no verdict: their kind is [responseaudit.KindRobotsTxt].
func RequestKindForVerdict(v judge.Verdict) responseaudit.RequestKind {
	switch v {
	case judge.Allowed:
		return responseaudit.KindAllowed
	case judge.Disallowed, judge.Stale:
		return responseaudit.KindForbidden
	}
	return responseaudit.KindNoRule
}

// RecordResponse records a response. It blocks only while all buffers are full or in use. The
// ledger uses the strings of the response until the response is counted.
func (l *Ledger) RecordResponse(a *Response) {
	b := l.lockBuffer()
	b.responses = append(b.responses, *a)
	l.releaseBuffer(b)
}

func (w *Row) countResponse(a *Response) {
	at := a.At.UnixMilli()
	if w.FirstSeen == 0 { // Its request is not counted yet.
		w.FirstSeen = at
	}
	w.LastSeen = max(w.LastSeen, at)
	i, size := responseCounterIndex(a.Kind, a.Status), uint64(max(a.Bytes, 0))
	w.Responses.updateBuckets(at, func(c *ResponseBucket) {
		if c[i] < math.MaxUint32 {
			c[i]++
		}
		c.addBytes(size)
	})
}

// ResponseBucket counts the responses to a crawler in one step of a [Timeline], an hour or a day.
// The first element is the number of the step since the Unix epoch. The last two elements are the
// sum of the body sizes in bytes, low word first. All other elements are the counts by kind and
// status, which stop at their maximum.
type ResponseBucket [1 + numResponseCounters + 2]uint32

const numResponseCounters = int(responseaudit.NumRequestKinds) * int(responseaudit.NumStatusClasses)

// StartTime returns the start of the bucket's step. r is the resolution of the series.
func (c ResponseBucket) StartTime(r Resolution) time.Time { return RequestBucket{c[0]}.StartTime(r) }

// Counts returns the number of responses by kind and status, and the sum of their sizes.
func (c ResponseBucket) Counts() (counts responseaudit.ResponseCounts) {
	for kind := range counts.ByKindAndStatus {
		for status := range counts.ByKindAndStatus[kind] {
			counts.ByKindAndStatus[kind][status] = uint64(c[responseCounterIndex(responseaudit.RequestKind(kind), responseaudit.StatusClass(status))])
		}
	}
	counts.Bytes = c.totalBytes()
	return counts
}

func responseCounterIndex(kind responseaudit.RequestKind, status responseaudit.StatusClass) int {
	return 1 + int(kind)*int(responseaudit.NumStatusClasses) + int(status)
}

func (c *ResponseBucket) totalBytes() uint64 {
	return uint64(c[1+numResponseCounters]) | uint64(c[2+numResponseCounters])<<32
}

// addCounts adds the counts of another bucket.
func (c *ResponseBucket) addCounts(other *ResponseBucket) {
	for i := 1; i <= numResponseCounters; i++ {
		c[i] += min(other[i], math.MaxUint32-c[i])
	}
	c.addBytes(other.totalBytes())
}

func (c *ResponseBucket) addBytes(n uint64) {
	sum := c.totalBytes() + n
	if sum < n {
		sum = math.MaxUint64
	}
	c[1+numResponseCounters], c[2+numResponseCounters] = uint32(sum), uint32(sum>>32)
}

// SumResponses returns the responses to the crawler from the step that contains the time from until
// the step that contains the time to, inclusive. r must be Hours or Days.
func (w *Row) SumResponses(r Resolution, from, to time.Time) (sum responseaudit.ResponseCounts) {
	for _, c := range bucketsBetween(w.Responses.Series(r), r, from, to) {
		sum.Add(c.Counts())
	}
	return sum
}
