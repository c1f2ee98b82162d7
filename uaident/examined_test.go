package uaident

import (
	"fmt"
	"strings"
	"testing"
)

func TestSeen(t *testing.T) {
	for _, tc := range []struct{ userAgent, want string }{
		{"", ""},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", ""},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
			`Googlebot name [after "compatible;"], http://www.google.com/bot.html contact []`},
		{"Mozilla/5.0 (compatible; FooBot/1.0)", `FooBot unknown [after "compatible;" spelled like a robot's name]`},
		{"Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)",
			"Sogou web spider name [], http://www.sogou.com/docs/help/webmasters.htm#07 contact []"},
		{"Browser like Twitterbot", `Twitterbot name [after "like"]`},
	} {
		var got []string
		for _, w := range Default().ExaminedWords(tc.userAgent) {
			got = append(got, fmt.Sprint(w.Text, " ", w.Kind, " ", w.Notes))
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%q: %s, want %s", tc.userAgent, strings.Join(got, ", "), tc.want)
		}
	}
}
