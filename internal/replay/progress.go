package replay

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Progress says how far a replay has come. It may be read at any time.
type Progress struct {
	Bytes atomic.Int64 // read of the files
	Total atomic.Int64 // their sizes; 0 if one of them has no size
	Lines atomic.Int64
}

// progressWidth is how many characters the bar has.
const progressWidth = 20

// Text returns a line of less than 80 characters that shows how far it has come
// after some time: a bar, the rate, and how long it will take.
func (p *Progress) Text(elapsed time.Duration) string {
	lines, bytes, total := p.Lines.Load(), p.Bytes.Load(), p.Total.Load()
	seconds := max(elapsed.Seconds(), 0.001)
	rate := fmt.Sprintf("%s lines, %s/s", short(float64(lines)), short(float64(lines)/seconds))
	if total <= 0 {
		return rate
	}
	bytes = min(bytes, total)
	done := float64(bytes) / float64(total)
	full := int(done * progressWidth)
	text := fmt.Sprintf("[%s%s] %3.0f %%  %s", strings.Repeat("#", full), strings.Repeat(".", progressWidth-full), 100*done, rate)
	if left := seconds * (1 - done) / done; elapsed >= time.Second && left < 100*3600 {
		text += fmt.Sprintf(", %s left", time.Duration(left*float64(time.Second)).Round(time.Second))
	}
	return text
}

// short writes a number in three digits or so.
func short(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f G", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.2f M", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0f k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
