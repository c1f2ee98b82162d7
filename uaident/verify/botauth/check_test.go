package botauth

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*signing)
		want   Reason
	}{
		{"as it should be", func(s *signing) {}, Verified},

		// Parameters.
		{"no tag", func(s *signing) { s.param("tag", "") }, NoSignature},
		{"other tag", func(s *signing) { s.param("tag", `"http-message-signatures-directory"`) }, NoSignature},
		{"tag in capitals", func(s *signing) { s.param("tag", `"Web-Bot-Auth"`) }, NoSignature},
		{"tag as a Token", func(s *signing) { s.param("tag", `web-bot-auth`) }, NoSignature},
		{"no created", func(s *signing) { s.param("created", "") }, MissingParameter},
		{"no expires", func(s *signing) { s.param("expires", "") }, MissingParameter},
		{"no keyid", func(s *signing) { s.param("keyid", "") }, MissingParameter},
		{"no alg", func(s *signing) { s.param("alg", "") }, Verified},
		{"no nonce", func(s *signing) { s.param("nonce", "") }, Verified},
		{"a parameter of somebody else's", func(s *signing) { s.param("x", "1.5") }, Verified},
		{"created is no Integer", func(s *signing) { s.param("created", `"1"`) }, Malformed},
		{"expires is a Date", func(s *signing) { s.param("expires", fmt.Sprintf("@%d", start.Add(time.Hour).Unix())) }, Malformed},
		{"keyid is a Token", func(s *signing) { s.param("keyid", "abc") }, Malformed},
		{"nonce is a Byte Sequence", func(s *signing) { s.param("nonce", ":AAAA:") }, Malformed},
		{"alg is a Token", func(s *signing) { s.param("alg", "ed25519") }, Malformed},
		{"alg is of another key", func(s *signing) { s.param("alg", `"ecdsa-p256-sha256"`) }, UnsupportedAlgorithm},
		{"alg is a shared secret", func(s *signing) { s.param("alg", `"hmac-sha256"`) }, UnsupportedAlgorithm},

		// Times.
		{"expires this second", func(s *signing) { s.created(start.Add(-time.Hour)); s.expires(start) }, Expired},
		{"expires in a second", func(s *signing) { s.created(start.Add(-time.Hour)); s.expires(start.Add(time.Second)) }, Verified},
		{"created within the skew", func(s *signing) { s.created(start.Add(time.Minute)) }, Verified},
		{"created beyond the skew", func(s *signing) { s.created(start.Add(61 * time.Second)) }, NotYetValid},
		{"lives a day", func(s *signing) { s.expires(start.Add(24 * time.Hour)) }, Verified},
		{"lives longer than a day", func(s *signing) { s.expires(start.Add(24*time.Hour + time.Second)) }, LifetimeTooLong},
		{"expires before it was created", func(s *signing) { s.expires(start.Add(-time.Second)) }, Malformed},
		{"the widest times", func(s *signing) { s.param("created", "-99999999999999"); s.param("expires", "999999999999999") }, LifetimeTooLong},

		// The key and what it signed.
		{"another key's signature", func(s *signing) { s.key = testKey("other") }, Mismatch},
		{"another key's keyid", func(s *signing) { s.param("keyid", fmt.Sprintf("%q", keyID(testKey("other")))) }, KeyUnknown},
		{"other host", func(s *signing) { s.request.Authority = "www.example.org" }, Mismatch},
		{"other port", func(s *signing) { s.request.Authority += ":8443" }, Mismatch},
		{"default port", func(s *signing) { s.request.Authority += ":443" }, Verified},
		{"another scheme's default port", func(s *signing) { s.request.Authority += ":80" }, Mismatch},
		{"what is not covered does not matter", func(s *signing) { s.request.Method, s.request.Target = "POST", "/else" }, Verified},

		// The components that are required.
		{"@authority not covered", func(s *signing) { s.components, s.lines = s.components[1:], s.lines[1:] }, NotCovered},
		{"@target-uri in its place", func(s *signing) {
			s.components[0], s.lines[0] = `"@target-uri"`, `"@target-uri": https://www.example.com/page?q=1`
		}, Verified},
		{"@authority of another message", func(s *signing) { s.components[0] = `"@authority";req` }, NotCovered},
		{"signature-agent not covered", func(s *signing) { s.components, s.lines = s.components[:1], s.lines[:1] }, NotCovered},
		{"nothing covered", func(s *signing) { s.components, s.lines = nil, nil }, NotCovered},

		// Components that are supported.
		{"all derived components", func(s *signing) {
			s.cover(`"@method"`, "GET")
			s.cover(`"@target-uri"`, "https://www.example.com/page?q=1")
			s.cover(`"@scheme"`, "https")
			s.cover(`"@request-target"`, "/page?q=1")
			s.cover(`"@path"`, "/page")
			s.cover(`"@query"`, "?q=1")
		}, Verified},
		{"no query", func(s *signing) { s.request.Target = "/page"; s.cover(`"@query"`, "?") }, Verified},
		{"an empty query", func(s *signing) { s.request.Target = "/page?"; s.cover(`"@query"`, "?") }, Verified},
		{"an absolute target", func(s *signing) {
			s.request.Target = "https://www.example.com?q=1"
			s.cover(`"@path"`, "/")
			s.cover(`"@query"`, "?q=1")
			s.cover(`"@target-uri"`, "https://www.example.com?q=1")
		}, Verified},
		{"a covered path that changed", func(s *signing) { s.cover(`"@path"`, "/page"); s.request.Target = "/Page?q=1" }, Mismatch},
		{"a covered method that changed", func(s *signing) { s.cover(`"@method"`, "GET"); s.request.Method = "HEAD" }, Mismatch},
		{"a field", func(s *signing) { s.cover(`"accept"`, "text/html") }, Verified},
		{"a field that changed", func(s *signing) { s.cover(`"accept"`, "text/html"); s.request.Header.Set("Accept", "*/*") }, Mismatch},
		{"a field of several lines", func(s *signing) {
			s.request.Header["X-Lines"] = []string{"  a, b\t", "", "c "}
			s.cover(`"x-lines"`, "a, b, , c")
		}, Verified},
		{"an empty field", func(s *signing) { s.request.Header["X-Empty"] = []string{""}; s.cover(`"x-empty"`, "") }, Verified},
		{"the Host field", func(s *signing) { s.cover(`"host"`, "www.example.com") }, Verified},
		{"a field that is not there", func(s *signing) { s.cover(`"x-absent"`, "") }, ComponentAbsent},
		{"a field with a line break", func(s *signing) { s.request.Header["X"] = []string{"a\n\"x-b\": c"}; s.cover(`"x"`, "a\n\"x-b\": c") }, Malformed},

		// Components that are not.
		{"@query-param", func(s *signing) { s.cover(`"@query-param";name="q"`, "1") }, UnsupportedComponent},
		{"@status", func(s *signing) { s.cover(`"@status"`, "200") }, UnsupportedComponent},
		{"sf", func(s *signing) { s.cover(`"accept";sf`, "text/html") }, UnsupportedComponent},
		{"bs", func(s *signing) { s.cover(`"accept";bs`, ":dGV4dC9odG1s:") }, UnsupportedComponent},
		{"key of another field", func(s *signing) { s.cover(`"accept";key="a"`, "text/html") }, UnsupportedComponent},
		{"@path of OPTIONS *", func(s *signing) { s.request.Target = "*"; s.cover(`"@path"`, "*") }, UnsupportedComponent},
		{"@target-uri of OPTIONS *", func(s *signing) { s.request.Target = "*"; s.cover(`"@target-uri"`, "https://www.example.com") }, UnsupportedComponent},

		// Components that are wrong.
		{"the same twice", func(s *signing) { s.cover(`"accept"`, "text/html"); s.cover(`"accept"`, "text/html") }, Malformed},
		{"in capitals", func(s *signing) { s.cover(`"Accept"`, "text/html") }, Malformed},
		{"a Token", func(s *signing) { s.cover(`accept`, "text/html") }, Malformed},
		{"no name", func(s *signing) { s.cover(`""`, "") }, Malformed},
		{"too many", func(s *signing) {
			for i := range MaxComponents {
				s.request.Header[fmt.Sprintf("X-%d", i)] = []string{"v"}
				s.cover(fmt.Sprintf(`"x-%d"`, i), "v")
			}
		}, TooLarge},
		{"too long together", func(s *signing) {
			half := strings.Repeat("a", MaxBase/2)
			s.request.Header["X-A"], s.request.Header["X-B"] = []string{half}, []string{half}
			s.cover(`"x-a"`, half)
			s.cover(`"x-b"`, half)
		}, TooLarge},
		{"too long", func(s *signing) {
			s.request.Header.Set("Accept", strings.Repeat("a", MaxBase))
			s.cover(`"accept"`, "")
		}, TooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, s := warm(t), newSigning()
			test.change(&s)
			expect(t, f.Check(s.sign()), test.want)
			if f.origins.fetches.Load() > 1 {
				t.Error("the directory was fetched again")
			}
		})
	}
}

func TestSignatureAgent(t *testing.T) {
	const whole, first = `"signature-agent"`, `"signature-agent";key="sig1"`
	for _, test := range []struct {
		name    string
		agent   string // the field, several lines separated by |
		covered string // components beside @authority, with their values: component=value, separated by |
		want    Reason
	}{
		{"a Dictionary", `sig1="https://bot.example"`, first + `="https://bot.example"`, Verified},
		{"its type", `sig1="https://bot.example";type=directory`, first + `="https://bot.example";type=directory`, Verified},
		{"a slash", `sig1="https://bot.example/"`, first + `="https://bot.example/"`, Verified},
		{"spelling", `sig1="https://BOT.example:443"`, first + `="https://BOT.example:443"`, Verified},
		{"spaces that do not count", `  sig1="https://bot.example"  ;type=directory`, first + `="https://bot.example";type=directory`, Malformed},
		{"two lines", `other="https://x.example"|sig1="https://bot.example"`, first + `="https://bot.example"`, Verified},
		{"another label, as proxies may change it", `a="https://bot.example"`, `"signature-agent";key="a"="https://bot.example"`, Verified},
		{"the whole field", `sig1="https://bot.example"`, whole + `=sig1="https://bot.example"`, Verified},
		{"the whole field of several", `a="https://x.example", sig1="https://bot.example"`, whole + `=a="https://x.example", sig1="https://bot.example"`, Verified},
		{"the whole field, none of its label", `a="https://x.example", b="https://bot.example"`, whole + `=a="https://x.example", b="https://bot.example"`, NoAgent},
		{"another signature's member as well", `a="https://x.example", sig1="https://bot.example"`,
			first + `="https://bot.example"|"signature-agent";key="a"="https://x.example"`, Verified},
		{"two members, none its own", `a="https://bot.example", b="https://bot.example"`,
			`"signature-agent";key="a"="https://bot.example"|"signature-agent";key="b"="https://bot.example"`, NoAgent},
		{"a member that it does not cover", `a="https://x.example", sig1="https://bot.example"`, `"signature-agent";key="a"="https://x.example"`, AgentNotAllowed},
		{"a String", `"https://bot.example"`, whole + `="https://bot.example"`, Verified},
		{"a member of a String", `"https://bot.example"`, first + `="https://bot.example"`, Malformed},
		{"no field", ``, ``, NoAgent},
		{"no field, but covered", ``, whole + `=`, ComponentAbsent},
		{"no field, but a member covered", ``, first + `=`, ComponentAbsent},
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
				// The value begins after the last = that no key="..." takes up.
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
				t.Errorf("the result repeats what a client invented: %+v", got)
			}
		})
	}
}

// Signatures of other tags and labels beside the one that counts.
func TestSeveralSignatures(t *testing.T) {
	good := newSigning()
	labelled := func(label string, change func(*signing)) signing {
		s := newSigning()
		s.label = label
		change(&s)
		return s
	}
	broken := func(label string) signing {
		return labelled(label, func(s *signing) { s.key = testKey("other") })
	}
	expired := labelled("sig2", func(s *signing) { s.created(start.Add(-time.Hour)); s.expires(start) })
	stranger := labelled("sig3", func(s *signing) { s.param("keyid", `"x"`) })
	otherTag := labelled("sig4", func(s *signing) { s.param("tag", `"other"`) })
	for _, test := range []struct {
		name string
		of   []signing
		want Reason
	}{
		{"another tag before", []signing{otherTag, good}, Verified},
		{"a broken one before", []signing{broken("sig2"), good}, Verified},
		{"a broken one after", []signing{good, broken("sig2")}, Verified},
		{"broken ones alone: the first tells why", []signing{expired, broken("sig5")}, Expired},
		{"one that is not known may be valid", []signing{expired, stranger}, KeyUnknown},
		{"in any order", []signing{stranger, expired}, KeyUnknown},
		{"the last that is looked at", []signing{broken("a"), broken("b"), broken("c"), good}, Verified},
		{"one that is not looked at", []signing{broken("a"), broken("b"), broken("c"), broken("d"), good}, TooLarge},
		{"the same label twice: the last counts", []signing{broken("sig1"), good}, Verified},
		{"the same label twice, in the other order", []signing{good, broken("sig1")}, Mismatch},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := test.of[0].sign()
			for _, s := range test.of[1:] {
				s.request = r
				r = s.sign()
			}
			expect(t, warm(t).Check(r), test.want)
		})
	}
}

// An outer signature may cover an inner one with its input.
func TestCoversAnotherSignature(t *testing.T) {
	inner := newSigning()
	inner.label, inner.key = "in", testKey("stranger")
	inner.param("tag", `"other"`)
	inner.components, inner.lines = []string{`"@authority"`}, []string{`"@authority": www.example.com`}
	r := inner.sign()
	_, params, _ := strings.Cut(r.Header.Get("Signature-Input"), "=")
	_, value, _ := strings.Cut(r.Header.Get("Signature"), "=")
	outer := newSigning()
	outer.request = r
	outer.cover(`"signature-input";key="in"`, params)
	outer.cover(`"signature";key="in"`, value)
	expect(t, warm(t).Check(outer.sign()), Verified)

	outer.cover(`"signature";key="absent"`, value)
	expect(t, warm(t).Check(outer.sign()), ComponentAbsent)
}

func TestHeader(t *testing.T) {
	const input = `sig1=("@authority" "signature-agent";key="sig1");created=1;expires=2;keyid="k";tag="web-bot-auth"`
	header := func(input, signature string) http.Header {
		return http.Header{"Signature-Input": {input}, "Signature": {signature}, "Signature-Agent": {`sig1="https://bot.example"`}}
	}
	long := strings.Repeat("x", 1<<20)
	many := strings.Repeat(input+", ", 1000) + input
	for _, test := range []struct {
		name   string
		header http.Header
		want   Reason
	}{
		{"no header", nil, NoSignature},
		{"no signature", http.Header{"Signature-Agent": {`sig1="https://bot.example"`}}, NoSignature},
		{"another kind of signature", header(`a=("@method");tag="x"`, "a=:AA==:"), NoSignature},
		{"another kind, malformed", header(`a=("@method`, "a=:AA==:"), NoSignature},
		{"the tag elsewhere", header(`a=("@method");keyid="web-bot-auth"`, "a=:AA==:"), NoSignature},
		{"an Item", header(`a="web-bot-auth";tag="web-bot-auth"`, "a=:AA==:"), NoSignature},
		{"malformed", header(`sig1=(;tag="web-bot-auth"`, "sig1=:AA==:"), Malformed},
		{"Signature malformed", header(input, "sig1=:A"), Malformed},
		{"Signature is a String", header(strings.Replace(input, "=1;expires=2", fmt.Sprintf("=%d;expires=%d", start.Unix(), start.Unix()+9), 1), `sig1="AA"`), Malformed},
		{"Signature of another label", header(strings.Replace(input, "=1;expires=2", fmt.Sprintf("=%d;expires=%d", start.Unix(), start.Unix()+9), 1), `sig2=:AA==:`), MissingSignature},
		{"no Signature", http.Header{"Signature-Input": {strings.Replace(input, "=1;expires=2", fmt.Sprintf("=%d;expires=%d", start.Unix(), start.Unix()+9), 1)}}, MissingSignature},
		{"a megabyte of input", header(input+`;x="`+long+`"`, "sig1=:AA==:"), TooLarge},
		{"a megabyte of signature", header(input, "sig1=:"+long+":"), TooLarge},
		{"a thousand signatures", header(many, "sig1=:AA==:"), TooLarge},
		{"a thousand signatures of distinct labels", header(labels(), "sig1=:AA==:"), TooLarge},
		{"a thousand lines", http.Header{"Signature-Input": strings.Split(many, ", ")}, TooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := warm(t)
			expect(t, f.Check(Request{Method: "GET", Scheme: "https", Authority: "www.example.com", Target: "/", Header: test.header}), test.want)
		})
	}
	t.Run("a megabyte of agent", func(t *testing.T) {
		h := header(input, "sig1=:AA==:")
		h.Set("Signature-Agent", `"`+long+`"`)
		expect(t, warm(t).Check(Request{Header: h}), TooLarge)
	})
}

// labels returns a Signature-Input within its bound with as many as fit.
func labels() string {
	var b strings.Builder
	for i := 0; b.Len() < MaxField-100; i++ {
		fmt.Fprintf(&b, `a%d=();tag="web-bot-auth",`, i)
	}
	return b.String() + `z=();tag="web-bot-auth"`
}

func TestReplay(t *testing.T) {
	f := warm(t)
	s := newSigning()
	expect(t, f.Check(s.sign()), Verified)
	expect(t, f.Check(s.sign()), Replayed)

	s.param("nonce", `"n2"`)
	s.created(start.Add(time.Second)) // another signature
	expect(t, f.Check(s.sign()), Verified)

	s.created(start.Add(2 * time.Second)) // and another, with a nonce that was used
	expect(t, f.Check(s.sign()), Replayed)

	s.param("nonce", "")
	for range 2 {
		expect(t, f.Check(s.sign()), Verified) // the drafts allow it
	}

	t.Run("a broken signature uses up no nonce", func(t *testing.T) {
		f, s := warm(t), newSigning()
		broken := s
		broken.key = testKey("other")
		expect(t, f.Check(broken.sign()), Mismatch)
		expect(t, f.Check(s.sign()), Verified)
	})
	t.Run("a nonce is free again when its signature has expired", func(t *testing.T) {
		f, s := warm(t), newSigning()
		expect(t, f.Check(s.sign()), Verified)
		f.clock.add(time.Hour)
		s.created(f.clock.now())
		s.expires(f.clock.now().Add(time.Minute))
		expect(t, f.Check(s.sign()), Verified)
		expect(t, f.Check(s.sign()), Replayed)
	})
	t.Run("of many at once one is the first", func(t *testing.T) {
		f, r := warm(t), newSigning().sign()
		var wg sync.WaitGroup
		var valid atomic.Int64
		for range 16 {
			wg.Go(func() {
				if f.Check(r).State == Valid {
					valid.Add(1)
				}
			})
		}
		wg.Wait()
		if valid.Load() != 1 {
			t.Errorf("%d were valid", valid.Load())
		}
	})
	t.Run("memory is bounded", func(t *testing.T) {
		a := newAgent(testAgent, testOperator)
		for i := range 2 * MaxNonces {
			if !a.firstUse(parameters{keyID: "k", nonce: fmt.Sprint(i), expires: start.Unix() + 1}, start) {
				t.Fatal("a first use was taken for a second one")
			}
		}
		if a.nonces.Len() != MaxNonces {
			t.Errorf("%d nonces are kept", a.nonces.Len())
		}
	})
}
