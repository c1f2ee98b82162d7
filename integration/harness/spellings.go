package harness

import (
	"fmt"
	"strings"
)

// Spellings returns request targets that some server may treat as /private/x.txt. $PORT
// in a target stands for a port.
func Spellings() []string {
	const plain = "/private/x.txt"
	var all []string
	add := func(targets ...string) { all = append(all, targets...) }
	add(plain)
	for i := range len(plain) {
		for _, format := range []string{"%%%02X", "%%%02x", "%%25%02X"} {
			if i == 0 {
				continue // the target has to begin with a slash
			}
			add(plain[:i] + fmt.Sprintf(format, plain[i]) + plain[i+1:])
		}
	}
	everything := "/"
	for _, c := range []byte(plain[1:]) {
		everything += fmt.Sprintf("%%%02x", c)
	}
	add(everything)
	for _, slash := range []string{"//", "///", "/./", "/.//", "/%2e/", "/%2E/", "/x/../", "/x/%2e%2e/", "/x/.%2e/",
		"/x/%2E./", "/x/y/../../", "/../", "/../../", "/%2e%2e/", "/x//..//", "/.%2f", "/%2f", "/%2F%2F", "/x%2f..%2f", "/x%2f%2e%2e%2f",
		"/public%2f..%2f", "/public/..%2f", "/public/%2e%2e%2f", "%2f", "%2F", "\\", "/\\", "%5c", "%5C", "/%5c", "/x\\..\\", "/x%5c..%5c",
		"/public/..", "/public/..;/", ";/", ";x=y/", "/;/", "/%00/", "%00/", "/%20/", "%20/", "/+/", "/%e2%80%8b/"} {
		add(slash+"private/x.txt", "/private"+slash+"x.txt", slash+"private"+slash+"x.txt")
	}
	for _, end := range []string{"?", "?a=b", "?/../..", "?x=/public/", ";x", "%3Fa=b", "%23", "#f", "/", "/.", "/..", "/../x.txt", "%00", "%20", ".", "?a?b", "%3f"} {
		add(plain + end)
	}
	for _, authority := range []string{"http://a.test", "http://A.TEST", "http://a.test:$PORT", "http://elsewhere.test", "http://user@a.test", "https://a.test"} {
		add(authority+plain, authority+"//private/x.txt", authority+"/%70rivate/x.txt")
	}
	return all
}

// OddSpellings returns more unusual request targets that some server may treat as
// /private/x.txt, such as overlong or repeated encodings.
func OddSpellings() []string {
	const plain = "/private/x.txt"
	var all []string
	add := func(targets ...string) { all = append(all, targets...) }
	for i := 1; i < len(plain); i++ {
		c := plain[i]
		for _, spelled := range []string{
			fmt.Sprintf("%%2525%02X", c),                  // three times encoded
			fmt.Sprintf("%%c%x%%%02x", c>>6, 0x80|c&0x3f), // overlong, two bytes
			fmt.Sprintf("%%e0%%8%x%%%02x", c>>6, 0x80|c&0x3f),
			fmt.Sprintf("%%f0%%80%%8%x%%%02x", c>>6, 0x80|c&0x3f),
			fmt.Sprintf("%c%c", 0xc0|c>>6, 0x80|c&0x3f),
			fmt.Sprintf("%%u00%02x", c), // as in old versions of IIS
			fmt.Sprintf("%%%02x%%", c),
			"%" + string(c),
			"&#" + fmt.Sprint(c) + ";",
			fmt.Sprintf(`\x%02x`, c),
			string(rune(c) + 0xfee0), // its full-width form
		} {
			add(plain[:i] + spelled + plain[i+1:])
		}
	}
	for _, slash := range []string{"%e2%88%95", "%e2%81%84", "%ef%bc%8f", "%ef%bc%bc", "%c0%af", "%c1%9c", "%25%32%66", "%u2215", "%09/", "/%09", "%0d%0a/",
		"%0a", "/%7f", ":/", "/:", "/~/", "/*/", "/$/", "/'/", "/,/", "/%3b/", "/.;/", "/..;x/..", "/%252e/", "/%252e%252e/private/", "/...", "/.../", "/%2e%2e%2e/"} {
		add(slash+"private/x.txt", "/private"+slash+"x.txt")
	}
	for _, end := range []string{"::$DATA", ":$DATA", "%20%20", "...", "~", "~1", ".bak", "%00.html", "%0a", "%0d%0aX:y", "/y", "/index.html", ";/y", "//", "/.//", "/%2e", "/%2e%2e%2fx.txt", "%3b", "%2523", "\\", "%5c", "%5c..%5cx.txt", "&a=b", "??", "?#", "%3f/.."} {
		add(plain + end)
	}
	add("/PRIVATE/x.txt", "/private/X.TXT", "/Private/x.txt", "/PRIVAT~1/x.txt", "/private./x.txt", "/private../x.txt", "/./private/./x.txt", "/..../private/x.txt",
		"/public/%2e%2e;/private/x.txt", "/public/..%00/private/x.txt", "/public/..%0d/../private/x.txt", "/public/%2e./%2e/private//x.txt",
		"/public/y.txt/../../private/x.txt", "/public/y.txt%2f..%2f..%2fprivate%2fx.txt", "/public/y.txt/%2e%2e/%2e%2e/private/x.txt",
		"/robots.txt/../private/x.txt", "/robots.txt%2f..%2fprivate/x.txt", "/robots.txt?/../private/x.txt", "/robots.txt%3f/../private/x.txt", "/robots.txt;/../private/x.txt",
		"/.well-known/acme-challenge/../../private/x.txt", "/.well-known/acme-challenge/x%2f..%2f..%2f..%2fprivate%2fx.txt", "/.well-known/acme-challenge/..%5c..%5cprivate%5cx.txt",
		"/"+strings.Repeat("a/../", 500)+"private/x.txt", "/"+strings.Repeat("./", 1000)+"private/x.txt", strings.Repeat("/", 3000)+"private/x.txt",
		"http:/private/x.txt", "http:private/x.txt", "http:///private/x.txt", "x:/private/x.txt", "x:private/x.txt", "http://%61.test/private/x.txt", "http://a.test./private/x.txt",
		"http://a.test:/private/x.txt", "http://a.test:1/private/x.txt", "http://a.test;/private/x.txt", "http://[::1]/private/x.txt", `http://a.test\private/x.txt`, `http:\\a.test\private\x.txt`,
		"http://a.test/public/..//private/x.txt", "http://a.test/x?://b.test/public/", "http://a.test/private/x.txt?://a.test/public/y.txt", "a:b://c.test/private/x.txt",
		"ftp://a.test/private/x.txt", "HTTP://a.test/private/x.txt", "//a.test/private/x.txt", "///a.test/../private/x.txt", "*", "*/private/x.txt")
	return all
}
