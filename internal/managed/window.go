package managed

import (
	"fmt"
	"strings"
	"time"
)

// Window is the time from From until just before Until. A zero From or Until means no limit.
type Window struct {
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// ParseWindow parses the ends of a window in the format of RFC 3339. "" means no limit. Errors
// explain the fix.
func ParseWindow(from, until string) (w Window, err error) {
	if w.From, err = parseTime("from", from); err != nil {
		return w, err
	}
	if w.Until, err = parseTime("until", until); err != nil {
		return w, err
	}
	switch {
	case w.From.IsZero() || w.Until.IsZero() || w.From.Before(w.Until):
		return w, nil
	case w.From.Equal(w.Until):
		return w, fmt.Errorf("it would begin and end at %s, so it would never be in force; move one of the times", from)
	}
	return w, fmt.Errorf("it would end at %s, before it begins at %s; swap the times", until, from)
}

// parseTime parses one end of a window.
func parseTime(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if _, bad := t.MarshalText(); err == nil && bad == nil && t.Year() > 1 { // the zero time is in the year 1
		return t, nil
	}
	zoneless := strings.Replace(text, " ", "T", 1)
	for layout, missing := range map[string]string{"2006-01-02T15:04:05": "Z", "2006-01-02T15:04": ":00Z", "2006-01-02": "T00:00:00Z"} {
		if _, err := time.Parse(layout, zoneless); err == nil {
			return time.Time{}, fmt.Errorf("%s %q has no time zone, or no time of day; write %s, or with an offset such as +01:00 in place of Z", what, text, zoneless+missing)
		}
	}
	return time.Time{}, fmt.Errorf("%s %q is not an RFC 3339 time; write it as 2026-11-27T00:00:00+01:00", what, text)
}

// has reports whether a window includes a time.
func (w Window) has(t time.Time) bool {
	return !t.Before(w.From) && (w.Until.IsZero() || t.Before(w.Until))
}

// meets reports whether two windows overlap.
func (w Window) meets(o Window) bool {
	return (w.Until.IsZero() || o.From.Before(w.Until)) && (o.Until.IsZero() || w.From.Before(o.Until))
}

// and returns the overlap of two windows that meet.
func (w Window) and(o Window) Window {
	if o.From.After(w.From) {
		w.From = o.From
	}
	if w.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(w.Until) {
		w.Until = o.Until
	}
	return w
}

// String describes the window. It returns "" for a window without limits.
func (w Window) String() string {
	var words []string
	if !w.From.IsZero() {
		words = append(words, "from "+w.From.Format(time.RFC3339))
	}
	if !w.Until.IsZero() {
		words = append(words, "until "+w.Until.Format(time.RFC3339))
	}
	return strings.Join(words, " ")
}
