package logs

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// server is a ClickHouse server at a URL.
type server struct{ url string }

// startServer starts an empty server of the version in Debian (18.16).
func startServer(t *testing.T) *server {
	t.Helper()
	program := harness.Program(t, "clickhouse-server", "clickhouse-server", "REQUIRE_CLICKHOUSE")
	dir, port := t.TempDir(), harness.FreePort(t)
	config := filepath.Join(dir, "config.xml")
	harness.Write(t, config, fmt.Sprintf(`<yandex><logger><level>warning</level><console>1</console></logger>
<http_port>%s</http_port><listen_host>127.0.0.1</listen_host><path>%[2]s/data/</path><tmp_path>%[2]s/tmp/</tmp_path>
<mark_cache_size>1000000</mark_cache_size><default_profile>default</default_profile><default_database>default</default_database>
<users_config>%[2]s/config.xml</users_config><profiles><default/></profiles><quotas><default/></quotas>
<users><default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>`, port, dir))
	harness.Attend(t, exec.Command(program, "--config-file="+config)) // killed at the end, because its data is temporary
	s := &server{url: "http://127.0.0.1:" + port + "/"}
	harness.Eventually(t, "ClickHouse answers", func() bool {
		_, err := s.ask("SELECT 1", strings.NewReader(""))
		return err == nil
	})
	return s
}

// ask runs a statement, with the rows that it inserts.
func (s *server) ask(statement string, rows io.Reader) (string, error) {
	response, err := http.Post(s.url+"?query="+url.QueryEscape(statement), "", rows)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", statement, answer)
	}
	return string(answer), err
}

// run is like ask, but fails the test on an error.
func (s *server) run(t *testing.T, statement, rows string) string {
	t.Helper()
	answer, err := s.ask(statement, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
