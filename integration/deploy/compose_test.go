package deploy

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// project loads files as "docker compose config" does.
func project(t *testing.T, environment []string, files ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions(files, cli.WithName("test"), cli.WithEnv(environment), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(context.Background())
}

func TestCompose(t *testing.T) {
	const hash = "$2a$14$PagGKKQXIZPOMWZfR0.Wj.S.Ai23lgrrdTOiRTnzBjFIGempsLydK"
	site, observed := folder+"compose.yaml", folder+"compose.observed.yaml"
	for _, c := range []struct{ files, services []string }{
		{[]string{site}, []string{"app", "caddy"}},
		{[]string{site, observed}, []string{"app", "caddy", "grafana", "prometheus"}},
	} {
		p, err := project(t, []string{"DASHBOARD_HASH=" + hash}, c.files...)
		if err != nil {
			t.Errorf("%v: %v", c.files, err)
			continue
		}
		if got := p.ServiceNames(); !slices.Equal(got, c.services) {
			t.Errorf("%v: services %v, want %v", c.files, got, c.services)
		}
		if got := p.Services["caddy"].Environment["DASHBOARD_HASH"]; got == nil || *got != hash {
			t.Errorf("%v: the hash is %v", c.files, got)
		}
	}
	if _, err := project(t, nil, site); err == nil {
		t.Error("no error without a password for the dashboard")
	}
	name := filepath.Join(t.TempDir(), "compose.yaml")
	if err := os.WriteFile(name, []byte(broken(t, file(t, "compose.yaml"), "restart:", "restrat:")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := project(t, []string{"DASHBOARD_HASH=" + hash}, name); err == nil {
		t.Error("no error for an unknown field")
	}
}
