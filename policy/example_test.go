package policy_test

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func Example() {
	robots := policy.Parse([]byte(`
User-agent: GPTBot
Disallow: /

User-agent: *
Disallow: /search
Allow: /search/about
`))
	for _, target := range []string{"/search?q=x", "/%73earch", "/search/about"} {
		v := robots.Select(true, "ExampleBot").Judge(target)
		fmt.Println(target, v.Allowed, v.Rule, v.Rule.Line)
	}
	// Output:
	// /search?q=x false Disallow: /search 6
	// /%73earch false Disallow: /search 6
	// /search/about true Allow: /search/about 7
}

// A crawler with several names tries the names in order. Here a picture crawler also obeys the
// group of its parent.
func ExampleRobots_Select() {
	robots := policy.Parse([]byte(`
User-agent: ExampleBot
Disallow: /drafts/

User-agent: *
Disallow: /
`))
	group := robots.Select(true, "ExampleBot-Image", "ExampleBot")
	fmt.Println(group.FirstAgent().Name)
	fmt.Println(group.Judge("/logo.png").Allowed)
	fmt.Println(group.Judge("/drafts/logo.png").Allowed)

	// A fetcher that acts for a user does not obey the * group. A file without a group for the
	// fetcher does not apply.
	group = robots.Select(false, "ExampleReader")
	fmt.Println(group == nil, group.Judge("/").Allowed)
	// Output:
	// ExampleBot
	// true
	// false
	// true true
}

func ExampleRobots_Findings() {
	robots := policy.Parse([]byte(`
User-agent: *
Dissallow: /tmp/
Disallow: private/
`))
	findings, more := robots.Findings()
	for _, f := range findings {
		fmt.Println(f)
	}
	fmt.Println(more, "more")
	// Output:
	// line 3: warning: "Dissallow" is misspelt, and hardly any crawler but Google's reads it; correct the spelling [misspelt-key]
	// line 4: error: "private/" does not start with / or *, so the rule matches no URL; write the path from the root of the site [rule-without-slash]
	// 0 more
}

// A verdict contains the rule and the form of the target.
func ExampleVerdict() {
	robots := policy.Parse([]byte("User-agent: *\nAllow: /public/\nDisallow: /private/\n"))
	v := robots.Select(true, "ExampleBot").Judge("/public/..%2Fprivate/x")
	fmt.Println(v.Allowed, v.Rule, v.Group.Name, v.Normalization)
	// Output: false Disallow: /private/ * slashes, dots
}

// A target can be prepared once for several groups, or for a server that distinguishes // and /.
func ExampleTarget() {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /a/b\nUser-agent: x\nDisallow: /a/\n"))
	var target policy.Target
	target.Set("/a//b", true)
	fmt.Println(robots.Select(true, "ExampleBot").JudgeTarget(&target).Allowed)
	fmt.Println(robots.Select(true, "x").JudgeTarget(&target).Allowed)
	// Output:
	// true
	// false
}

func ExampleTargetFromURL() {
	fmt.Println(policy.TargetFromURL("https://example.com/a?b#c"))
	fmt.Println(policy.TargetFromURL("example.com"))
	fmt.Println(policy.TargetFromURL("/a#c"))
	// Output:
	// /a?b
	// /
	// /a#c
}

func ExampleNameMatches() {
	fmt.Println(policy.NameMatches("googlebot/2.1", "Googlebot"))
	fmt.Println(policy.NameMatches("Googlebot-Image", "Googlebot"))
	fmt.Println(policy.NameMatches("*", "Googlebot"))
	// Output:
	// true
	// false
	// false
}
