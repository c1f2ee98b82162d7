package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// TestSameReport replays a log several times. The reports are equal, also with estimated counts and
// workers of different speed.
func TestSameReport(t *testing.T) {
	var log bytes.Buffer
	log.Write(combinedLog(3, 4000))
	for i := range 12000 {
		userAgent := googlebot
		if i%3 == 0 {
			userAgent = []string{"Mozilla/5.0 (compatible; Googlebot-Image/1.0)", "Googlebot-News", "googlebot/2.1"}[i/3%3]
		}
		log.WriteString(combined(noon, fmt.Sprintf("GET /private/%d", i*i%7919), userAgent))
	}
	text := rules + "\nUser-agent: googlebot-image\nUser-agent: Googlebot\nUser-agent: googlebot\nUser-agent: Googlebot-News\nDisallow: /\n"
	var first string
	for run := range 10 {
		report := replayed(t, log.String(), func(o *Options) { o.Versions, o.Workers, o.maxLine = oneVersion(text), 4, 4096 })
		if run == 0 && (len(report.Paths) == 0 || report.Paths[0].CountError == 0 && report.Paths[len(report.Paths)-1].CountError == 0) {
			t.Fatal("no count is estimated; make more paths")
		}
		got, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(got)
		}
		if string(got) != first {
			t.Fatalf("run %d differs:\n%s\n%s", run, got, first)
		}
	}
}
