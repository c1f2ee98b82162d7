package directive

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const undoneMessage = "a blocked crawler can get the forbidden page nevertheless"

// TestUndone has sites whose error routes are reached by a block. Where the
// forbidden page itself comes out, there is a warning when the configuration is
// loaded that names the site; where it does not, there is none.
func TestUndone(t *testing.T) {
	t.Parallel()
	robots := "User-agent: *\nDisallow: /private/\n"
	root := harness.Files(t, map[string]string{
		"robots.txt": robots, "private/x.txt": "SECRET", "private/index.php": "SECRET", "403.html": "error page", "error.html": "error page",
		"errors/403.html": "error page", "pages/sorry.html": "error page",
	})
	o := harness.NewOrigin(t, robots, nil)
	type row struct {
		name   string
		guard  string // in place of "robots_guard enforce"
		site   string // the rest of the site
		sites  string // further sites and snippets
		leaks  bool
		warns  string // the handler that is warned of, "" for none
		inside string // what the warning names, if not handle_errors
	}
	for _, tc := range []row{
		// What undoes a block.
		{name: "reverse_proxy", site: "handle_errors {\n reverse_proxy $ORIGIN\n}", leaks: true, warns: "reverse_proxy"},
		{name: "file_server", site: "handle_errors {\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "in handle", site: "handle_errors {\n handle {\n file_server\n }\n}", leaks: true, warns: "file_server"},
		{name: "in route and handle_path", site: "handle_errors {\n route {\n handle_path /* {\n reverse_proxy $ORIGIN\n }\n }\n}", leaks: true, warns: "reverse_proxy"},
		{name: "for our status", site: "handle_errors 403 {\n reverse_proxy $ORIGIN\n}", leaks: true, warns: "reverse_proxy"},
		{name: "for all 4xx", site: "handle_errors 4xx 5xx {\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "for a status of one's own", guard: "robots_guard enforce {\n status 404\n}", site: "handle_errors 404 {\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "an expression", site: "handle_errors {\n @denied expression `{err.status_code} == 403`\n reverse_proxy @denied $ORIGIN\n}", leaks: true, warns: "reverse_proxy"},
		{name: "vars", site: "handle_errors {\n @denied vars {err.status_code} 401 403\n reverse_proxy @denied $ORIGIN\n}", leaks: true, warns: "reverse_proxy"},
		{name: "not another status", site: "handle_errors {\n @other not expression `{err.status_code} == 404`\n handle @other {\n file_server\n }\n}", leaks: true, warns: "file_server"},
		{name: "after what is for another status", site: "handle_errors 404 {\n respond gone\n}\nhandle_errors {\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "for a path", site: "handle_errors {\n @private path /private/*\n file_server @private\n}", leaks: true, warns: "file_server"},
		{name: "unless a header", site: "handle_errors {\n @json header Accept *json*\n handle @json {\n respond \"{}\"\n }\n handle {\n file_server\n }\n}", leaks: true, warns: "file_server"},
		{name: "a rewrite of a part", site: "handle_errors {\n @public path /public/*\n rewrite @public /403.html\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "a rewrite to the same", site: "handle_errors {\n rewrite * {path}\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "a rewrite of the query", site: "handle_errors {\n rewrite * ?error={err.status_code}\n reverse_proxy $ORIGIN\n}", leaks: true, warns: "reverse_proxy"},
		{name: "a page for another status", site: "handle_errors {\n @missing expression `{err.status_code} == 404`\n rewrite @missing /403.html\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "try_files", site: "handle_errors {\n try_files {path} /403.html\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "try_files that are missing", site: "handle_errors {\n try_files /{err.status_code}.htm /missing.html\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "a file matcher of what is missing", site: "handle_errors {\n @page file /missing.html\n rewrite @page {file_match.relative}\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "a proxy's own rewrite of the prefix", site: "handle_errors {\n reverse_proxy $ORIGIN {\n method GET\n }\n}", leaks: true, warns: "reverse_proxy"},
		{name: "php_fastcgi, were there any", site: "handle_errors {\n php_fastcgi 127.0.0.1:1\n}", warns: "reverse_proxy"},
		{name: "php_fastcgi after a rewrite to what answers all pages", site: "handle_errors {\n rewrite * /index.php?error={err.status_code}\n php_fastcgi 127.0.0.1:1\n}", warns: "php_fastcgi"},
		{name: "a named route", sites: "&(errors) {\n file_server\n}", site: "handle_errors {\n invoke errors\n}", leaks: true, warns: "file_server"},
		{name: "an error in on_violation", guard: "robots_guard enforce {\n on_violation {\n error 410\n }\n}", site: "handle_errors 410 {\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "other sites beside", sites: "http://b.test:$PORT {\n respond b\n handle_errors {\n respond \"error page\"\n }\n}", site: "handle_errors {\n file_server\n}", leaks: true, warns: "file_server"},
		{name: "an intercept around the guard", guard: "route {\n intercept {\n @denied status 403\n handle_response @denied {\n file_server\n }\n }\n robots_guard enforce\n}", leaks: true, warns: "file_server", inside: "intercept"},
		{name: "an intercept within", site: "handle_errors {\n intercept {\n @denied status 403\n handle_response @denied {\n file_server\n }\n }\n respond {err.message} 403\n}", leaks: true, warns: "file_server"},

		// What does not.
		{name: "none"},
		{name: "respond", site: "handle_errors {\n respond \"{err.status_code} {err.message}\"\n}"},
		{name: "a rewrite to the status", site: "handle_errors {\n rewrite * /{err.status_code}.html\n file_server\n}"},
		{name: "a rewrite and another root", site: "handle_errors {\n root * $ROOT/errors\n rewrite * /{err.status_code}.html\n file_server\n}"},
		{name: "a rewrite with templates", site: "handle_errors {\n rewrite * /error.html\n templates\n file_server\n}"},
		{name: "a rewrite and a proxy", site: "handle_errors {\n rewrite * /{err.status_code}\n reverse_proxy $ORIGIN\n}"},
		{name: "a proxy that rewrites", site: "handle_errors {\n reverse_proxy $ORIGIN {\n rewrite /error\n }\n}"},
		{name: "for another status", site: "handle_errors 404 {\n file_server\n}"},
		{name: "for other statuses", site: "handle_errors 404 410 5xx {\n reverse_proxy $ORIGIN\n}"},
		{name: "an expression for another status", site: "handle_errors {\n @gone expression `{err.status_code} in [404, 410]`\n handle @gone {\n file_server\n }\n}"},
		{name: "an expression for another status and a path", site: "handle_errors {\n @gone expression `{err.status_code} == 404 && path('/private/*')`\n handle @gone {\n file_server\n }\n}"},
		{name: "ours in monitor mode", guard: "robots_guard monitor", leaks: true, site: "handle_errors {\n file_server\n}"},
		{name: "ours is answered before", site: "handle_errors {\n @denied expression `{err.status_code} == 403`\n respond @denied {err.message}\n reverse_proxy $ORIGIN\n}"},
		{name: "the verdict is answered before", site: "handle_errors {\n @robots vars {http.robots_guard.action} blocked\n respond @robots {err.message} 403\n reverse_proxy $ORIGIN\n}"},
		{name: "the matcher answers before", site: "handle_errors {\n @robots robots_disallowed\n handle @robots {\n respond {err.message} 403\n }\n handle {\n reverse_proxy $ORIGIN\n }\n}"},
		{name: "an expression with the matcher answers before", site: "handle_errors {\n @robots expression `{http.robots_guard.verdict} == 'disallowed'`\n handle @robots {\n respond {err.message} 403\n }\n handle {\n reverse_proxy $ORIGIN\n }\n}"},
		{name: "try_files that are there", site: "handle_errors {\n try_files /{err.status_code}.html /error.html\n file_server\n}"},
		{name: "a file matcher of what is there", site: "handle_errors {\n @page file /errors/{err.status_code}.html /error.html\n rewrite @page {file_match.relative}\n file_server\n}"},
		{name: "a file matcher in handle", site: "handle_errors {\n root * $ROOT/pages\n @page file /{err.status_code}.html /sorry.html\n handle @page {\n rewrite * {file_match.relative}\n file_server\n }\n respond {err.message}\n}"},
		{name: "a file matcher that fails", site: "handle_errors {\n try_files /missing.html =404\n file_server\n}"},
		{name: "redir", site: "handle_errors {\n redir https://example.com/sorry\n}"},
		{name: "another error", site: "handle_errors {\n error \"sorry\" 500\n}"},
		{name: "php_fastcgi after a rewrite", site: "handle_errors {\n rewrite * /error.php\n php_fastcgi 127.0.0.1:1\n}"},
		{name: "another site's", sites: "http://b.test:$PORT {\n root $ROOT\n file_server\n handle_errors {\n file_server\n }\n}"},
		{name: "a catch-all's", sites: "http://:$PORT {\n root $ROOT\n file_server\n handle_errors {\n file_server\n }\n}", site: "handle_errors {\n respond {err.message}\n}"},
		{name: "a wildcard's", sites: "http://*.a.test:$PORT {\n root $ROOT\n file_server\n handle_errors {\n file_server\n }\n}"},
		{name: "an answer of on_violation", guard: "robots_guard enforce {\n on_violation {\n header Cache-Control no-store\n header +Vary User-Agent\n respond \"{http.robots_guard.rule}\" 403\n }\n}", site: "handle_errors {\n reverse_proxy $ORIGIN\n}"},
		{name: "an error in on_violation that nothing handles", guard: "robots_guard enforce {\n on_violation {\n error 410\n }\n}", site: "handle_errors 403 404 {\n file_server\n}"},
		{name: "an intercept of other statuses", guard: "route {\n intercept {\n @broken status 5xx\n handle_response @broken {\n file_server\n }\n }\n robots_guard enforce\n}"},
		{name: "an intercept with a page of its own", guard: "route {\n intercept {\n @denied status 403\n handle_response @denied {\n rewrite * /403.html\n file_server\n }\n }\n robots_guard enforce\n}"},
		{name: "an intercept behind the guard", site: "intercept {\n @denied status 403\n handle_response @denied {\n file_server\n }\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.guard == "" {
				tc.guard = "robots_guard enforce"
			}
			s := harness.Serve(t, tc.sites+"\nhttp://a.test:$PORT {\n "+tc.guard+"\n root $ROOT\n "+tc.site+"\n file_server\n}", "$ROOT", root, "$ORIGIN", o.Address())
			if a := harness.Get(t, s.URL("/private/x.txt"), harness.Firefox); a.Status != 200 || a.Body != "SECRET" {
				t.Fatalf("a browser got %d %q", a.Status, a.Body)
			}
			s.Warm("/")
			a := harness.Get(t, s.URL("/private/x.txt"), harness.Bingbot)
			if leaks := strings.Contains(a.Body, "SECRET") || strings.Contains(a.Body, "origin /private/x.txt"); leaks != tc.leaks {
				t.Errorf("the crawler got %d %q", a.Status, a.Body)
			}
			var warned []string
			for _, line := range strings.Split(s.Logs.String(), "\n") {
				if strings.Contains(line, undoneMessage) {
					warned = append(warned, line)
				}
			}
			inside := tc.inside
			if inside == "" {
				inside = "handle_errors"
			}
			switch {
			case tc.warns == "" && len(warned) != 0:
				t.Errorf("a warning for nothing: %s", warned)
			case tc.warns != "" && (len(warned) != 1 || !strings.Contains(warned[0], `"site":"a.test"`) || !strings.Contains(warned[0], inside+" of this site answers the block by "+tc.warns)):
				t.Errorf("%d warnings: %s", len(warned), warned)
			}
		})
	}
}
