package replay

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
	"unicode/utf8"
)

type schema = map[string]any

// readSchema reads a schema of https://github.com/xarf/xarf-spec at commit 37820da.
func readSchema(t *testing.T, name string) schema {
	t.Helper()
	text, err := os.ReadFile("testdata/xarf/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// checker validates values by the subset of JSON Schema that the schemas of XARF use.
type checker struct {
	core  schema
	known map[string]bool // the fields of objects in the schemas
}

// formats check the formats of strings.
var formats = map[string]func(string) bool{
	"uuid": regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString,
	"date-time": func(s string) bool {
		_, err := time.Parse(time.RFC3339Nano, s)
		return err == nil
	},
	"email": func(s string) bool {
		a, err := mail.ParseAddress(s)
		return err == nil && a.Name == ""
	},
	"hostname": regexp.MustCompile(`^([a-z0-9-]+\.)*[a-z0-9-]+$`).MatchString,
}

// check returns the errors of a value. root is the file of the schema.
func (c *checker) check(at string, root, s schema, value any) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	switch ref := s["$ref"]; ref {
	case nil:
	case "../xarf-core.json":
		return c.check(at, c.core, c.core, value)
	default:
		name := ref.(string)[len("#/$defs/"):]
		return c.check(at, root, root["$defs"].(schema)[name].(schema), value)
	}
	for _, part := range list(s["allOf"]) {
		wrong = append(wrong, c.check(at, root, part.(schema), value)...)
	}
	if want, ok := s["const"]; ok && value != want {
		say("%v is not %v", value, want)
	}
	if words := list(s["enum"]); words != nil && !slices.Contains(words, value) {
		say("%v is none of %v", value, words)
	}
	switch value := value.(type) {
	case map[string]any:
		properties, _ := s["properties"].(schema)
		for _, name := range list(s["required"]) {
			if _, ok := value[name.(string)]; !ok {
				say("%s is missing", name)
			}
		}
		for name, field := range value {
			if of, ok := properties[name].(schema); ok {
				c.known[name] = true
				wrong = append(wrong, c.check(at+"."+name, root, of, field)...)
			} else if s["additionalProperties"] == false {
				say("there is no field %s", name)
			}
		}
		return append(wrong, c.typed(at, s, "object")...)
	case []any:
		if most, ok := s["maxItems"].(float64); ok && len(value) > int(most) {
			say("%d items", len(value))
		}
		for i, item := range value {
			wrong = append(wrong, c.check(fmt.Sprintf("%s[%d]", at, i), root, s["items"].(schema), item)...)
		}
		return append(wrong, c.typed(at, s, "array")...)
	case string:
		if pattern, ok := s["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(value) {
			say("%q does not match %s", value, pattern)
		}
		if most, ok := s["maxLength"].(float64); ok && utf8.RuneCountInString(value) > int(most) {
			say("longer than %v", most)
		}
		if format, ok := s["format"].(string); ok && !formats[format](value) {
			say("%q is no %s", value, format)
		}
		return append(wrong, c.typed(at, s, "string")...)
	case float64:
		if least, ok := s["minimum"].(float64); ok && value < least {
			say("%v is too low", value)
		}
		if most, ok := s["maximum"].(float64); ok && value > most {
			say("%v is too high", value)
		}
		if value == float64(int64(value)) {
			return append(wrong, c.typed(at, s, "integer", "number")...)
		}
		return append(wrong, c.typed(at, s, "number")...)
	case bool:
		return append(wrong, c.typed(at, s, "boolean")...)
	}
	say("%v has no type of a schema", value)
	return wrong
}

// typed returns an error if a schema does not allow any of these types.
func (c *checker) typed(at string, s schema, types ...string) []string {
	want, ok := s["type"].(string)
	if !ok || slices.Contains(types, want) {
		return nil
	}
	return []string{fmt.Sprintf("%s: is %s, want %s", at, types[0], want)}
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}
