package policy

import (
	"reflect"
	"testing"
)

// TestContentUsageAgents tests Content-Usage lines in one group that apply to different agents.
func TestContentUsageAgents(t *testing.T) {
	r := Parse([]byte("Content-Usage: search=n\nUser-agent: *\nUser-agent: A\nContent-Usage: train-ai=n\nContent-Usage: /b search=n\nUser-agent: B\nContent-Usage: search=y\nDisallow: /\nContent-Usage: ai-use=n\n\nUser-agent: C\nDisallow: /\n"))
	first, second := []Agent{{"*", 2}, {"A", 3}}, []Agent{{"B", 6}}
	if got, want := r.ContentUsageAgents(), (map[int][]Agent{4: first, 5: first, 7: second, 9: second}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Parse([]byte("User-agent: *\nDisallow: /\n")).ContentUsageAgents(); len(got) > 0 {
		t.Errorf("without preferences: %v", got)
	}
}
