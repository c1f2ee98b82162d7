package botauth_test

import (
	"fmt"
	"net/http/httptest"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

func Example() {
	v, err := botauth.New(botauth.Options{Agents: map[string]string{"https://chatgpt.com": "OpenAI"}})
	if err != nil {
		panic(err)
	}
	defer v.Close()

	r := httptest.NewRequest("GET", "https://www.example.com/", nil)
	signed := botauth.Request{Method: r.Method, Scheme: "https", Authority: r.Host, Target: r.RequestURI, Header: r.Header}
	fmt.Println(v.Check(signed).Explain())

	r.Header.Set("Signature-Input", `sig1=("@authority");created=1735689600;expires=1735693200;keyid="k";tag="web-bot-auth"`)
	r.Header.Set("Signature", "sig1=:AAAA:")
	result := v.Check(signed)
	fmt.Println(result.State, result.Reason)
	// Output:
	// the request has no signature with the tag web-bot-auth
	// invalid expired
}
