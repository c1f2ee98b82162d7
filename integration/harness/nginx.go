package harness

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Nginx returns a command that runs nginx with its files in dir. http is the content of
// the http block of its configuration.
func Nginx(t testing.TB, dir, http string) *exec.Cmd {
	t.Helper()
	config := filepath.Join(dir, "nginx.conf")
	Write(t, config, strings.NewReplacer("$DIR", dir, "$HTTP", http).Replace(`daemon off;
master_process off;
pid $DIR/pid;
error_log $DIR/error.log;
events {}
http {
	access_log off;
	client_body_temp_path $DIR/body;
	proxy_temp_path $DIR/proxy;
	fastcgi_temp_path $DIR/fastcgi;
	uwsgi_temp_path $DIR/uwsgi;
	scgi_temp_path $DIR/scgi;
	large_client_header_buffers 4 32k;
	$HTTP
}
`))
	return exec.Command(Program(t, "nginx", "nginx", "REQUIRE_PROXIES"), "-e", filepath.Join(dir, "error.log"), "-c", config)
}
