package uaident

import "testing"

func TestWithBrand(t *testing.T) {
	const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36"
	for _, tc := range []struct {
		name, userAgent, brands string
		token                   string // "" for a browser
		class                   Class
		wildcard                bool
	}{
		{"Lightpanda as it is", "Lightpanda/1.0", `"Lightpanda";v="1"`, "Lightpanda", Headless, true},
		{"with Chrome's User-Agent", chrome, `"Lightpanda";v="1"`, "Lightpanda", Headless, true},
		{"with a custom User-Agent", "acme/1.2", `"Lightpanda";v="1"`, "Lightpanda", Headless, true},
		{"with a crawler's name", "GPTBot/1.2", `"Lightpanda";v="1"`, "GPTBot", AITraining, true},
		{"with a library's name", "curl/8.5.0", `"Lightpanda";v="1"`, "curl", Library, false},
		{"with other brands", chrome, `"Not)A;Brand";v="99", "Lightpanda";v="1", "Chromium";v="148"`, "Lightpanda", Headless, true},
		{"Chrome without a window", chrome, `"HeadlessChrome";v="148", "Chromium";v="148", "Not/A)Brand";v="24"`, "HeadlessChrome", Headless, false},

		{"Chrome", chrome, `"Chromium";v="148", "Google Chrome";v="148", "Not/A)Brand";v="24"`, "", Browser, false},
		{"Edge", chrome + " Edg/148.0.0.0", `"Microsoft Edge";v="148", "Chromium";v="148", "Not/A)Brand";v="24"`, "", Browser, false},
		{"Opera", chrome + " OPR/126.0.0.0", `"Opera";v="126", "Chromium";v="148", "Not/A)Brand";v="24"`, "", Browser, false},
		{"Brave", chrome, `"Brave";v="148", "Chromium";v="148", "Not/A)Brand";v="24"`, "", Browser, false},
		{"Yandex", chrome + " YaBrowser/26.1", `"YaBrowser";v="26.1", "Chromium";v="148", "Yowser";v="2.5"`, "", Browser, false},
		{"Samsung Internet", chrome, `"Samsung Internet";v="30", "Chromium";v="148"`, "", Browser, false},
		{"a WebView", chrome, `"Android WebView";v="148", "Chromium";v="148"`, "", Browser, false},
		{"no field", chrome, "", "", Browser, false},
		{"a longer brand", chrome, `"Not Lightpanda";v="1"`, "", Browser, false},
		{"a brand with an escape", chrome, `"Not \"Lightpanda\", but \\";v="1", "Chromium";v="148"`, "", Browser, false},
		{"a parameter", chrome, `"Chromium";v="Lightpanda"`, "", Browser, false},
		{"a string without an end", chrome, `"Chromium", "Lightpanda`, "", Browser, false},
		{"a token", chrome, `Lightpanda;v="1"`, "", Browser, false},
		{"after spaces", chrome, "\"Chromium\" ,\t\"Lightpanda\"", "Lightpanda", Headless, true},
		{"a crawler's name as a brand", chrome, `"Googlebot";v="1"`, "", Browser, false},
	} {
		id := Identify(AppendHeadlessBrand(tc.userAgent, tc.brands))
		if id.Token != tc.token || id.Class != tc.class || tc.token != "" && id.WildcardApplies() != tc.wildcard {
			t.Errorf("%s: %q, %s, * group %t; want %q, %s, %t", tc.name, id.Token, id.Class, id.WildcardApplies(), tc.token, tc.class, tc.wildcard)
		}
	}
	for _, brand := range headlessBrands {
		if c := Default().Lookup(brand); c == nil || c.Class != Headless {
			t.Errorf("the registry lacks the headless browser %s", brand)
		}
	}
	brands := `"Chromium";v="148", "Google Chrome";v="148", "Not/A)Brand";v="24"`
	if n := testing.AllocsPerRun(100, func() { _ = AppendHeadlessBrand(chrome, brands) }); n > 0 {
		t.Errorf("%v allocations for a browser", n)
	}
}

func BenchmarkWithBrand(b *testing.B) {
	for b.Loop() {
		_ = AppendHeadlessBrand("Mozilla/5.0", `"Chromium";v="148", "Google Chrome";v="148", "Not/A)Brand";v="24"`)
	}
}
