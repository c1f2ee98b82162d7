package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/netip"
	"strings"

	nethtml "golang.org/x/net/html"
)

// maxObjects is the maximum number of braces in an element at which a JSON object is parsed.
const maxObjects = 100

// parseHTML returns the prefixes in the JSON lists that a web page shows in its pre, code and
// script elements. A JSON list is an object with an array of [listFormats], and can stand between
// lines of a script. The JSON may be HTML-escaped once or twice. Other text is ignored, because a
// page can show the address of the client.
func parseHTML(data []byte) (prefixes []netip.Prefix, err error) {
	found := false
	for _, text := range codeElementTexts(data) {
		for _, list := range findLists(text) {
			more, err := parseJSON(list)
			if err != nil {
				return nil, fmt.Errorf("in the page: %w", err)
			}
			found, prefixes = true, append(prefixes, more...)
		}
	}
	if !found {
		return nil, errors.New(`web page without an address list in its pre, code or script elements, such as {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}`)
	}
	return prefixes, nil
}

// codeElementTexts returns the text of each outermost pre, code and script element of a page.
func codeElementTexts(data []byte) (texts []string) {
	z := nethtml.NewTokenizer(bytes.NewReader(data))
	z.SetMaxBuf(MaxListBytes)
	var text strings.Builder
	within, depth := "", 0 // These are the open outermost element and its nesting depth.
	end := func() {
		if text.Len() > 0 {
			texts = append(texts, text.String())
		}
		text.Reset()
		within, depth = "", 0
	}
	for {
		switch z.Next() {
		case nethtml.ErrorToken: // The input has ended, perhaps within an open element.
			end()
			return texts
		case nethtml.TextToken:
			if within != "" {
				text.Write(z.Text())
			}
		case nethtml.StartTagToken:
			tag, _ := z.TagName()
			switch name := string(tag); {
			case within == "" && (name == "pre" || name == "code" || name == "script"):
				within, depth = name, 1
			case within == name:
				depth++
			}
		case nethtml.EndTagToken:
			if tag, _ := z.TagName(); within != "" && string(tag) == within {
				if depth--; depth == 0 {
					end()
				}
			}
		}
	}
}

// findLists returns the JSON lists in the text of an element. If the text contains none, findLists
// unescapes HTML in the text and tries again.
func findLists(text string) []json.RawMessage {
	lists := findListObjects(text)
	if len(lists) == 0 && strings.Contains(text, "&") {
		lists = findListObjects(html.UnescapeString(text))
	}
	return lists
}

// findListObjects returns the outermost JSON objects in a text for which isList is true.
func findListObjects(text string) (lists []json.RawMessage) {
	for range maxObjects {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			break
		}
		text = text[start:]
		var object json.RawMessage
		decoder := json.NewDecoder(strings.NewReader(text))
		if decoder.Decode(&object) != nil {
			text = text[1:]
			continue
		}
		if isList(object) {
			lists = append(lists, object)
		}
		text = text[decoder.InputOffset():]
	}
	return lists
}

// isList reports whether a JSON object is an address list, with an array in one of the
// [listFormats].
func isList(object json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	for _, s := range listFormats {
		var entries []map[string]json.RawMessage
		if json.Unmarshal(fields[s.array], &entries) != nil || len(entries) == 0 {
			continue
		}
		for _, name := range s.members {
			if _, ok := entries[0][name]; ok {
				return true
			}
		}
	}
	return false
}
