package policy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// dice makes random responses and times.
type dice struct {
	*rand.Rand
	texts int
}

func newDice(seed uint64) dice {
	return dice{Rand: rand.New(rand.NewPCG(seed, 9309)), texts: 12}
}

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// step returns a pause of up to weeks, often close to a limit.
func (d dice) step() time.Duration {
	const day = 24 * time.Hour
	switch d.IntN(4) {
	case 0:
		limit := pick(d, changeRecheckInterval, minRetryDelay, maxRetryDelay, 10*time.Minute, time.Hour, googleDisallowTime, MaxAge, MaxUnreachable)
		return limit + pick(d, -1, 0, 1, time.Duration(d.Int64N(int64(time.Second))))
	default:
		unit := pick(d, time.Millisecond, time.Second, time.Second, time.Minute, time.Minute, time.Hour, time.Hour, day, 7*day)
		return time.Duration(d.Int64N(int64(4 * unit)))
	}
}

// event returns a random response at now.
func (d dice) event(now time.Time) event {
	e := event{at: now, life: -1, jitter: pick(d, 0, 1, d.Float64()), answer: FetchResult{Header: http.Header{}}}
	switch d.IntN(12) {
	case 0, 1, 2, 3:
		e.meaning, e.answer.Status = Successful, pick(d, 200, 200, 200, 203)
		e.answer.Body = fmt.Appendf(nil, "User-agent: *\nDisallow: /%d\n", d.IntN(d.texts))
		if d.IntN(8) == 0 {
			e.answer.Body = nil
		}
	case 4:
		e.meaning, e.answer.Status = Unavailable, pick(d, 404, 404, 410, 401, 403, 302)
		e.answer.Body = []byte("User-agent: *\nDisallow: /none\n") // restricts nothing
	case 5, 6:
		e.meaning, e.answer.Status = NotModified, 304
	case 7:
		e.meaning, e.answer.Status = TooManyRequests, 429
		d.retryAfter(&e)
	case 8, 9:
		e.meaning, e.answer.Status = Unreachable, pick(d, 500, 502, 503, 504)
		d.retryAfter(&e)
	default:
		e.meaning, e.answer.Err = Unreachable, pick(d, errors.New("connection reset"), errors.New("no such host"))
		e.answer.Status = pick(d, 0, 200) // the response may have begun with 200
		e.answer.Body = []byte("User-agent: *\nDisallow: /none\n")
	}
	if e.meaning.DeterminesRules() {
		d.freshness(&e)
		if d.IntN(2) == 0 {
			e.answer.Header.Set("ETag", fmt.Sprintf("%q", fmt.Sprint(d.IntN(3))))
		}
	}
	return e
}

// retryAfter sometimes adds a Retry-After.
func (d dice) retryAfter(e *event) {
	wait := d.step()
	switch d.IntN(4) {
	case 0:
		e.wait = max(0, wait.Truncate(time.Second))
		e.answer.Header.Set("Retry-After", fmt.Sprint(int64(e.wait/time.Second)))
	case 1:
		at := e.at.Add(wait).Truncate(time.Second)
		e.wait = max(0, at.Sub(e.at))
		e.answer.Header.Set("Retry-After", at.Format(http.TimeFormat))
	}
}

// freshness sometimes adds freshness information.
func (d dice) freshness(e *event) {
	h, life := e.answer.Header, max(0, d.step().Truncate(time.Second))
	switch d.IntN(6) {
	case 0:
		h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", life/time.Second))
		e.life = life
	case 1:
		h.Set("Cache-Control", fmt.Sprintf("max-age=5, s-maxage=%d", life/time.Second))
		e.life = life
	case 2:
		h.Set("Cache-Control", pick(d, "no-cache", "no-store", "max-age=60, no-store"))
		e.life = 0
	case 3:
		at := e.at.Add(life).Truncate(time.Second)
		h.Set("Expires", at.Format(http.TimeFormat))
		e.life = max(0, at.Sub(e.at))
	case 4:
		age := max(0, d.step().Truncate(time.Second))
		h.Set("Cache-Control", fmt.Sprintf("max-age=%d", life/time.Second))
		h.Set("Age", fmt.Sprint(int64(age/time.Second)))
		e.life = max(0, life-age)
	}
}

// question returns a random query about a time after now.
func (d dice) question(now time.Time) question {
	return question{now: now.Add(max(0, d.step())), grace: pick(d, 0, time.Hour, MaxAge, MaxAge, d.step())}
}
