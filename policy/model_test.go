package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The naive model of the caching rules stores every response with its time. It derives each result
// from all of them. It shares only the types with State.

// event is a response with the values of its header by RFC 9111.
type event struct {
	at      time.Time
	answer  FetchResult
	meaning AccessResult
	life    time.Duration // freshness lifetime minus age; -1 if absent
	wait    time.Duration // Retry-After
	jitter  float64
}

func (e event) String() string {
	s := fmt.Sprintf("%v: %s", e.at.Sub(epoch), e.meaning)
	if e.meaning == Successful {
		s += fmt.Sprintf(" %q", e.answer.Body)
	}
	if e.life >= 0 {
		s += fmt.Sprintf(" for %v", e.life)
	}
	if e.wait > 0 {
		s += fmt.Sprintf(" retry after %v", e.wait)
	}
	return s
}

type history []event

// run is a period in which one text was current.
type run struct {
	text        string
	status      int
	etag        string
	first, last time.Time
	until       time.Time // zero for the current run
}

// split returns the responses up to the last that determined the rules, and those after it.
func (h history) split() (settled, failing history) {
	settled = make(history, 0, len(h))
	for _, e := range h {
		switch {
		case e.meaning == Successful, e.meaning == Unavailable, e.meaning == NotModified && len(settled) > 0:
			settled, failing = append(settled, e), failing[:0]
		default:
			failing = append(failing, e)
		}
	}
	return settled, failing
}

// runs returns the current texts over time, oldest first.
func (h history) runs() (runs []run) {
	settled, _ := h.split()
	for _, e := range settled {
		text, last := "", len(runs)-1
		switch e.meaning {
		case Successful:
			text = string(e.answer.Body)
		case NotModified:
			text = runs[last].text
		}
		if last < 0 || runs[last].text != text {
			if last >= 0 {
				runs[last].until = e.at
			}
			runs = append(runs, run{text: text, first: e.at})
			last++
		}
		runs[last].last = e.at
		if e.meaning != NotModified {
			runs[last].status, runs[last].etag = e.answer.Status, e.answer.Header.Get("ETag")
		}
	}
	return runs
}

// past returns the last run of each text before the current one.
func (h history) past() (past []run) {
	runs := h.runs()
	for _, r := range slices.Backward(runs) {
		known := func(other run) bool { return other.text == r.text }
		if r.text != runs[len(runs)-1].text && !slices.ContainsFunc(past, known) && len(past) < 8 {
			past = append(past, r)
		}
	}
	return past
}

// usable returns the text that applies at now, and whether the site is closed because it is
// unknown.
func (h history) usable(now time.Time, choice Fallback) (text string, known, disallowAll bool) {
	const day = 24 * time.Hour
	settled, failing := h.split()
	var age time.Duration
	if len(settled) > 0 {
		runs := h.runs()
		text = runs[len(runs)-1].text
		age = now.Sub(settled[len(settled)-1].at)
		if len(failing) == 0 || age < day {
			return text, true, false
		}
	}
	if len(failing) == 0 {
		return "", false, false // no fetch yet
	}
	since := now.Sub(failing[0].at)
	refused := failing[len(failing)-1].meaning == TooManyRequests
	lastGood := len(settled) > 0 && age < 30*day
	switch {
	case choice == AllowAll:
		return "", false, false
	case choice == DisallowAll && !refused:
		return "", false, since < 30*day
	case choice == DisallowLikeGoogle && !refused && since < 12*time.Hour:
		return "", false, true
	case lastGood:
		return text, true, false
	}
	return "", false, false
}

// held returns the previous texts that a crawler may follow at now.
func (h history) held(now time.Time, grace time.Duration) (texts []string) {
	for _, r := range h.past() {
		if now.Before(r.until.Add(grace)) {
			texts = append(texts, r.text)
		}
	}
	return texts
}

// due returns the range of times in which the next fetch is due.
func (h history) due(f FreshnessPolicy) (from, to time.Time) {
	last := h[len(h)-1]
	_, failing := h.split()
	if len(failing) == 0 {
		life := last.life
		if life < 0 {
			life = f.Default
		}
		life = min(max(life, f.Min), f.Max, 24*time.Hour)
		runs := h.runs()
		if now := runs[len(runs)-1]; !strings.Contains(now.text, "User-agent") && len(h.past()) > 0 && last.at.Sub(now.first) < time.Hour {
			life = min(life, max(time.Minute, f.Min)) // the rules may be missing by mistake
		}
		return last.at.Add(life - life/10), last.at.Add(life)
	}
	wait := time.Second
	for range failing[1:] {
		wait = min(2*wait, 5*time.Minute)
	}
	return last.at.Add(min(max(wait, last.wait), 24*time.Hour)), last.at.Add(min(max(wait+wait/10, last.wait), 24*time.Hour))
}
