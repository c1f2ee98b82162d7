package caddymodule

import (
	"strings"
	"testing"
)

// TestLikelyMistakes has sites that can be loaded and do not do what their owner means: each
// is warned of, and nothing that is right.
func TestLikelyMistakes(t *testing.T) {
	const (
		idle        = "only /robots.txt comes to robots_guard"
		rate        = "robots_rate never matches"
		preference  = "robots_preference never matches"
		placeholder = "is no placeholder"
		nobody      = "is for nobody"
		idleMode    = "without a mode blocks none"
		start       = "only the start page comes to robots_guard"
		spared      = "slows no search engine"
		verifying   = "{\n robots_guard {\n verify on\n }\n}\n"
	)
	for _, tc := range []struct{ name, config, warning, says string }{
		{"in handle of the robots.txt", "a.test {\n handle /robots.txt {\n robots_guard enforce\n file_server\n }\n}", idle, `"site":"site a.test"`},
		{"with a matcher for the robots.txt", "a.test {\n robots_guard /robots.txt enforce\n}", idle, "without that matcher"},
		{"for the robots.txt and more", "a.test {\n @a path /robots.txt /a/*\n robots_guard @a enforce\n}", "", ""},
		{"for all but the robots.txt", "a.test {\n @a not path /robots.txt\n robots_guard @a enforce\n}", "", ""},

		{"a rate that nobody counts", "a.test {\n robots_guard\n @fast robots_rate over\n respond @fast slow 429\n}", rate, "robots_guard with rate before it"},
		{"a rate that is counted", "a.test {\n robots_guard {\n rate\n }\n @fast robots_rate over\n respond @fast slow 429\n}", "", ""},
		{"a preference without a guard", "a.test {\n robots_guard_dashboard public\n}\nb.test {\n @no robots_preference train-ai=n\n respond @no no\n}", preference, `"site":"site b.test"`},
		{"a preference", "a.test {\n robots_guard\n @no robots_preference train-ai=n\n respond @no no\n}", "", ""},

		{"a placeholder that is misspelt", "a.test {\n robots_guard\n respond {http.robots_guard.verdit}\n}", placeholder, "did you mean {http.robots_guard.verdict}?"},
		{"one in an error route", "a.test {\n robots_guard enforce\n handle_errors {\n respond {http.robots_guard.reason}\n }\n}", placeholder, "{http.robots_guard.reason} is no"},
		{"one in a matcher", "a.test {\n robots_guard enforce\n @x vars {http.robots_guard.clas} seo\n respond @x x\n}", placeholder, "did you mean {http.robots_guard.class}?"},
		{"placeholders", "a.test {\n robots_guard enforce\n header >X-V \"{http.robots_guard.preference.train_ai} {http.robots_guard.rate} {http.robots_guard.rate.delay}\"\n}", "", ""},

		{"with / for a matcher", "a.test {\n robots_guard / enforce\n respond ok\n}", start, "the matcher / is for that path alone"},
		{"with /* for one", "a.test {\n robots_guard /* enforce\n respond ok\n}", "", ""},

		{"a status without a mode", "a.test {\n robots_guard {\n status 451\n }\n}", idleMode, "status 451 is for requests that are blocked"},
		{"an answer without a mode", "a.test {\n robots_guard {\n on_violation {\n respond no 402\n }\n usage enforce\n }\n}", idleMode, "on_violation and usage enforce are for requests"},
		{"the same with monitor", "a.test {\n robots_guard monitor {\n status 451\n usage enforce\n }\n}", "", ""},
		{"the same with enforce", "a.test {\n robots_guard enforce {\n status 451\n usage enforce\n }\n}", "", ""},
		{"a false name without a mode", verifying + "a.test {\n robots_guard {\n spoofed block\n }\n}", idleMode, "spoofed block is for"},

		{"a limit of an engine", "a.test {\n robots_guard {\n rate enforce {\n limit Googlebot 3/1m\n limit GPTBot 3/1m\n limit token:bingbot concurrent 2\n }\n }\n}", spared, "the limit of Googlebot and bingbot "},
		{"a limit of engines", "a.test {\n robots_guard\n}\nb.test {\n robots_guard /a/* {\n rate enforce {\n limit search 3/1m\n }\n }\n}", spared, `"site":"site b.test"`},
		{"a limit of an engine of the owner", "{\n robots_guard {\n crawler ShopSearch {\n class search\n }\n }\n}\na.test {\n robots_guard {\n rate enforce {\n limit ShopSearch 3/1m\n }\n }\n}", spared, "of ShopSearch "},
		{"a limit of an engine that is counted, as is written", "a.test {\n robots_guard {\n rate enforce {\n limit Googlebot 3/1m\n search observe\n }\n }\n}", "", ""},
		{"a limit of an engine that is enforced", "a.test {\n robots_guard {\n rate enforce {\n limit Googlebot 3/1m\n search enforce\n }\n }\n}", "", ""},
		{"one that is only counted", "a.test {\n robots_guard {\n rate {\n limit Googlebot 3/1m\n }\n }\n}", "", ""},
		{"limits of others", "a.test {\n robots_guard {\n rate enforce {\n limit GPTBot 3/1m\n limit seo 3/1m\n limit token:NewBot 3/1m\n }\n }\n}", "", ""},

		{"exempt verified", "a.test {\n robots_guard enforce {\n exempt verified Googlebot\n }\n}", nobody, "exempt verified is for nobody"},
		{"only_log verified", "a.test {\n robots_guard enforce {\n only_log verified search\n }\n}", nobody, "only_log verified is for nobody"},
		{"spoofed", "a.test {\n robots_guard enforce {\n spoofed block\n }\n}", nobody, "spoofed block is for nobody"},
		{"spoofed by default", "a.test {\n robots_guard enforce {\n spoofed judge\n }\n}", "", ""},
		{"a matcher of a site", "a.test {\n robots_guard\n}\nb.test {\n robots_guard\n @false robots_crawler spoofed\n abort @false\n}", nobody, `"site":"site b.test"`},
		{"a matcher of all", "a.test {\n robots_guard\n @search robots_crawler search claimed verified\n respond @search x\n}", "", ""},
		{"verified", verifying + "a.test {\n robots_guard enforce {\n exempt verified Googlebot\n spoofed log\n }\n @false robots_crawler spoofed\n abort @false\n}", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, err := validate(t, tc.config)
			if err != nil {
				t.Fatal(err)
			}
			for _, warning := range []string{idle, rate, preference, placeholder, nobody, idleMode, start, spared} {
				if warns := strings.Contains(log, warning); warns != (warning == tc.warning) {
					t.Errorf("that %s is told: %t; the log:\n%s", warning, warns, log)
				}
			}
			if tc.warning == spared && strings.Count(log, spared) != 1 {
				t.Errorf("it is not told once:\n%s", log)
			}
			if !strings.Contains(log, tc.says) {
				t.Errorf("%q is not told:\n%s", tc.says, log)
			}
		})
	}
}
