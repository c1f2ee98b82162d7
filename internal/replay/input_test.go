package replay

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMalformed counts malformed lines and shows some.
func TestMalformed(t *testing.T) {
	t.Parallel()
	good := combined(noon, "GET /x", googlebot)
	log := good + "oops \x1b[2J\xff\n" + strings.Repeat(good, 3) + strings.Repeat("x", 5000) + "\n" + good + strings.Repeat("cut off\n", 10) + good + `192.0.2.1 - - [21/N`
	r := replayed(t, log, func(o *Options) { o.maxLine = 1000 })
	if r.Lines != 19 || r.Malformed != 13 || r.Requests != 6 || r.Logs[0].Lines != 19 || r.Logs[0].Malformed != 13 {
		t.Errorf("%d lines, %d malformed, %d requests, %+v", r.Lines, r.Malformed, r.Requests, r.Logs[0])
	}
	var lines []int
	for _, e := range r.Examples {
		lines = append(lines, e.Line)
	}
	if fmt.Sprint(lines) != "[2 6 8 9 10]" || r.Examples[1].Problem != "longer than 512 KiB" || r.Examples[0].Text != "oops \x1b[2J\ufffd" {
		t.Errorf("examples %+v", r.Examples)
	}
	var table bytes.Buffer
	if r.WriteText(&table); !strings.Contains(table.String(), "standard input:2: ") || strings.Contains(table.String(), "\x1b") {
		t.Error(table.String())
	}
}

// TestByteOrderMark reads a log with a byte order mark, as Windows programs write. Its first line
// is read like all others.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"combined": combined(noon, "GET /x", googlebot) + combined(noon, "GET /y", googlebot),
		"json":     `{"ts":1795262400.5,"msg":"handled request","request":{"method":"GET","host":"a.test","uri":"/x","headers":{"User-Agent":["` + googlebot + `"]}},"status":200}` + "\n",
	} {
		plain, marked := replayed(t, log, nil), replayed(t, "\ufeff"+log, nil)
		if plain.Malformed != 0 || marked.Malformed != plain.Malformed || marked.Requests != plain.Requests || marked.Lines != plain.Lines {
			t.Errorf("%s: %d malformed of %d lines with %d requests, want %d of %d with %d", name,
				marked.Malformed, marked.Lines, marked.Requests, plain.Malformed, plain.Lines, plain.Requests)
		}
	}
}

// TestLogsThatCannotBeRead expects advice in each error.
func TestLogsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	log := write("good.log", combined(noon, "GET /x", googlebot))
	for _, tc := range []struct {
		name string
		logs []string
		want string
	}{
		{"missing", []string{filepath.Join(dir, "no.log")}, "no.log does not exist"},
		{"a directory", []string{dir}, "is a directory; give its files, for example " + filepath.Join(dir, "access.log*")},
		{"no match", []string{filepath.Join(dir, "no*.log")}, "no file matches"},
		{"a bad pattern", []string{filepath.Join(dir, "[")}, "is invalid"},
		{"twice", []string{log, filepath.Join(dir, "good*")}, "is given twice"},
		{"binary", []string{write("binary", "\x7fELF\x00\x00\x00\x00abc")}, "is a binary file, not a log"},
		{"UTF-16", []string{write("utf16", "\xff\xfe1\x009\x002\x00.\x00")}, "utf16 is UTF-16; save the log as UTF-8"},
		{"UTF-16, the other way", []string{write("utf16be", "\xfe\xff\x001\x009\x002")}, "utf16be is UTF-16; save the log as UTF-8"},
		{"prose", []string{write("prose", "Lorem ipsum\ndolor\n")}, `prose: line 1: no known log format; audit reads Combined, Common, and the JSON of Caddy, nginx and Traefik; have the server write one of these: "Lorem ipsum"`},
		{"bzip2", []string{write("a.bz2", "BZh91AY&SY")}, "bzcat"},
		{"xz", []string{write("a.xz", "\xfd7zXZ\x00\x00")}, "xzcat"},
		{"zip", []string{write("a.zip", "PK\x03\x04abc")}, "zip archive"},
		{"a broken gzip header", []string{write("a.gz", "\x1f\x8b\x00\x00\x00\x00")}, "a.gz cannot be read"},
		{"none", nil, "no log given"},
	} {
		r, err := Run(context.Background(), Options{Logs: tc.logs, Versions: oneVersion(rules)})
		if r != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	r, err := Run(context.Background(), Options{Logs: []string{write("empty.log", ""), log}, Versions: oneVersion(rules)})
	if err != nil || r.Requests != 1 || len(r.Logs) != 2 || !strings.Contains(fmt.Sprint(r.Notes), "empty.log is empty.") {
		t.Errorf("empty: %v, %+v", err, r)
	}
	whole := compressed(t, combinedLog(1, 3000), 1)
	r, err = Run(context.Background(), Options{Logs: []string{write("cut.gz", string(whole[:len(whole)/2])), log}, Versions: oneVersion(rules)})
	if err == nil || r == nil || !strings.Contains(err.Error(), "cut.gz cannot be read to the end: its gzip data is cut off") || strings.Count(err.Error(), "EOF") != 1 || r.Lines < 100 || r.Incomplete == "" || r.Logs[1].Lines+r.Logs[0].Lines != int(r.Lines) {
		t.Errorf("cut: %v, %+v", err, r)
	}
	for name, short := range map[string]string{"header.gz": string(whole[:10]), "start.gz": string(whole[:15]), "frame.zst": "\x28\xb5\x2f\xfd"} {
		r, err = Run(context.Background(), Options{Logs: []string{write(name, short), log}, Versions: oneVersion(rules)})
		if err == nil || r == nil || !strings.Contains(err.Error(), name+" cannot be read to the end: its ") || !strings.Contains(err.Error(), "data is cut off") || r.Requests != 1 || r.Logs[0].Empty || len(r.Notes) > 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
		r, err = Run(context.Background(), Options{Logs: []string{"-"}, Stdin: strings.NewReader(short), Versions: oneVersion(rules)})
		if err == nil || r == nil || !strings.Contains(err.Error(), "standard input cannot be read to the end: its ") {
			t.Errorf("%s on standard input: %v, %+v", name, err, r)
		}
	}
	r = replayed(t, string(compressed(t, nil, 1)), nil)
	if r.Lines != 0 || fmt.Sprint(r.Notes) != "[standard input is empty.]" {
		t.Errorf("nothing, compressed: %+v", r)
	}
	r = replayed(t, "\x00\x00\x00\x00"+combined(noon, "GET /private/x", googlebot)+combined(noon, "GET /x", googlebot), nil)
	if r.Lines != 2 || r.Requests != 2 {
		t.Errorf("NUL bytes: %+v", r)
	}
	r = replayed(t, "", nil)
	if r.Lines != 0 || fmt.Sprint(r.Notes) != "[standard input is empty.]" {
		t.Errorf("nothing on standard input: %+v", r)
	}
	r = replayed(t, `192.0.2.1 - - [21/Nov/2026:12:00:00 +0000] "GET /private/x HTTP/1.1" 200 5`, nil)
	if !strings.Contains(fmt.Sprint(r.Notes), "has no User-Agents (format common)") || !strings.HasSuffix(r.Summary(), "No line has a User-Agent, so nothing was judged.") {
		t.Errorf("notes %q", r.Notes)
	}
}
