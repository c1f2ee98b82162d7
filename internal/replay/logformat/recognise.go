package logformat

import "bytes"

// knownFormats are the formats that [Recognise] tries.
var knownFormats = func() []*Format {
	names := []string{formatCaddy, formatCloudflare}
	for _, l := range laidOut {
		names = append(names, l.name)
	}
	formats := make([]*Format, len(names))
	for i, name := range names {
		f, err := Parse(name)
		if err != nil {
			panic(err)
		}
		formats[i] = f
	}
	return formats
}()

// sampleLines is how many lines decide which format a log has.
const sampleLines = 200

// Recognise tells the format of a log by its first lines: the one in which most
// of them can be read. It returns nil if it is none of those known.
func Recognise(head []byte) *Format {
	var lines [][]byte
	for line := range bytes.Lines(head) {
		if len(lines) == sampleLines {
			break
		}
		if line = TrimEnd(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		if fields, ok := bytes.CutPrefix(line, []byte(w3cFieldsPrefix)); ok {
			name := formatW3C
			if bytes.Contains(fields, []byte("x-edge-")) {
				name = formatCloudFront
			}
			f, _ := Parse(name)
			return f
		}
		if line[0] != '#' {
			break
		}
	}
	var best *Format
	most := 0
	for _, f := range knownFormats {
		p := f.Parser()
		if l, ok := p.(*layoutParser); ok {
			l.strict = true
		}
		n := 0
		var r Record
		for _, line := range lines {
			if what, _ := p.Parse(line, &r); what == Request && plausible(f, &r) {
				n++
			}
		}
		if n > most {
			most, best = n, f
		}
	}
	switch {
	case most > 0 && most*10 >= len(lines):
		return best
	case allOther(lines):
		return knownFormats[0] // what Caddy says before the first request
	}
	return nil
}

// allOther reports whether all lines are messages in JSON.
func allOther(lines [][]byte) bool {
	var p caddyParser
	var r Record
	for _, line := range lines {
		if what, _ := p.Parse(line, &r); what != Other {
			return false
		}
	}
	return len(lines) > 0
}

// plausible reports whether a record makes sense in a format that was not
// named: a host is not mistaken for an address, nor the other way round.
func plausible(f *Format, r *Record) bool {
	return f.layout == nil || !f.layout.has(hostField) || len(r.Client) > 0 && !bytes.Equal(r.Client, []byte("-"))
}
