package caddymodule

import (
	"strings"
	"testing"
)

// A guard in handle_errors is of no use there, which is told when the configuration is
// loaded or validated.
func TestGuardInErrorRoutes(t *testing.T) {
	const failed = "robots_guard stands in handle_errors"
	for _, tc := range []struct{ name, config, want string }{
		{"in handle_errors", "a.test {\n robots_guard enforce\n handle_errors {\n robots_guard\n respond {err.message}\n }\n}", failed},
		{"in handle_errors only", "a.test {\n handle_errors {\n robots_guard\n respond {err.message}\n }\n}", failed},
		{"in handle in handle_errors", "a.test {\n robots_guard\n handle_errors 404 {\n handle /x* {\n robots_guard enforce\n }\n }\n}", failed},
		{"before handle_errors", "a.test {\n robots_guard enforce\n handle_errors {\n respond {err.message}\n }\n}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log, err := validate(t, tc.config)
			if err != nil {
				t.Fatal(err)
			}
			if warns := strings.Contains(log, failed); warns != (tc.want != "") {
				t.Errorf("it is told: %t; the log:\n%s", warns, log)
			}
			if tc.want != "" && !strings.Contains(log, `"site":"site a.test"`) {
				t.Errorf("no site is named:\n%s", log)
			}
		})
	}
}
