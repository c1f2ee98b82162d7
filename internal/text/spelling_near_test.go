package text

import "testing"

func TestNear(t *testing.T) {
	words := []string{"exempt", "only_log", "status", "source", "ttl", "grace", "search", "seo"}
	for misspelt, want := range map[string]string{
		"exmpt": "exempt", "exempts": "exempt", "only-log": "only_log", "onlylog": "only_log", "Status": "status", "tll": "ttl",
		"graec": "grace", "serach": "search", "souce": "source", "block": "", "x": "", "": "", "user_agent": "",
	} {
		if got := Nearest(misspelt, words); got != want {
			t.Errorf("Near(%q) = %q, want %q", misspelt, got, want)
		}
	}
}
