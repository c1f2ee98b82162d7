package caddymodule_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/caddymodule"
	"github.com/robotsguard/caddy-robots-guard/caddymodule/robotstxt"
)

// TestConfigurationTypesAreExported checks that a program that embeds Caddy can construct each
// value of the configuration: no exported field has a type of a package in internal/.
func TestConfigurationTypesAreExported(t *testing.T) {
	const project = "github.com/robotsguard/caddy-robots-guard/"
	fields := 0
	seen := make(map[reflect.Type]bool)
	var check func(path string, of reflect.Type)
	check = func(path string, of reflect.Type) {
		if strings.HasPrefix(of.PkgPath(), project+"internal/") {
			t.Errorf("%s has the type %s of %s", path, of, of.PkgPath())
		}
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			check(path, of.Elem())
		case reflect.Map:
			check(path, of.Key())
			check(path, of.Elem())
		case reflect.Struct:
			if seen[of] || !strings.HasPrefix(of.PkgPath(), project) {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				if field := of.Field(i); field.IsExported() && field.Tag.Get("json") != "-" {
					fields++
					check(path+"."+field.Name, field.Type)
				}
			}
		}
	}
	for _, module := range []any{
		caddymodule.App{}, caddymodule.Handler{}, caddymodule.Dashboard{},
		caddymodule.MatchCrawler{}, caddymodule.MatchDisallowed{}, caddymodule.MatchPreference{},
		caddymodule.OperatorRanges{}, caddymodule.MatchRate{}, robotstxt.Handler{},
	} {
		of := reflect.TypeOf(module)
		check(of.String(), of)
	}
	if fields < 50 {
		t.Errorf("only %d fields were checked", fields)
	}
}
