package botauth

import (
	"strings"
	"testing"
)

func TestSignatureAgent(t *testing.T) {
	const whole, first = `"signature-agent"`, `"signature-agent";key="sig1"`
	for _, test := range []struct {
		name    string
		agent   string // the field, several lines separated by |
		covered string // components in addition to @authority, as component=value, separated by |
		want    Reason
	}{
		{"a Dictionary", `sig1="https://bot.example"`, first + `="https://bot.example"`, Verified},
		{"type=directory", `sig1="https://bot.example";type=directory`, first + `="https://bot.example";type=directory`, Verified},
		{"a slash", `sig1="https://bot.example/"`, first + `="https://bot.example/"`, Verified},
		{"the URL of the directory", `sig1="https://bot.example/.well-known/http-message-signatures-directory"`,
			first + `="https://bot.example/.well-known/http-message-signatures-directory"`, Verified},
		{"below the directory", `sig1="https://bot.example/.well-known/http-message-signatures-directory/x"`,
			first + `="https://bot.example/.well-known/http-message-signatures-directory/x"`, UnsupportedAgent},
		{"the directory in another spelling", `sig1="https://bot.example/.well-known/http%2Dmessage-signatures-directory"`,
			first + `="https://bot.example/.well-known/http%2Dmessage-signatures-directory"`, UnsupportedAgent},
		{"spelling", `sig1="https://BOT.example:443"`, first + `="https://BOT.example:443"`, Verified},
		{"insignificant spaces", `  sig1="https://bot.example"  ;type=directory`, first + `="https://bot.example";type=directory`, Malformed},
		{"two lines", `other="https://x.example"|sig1="https://bot.example"`, first + `="https://bot.example"`, Verified},
		{"another label, changed by a proxy", `a="https://bot.example"`, `"signature-agent";key="a"="https://bot.example"`, Verified},
		{"the whole field", `sig1="https://bot.example"`, whole + `=sig1="https://bot.example"`, Verified},
		{"the whole field with several members", `a="https://x.example", sig1="https://bot.example"`, whole + `=a="https://x.example", sig1="https://bot.example"`, Verified},
		{"the whole field without its label", `a="https://x.example", b="https://bot.example"`, whole + `=a="https://x.example", b="https://bot.example"`, NoAgent},
		{"another signature's member as well", `a="https://x.example", sig1="https://bot.example"`,
			first + `="https://bot.example"|"signature-agent";key="a"="https://x.example"`, Verified},
		{"two members without its label", `a="https://bot.example", b="https://bot.example"`,
			`"signature-agent";key="a"="https://bot.example"|"signature-agent";key="b"="https://bot.example"`, NoAgent},
		{"a member that is not covered", `a="https://x.example", sig1="https://bot.example"`, `"signature-agent";key="a"="https://x.example"`, AgentNotAllowed},
		{"a String", `"https://bot.example"`, whole + `="https://bot.example"`, Verified},
		{"a member of a String", `"https://bot.example"`, first + `="https://bot.example"`, Malformed},
		{"no field", ``, ``, NoAgent},
		{"a covered field that is missing", ``, whole + `=`, ComponentAbsent},
		{"a covered member of a missing field", ``, first + `=`, ComponentAbsent},
		{"no such member", `a="https://bot.example"`, first + `=`, ComponentAbsent},
		{"not covered", `sig1="https://bot.example"`, ``, NotCovered},
		{"with a parameter", `sig1="https://bot.example"`, whole + `;sf=sig1="https://bot.example"`, UnsupportedComponent},
		{"another agent", `sig1="https://x.example"`, first + `="https://x.example"`, AgentNotAllowed},
		{"another port", `sig1="https://bot.example:8443"`, first + `="https://bot.example:8443"`, AgentNotAllowed},
		{"an agent's subdomain", `sig1="https://a.bot.example"`, first + `="https://a.bot.example"`, AgentNotAllowed},
		{"http", `sig1="http://bot.example"`, first + `="http://bot.example"`, UnsupportedAgent},
		{"a path", `sig1="https://bot.example/x"`, first + `="https://bot.example/x"`, UnsupportedAgent},
		{"a query", `sig1="https://bot.example?x"`, first + `="https://bot.example?x"`, UnsupportedAgent},
		{"a fragment", `sig1="https://bot.example#"`, first + `="https://bot.example#"`, UnsupportedAgent},
		{"a user", `sig1="https://bot.example@x.example"`, first + `="https://bot.example@x.example"`, UnsupportedAgent},
		{"no host", `sig1="https://"`, first + `="https://"`, UnsupportedAgent},
		{"a bare host, as in architecture-01", `bot.example`, whole + `=bot.example`, UnsupportedAgent},
		{"a key set", `sig1="https://bot.example/k";type=jwks_uri`, first + `="https://bot.example/k";type=jwks_uri`, UnsupportedAgent},
		{"type as a String", `sig1="https://bot.example";type="directory"`, first + `="https://bot.example";type="directory"`, UnsupportedAgent},
		{"a data URL", `sig1="data:application/json,x"`, first + `="data:application/json,x"`, UnsupportedAgent},
		{"an Inner List", `sig1=("https://bot.example")`, first + `=("https://bot.example")`, UnsupportedAgent},
		{"a Token", `sig1=bot`, first + `=bot`, UnsupportedAgent},
		{"two Strings", `"https://bot.example"|"https://bot.example"`, whole + `="https://bot.example", "https://bot.example"`, Malformed},
		{"nonsense", `=`, whole + `==`, Malformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSigning()
			s.components, s.lines = s.components[:1], s.lines[:1]
			delete(s.request.Header, "Signature-Agent")
			if test.agent != "" {
				s.request.Header["Signature-Agent"] = strings.Split(test.agent, "|")
			}
			for covered := range strings.SplitSeq(test.covered, "|") {
				if covered == "" {
					continue
				}
				// The value begins after the last = outside of key="...".
				cut := strings.Index(covered, "=")
				if key := `;key="`; strings.Contains(covered, key) {
					end := strings.Index(covered, key) + len(key)
					cut = end + strings.Index(covered[end:], `"`) + 1
				}
				s.cover(covered[:cut], covered[cut+1:])
			}
			f := warm(t)
			got := f.Check(s.sign())
			expect(t, got, test.want)
			if test.want == AgentNotAllowed && got.Agent+got.Operator+got.KeyID != "" {
				t.Errorf("the result contains text from the client: %+v", got)
			}
		})
	}
}
