package admin

import (
	"net/url"
	"strings"
	"testing"
)

// TestFirstMistakeIsTold sends a request with several mistakes. The response always names the first
// in the documented order.
func TestFirstMistakeIsTold(t *testing.T) {
	for range 50 {
		d := Action{User: "a\nb", Reason: "a\nb", Ticket: "a\nb"}
		if err := d.validate("confirm"); err == nil || !strings.HasPrefix(err.Error(), "who ") {
			t.Fatalf("an action: %v", err)
		}
		d = Action{User: "trial"}
		if err := d.validate("stop"); err == nil || !strings.HasPrefix(err.Error(), `the name "trial" is reserved`) {
			t.Fatalf("a person of that name: %v", err)
		}
		d = Action{User: "ann", Reason: "a\nb", Ticket: "a\nb"}
		if err := d.validate("confirm"); err == nil || !strings.HasPrefix(err.Error(), "why ") {
			t.Fatalf("an action by somebody: %v", err)
		}
		if _, err := parseReportQuery(url.Values{"limit": {"x"}, "after": {"y"}}); err == nil || !strings.HasPrefix(err.Error(), "limit ") {
			t.Fatalf("a report: %v", err)
		}
	}
}
