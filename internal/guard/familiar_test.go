package guard

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
	"weak"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestFamiliarUserAgentsAreIdentifiedTheSame(t *testing.T) {
	f, first := newFamiliar(), uaident.Default()
	second, err := first.With(uaident.Crawler{Token: "ShopWatch", Class: uaident.Search})
	if err != nil {
		t.Fatal(err)
	}
	agents := []string{
		uaChrome, "", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot-Image/1.0",
		"ShopWatch/1.0 (+https://shopwatch.example/bot)", "ShopTool/2.0", "curl/8.5.0",
	}
	for _, registry := range []*uaident.Registry{first, second, first} {
		for _, names := range [][]string{nil, {"ShopTool"}} {
			overlay := besideOf(registry, registry.Overlay(names))
			for turn := range 3 {
				for _, agent := range agents {
					got, known := f.identify(registry, agent, overlay)
					want := registry.IdentifyWith(agent, overlay.overlay)
					browser := want.Class == uaident.Browser
					if browser && got.Class == uaident.Browser {
						got = want // nothing else is remembered of it
					}
					if got != want {
						t.Errorf("turn %d, %q with %v: %+v, want %+v", turn, agent, names, got, want)
					}
					if (known != nil) != (turn > 0 && !browser) {
						t.Errorf("turn %d, %q with %v: remembered %v", turn, agent, names, known != nil)
					}
					if known != nil && (known.userAgent != agent || !slices.Equal(known.names, got.AppendChain(nil))) {
						t.Errorf("%q is remembered as %q with the names %q", agent, known.userAgent, known.names)
					}
				}
			}
		}
	}
}

// TestFamiliarUserAgentsInOnePlace has more of them return than there are sets.
func TestFamiliarUserAgentsInOnePlace(t *testing.T) {
	f := newFamiliar()
	for i := range familiarSets + 1 {
		agent := fmt.Sprintf("Visitor%dBot/1.0", i)
		for range 3 {
			if got, known := f.identify(uaident.Default(), agent, &noOverlay); got.Token != strings.TrimSuffix(agent, "/1.0") || known != nil && known.userAgent != agent {
				t.Fatalf("%q is taken for %q", agent, got.Token)
			}
		}
	}
}

// TestBrowsersThatReturnDisplaceNoneWhileThereIsRoom has a quarter as many as there are sets:
// of some thousand one finds its set full.
func TestBrowsersThatReturnDisplaceNoneWhileThereIsRoom(t *testing.T) {
	f := newFamiliar()
	for range 3 {
		for i := range familiarSets / 4 {
			f.identify(uaident.Default(), fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/%d.0", i), &noOverlay)
		}
	}
	remembered := 0
	for s := range f.sets {
		for i := range f.sets[s].browsers {
			if f.sets[s].browsers[i].Load() != 0 {
				remembered++
			}
		}
	}
	if remembered < familiarSets/4*99/100 {
		t.Errorf("%d of %d are remembered", remembered, familiarSets/4)
	}
}

func TestUserAgentsThatDoNotReturnAreNotRemembered(t *testing.T) {
	f := newFamiliar()
	for i := range 3 * familiarSets {
		if _, known := f.identify(uaident.Default(), fmt.Sprint("Visitor/", i), &noOverlay); known != nil {
			t.Fatalf("visitor %d is remembered when it comes first", i)
		}
	}
	for s := range f.sets {
		for i := range f.sets[s].agents {
			if f.sets[s].agents[i].Load() != nil {
				t.Fatal("one is remembered that came once")
			}
		}
	}
	long := string(make([]byte, maxFamiliar+1))
	for range 3 {
		if _, known := f.identify(uaident.Default(), long, &noOverlay); known != nil {
			t.Error("one is remembered that is too long")
		}
	}
}

func TestFamiliarUserAgentsOfAnotherRegistryAreForgotten(t *testing.T) {
	f := newFamiliar()
	kept := func() (n int) {
		for s := range f.sets {
			for i := range f.sets[s].agents {
				if f.sets[s].agents[i].Load() != nil {
					n++
				}
			}
		}
		return n
	}
	for range 2 {
		f.identify(uaident.Default(), "curl/8.5.0", &noOverlay)
	}
	if kept() != 1 {
		t.Errorf("%d are remembered, want 1", kept())
	}
	other, err := uaident.Default().With(uaident.Crawler{Token: "ShopWatch", Class: uaident.Search})
	if err != nil {
		t.Fatal(err)
	}
	f.identify(other, "wget/1.0", &noOverlay)
	if kept() != 0 {
		t.Errorf("%d of the registry of before are remembered", kept())
	}

	for range 2 { // a request of before that is a straggler
		f.identify(uaident.Default(), "ShopWatch/1.0", &noOverlay)
	}
	f.begin(other)
	if got, _ := f.identify(other, "ShopWatch/1.0", &noOverlay); got.Class != uaident.Search {
		t.Errorf("it is %+v, as by the registry of before", got)
	}
}

func TestFamiliarUserAgentsKeepNoRobotsTxt(t *testing.T) {
	f, userAgent := newFamiliar(), "ShopTool/2.0"
	text := []byte(strings.Repeat("x", 1<<20) + "ShopTool")
	kept := func() weak.Pointer[byte] {
		whole := unsafe.String(&text[0], len(text)) // as that of a policy, whose names are parts of it
		beside := besideOf(uaident.Default(), uaident.Default().Overlay([]string{whole[1<<20:]}))
		for range 3 {
			if got, _ := f.identify(uaident.Default(), userAgent, beside); got.Name() != "ShopTool" {
				t.Fatalf("%+v", got)
			}
		}
		if _, known := f.identify(uaident.Default(), userAgent, beside); known == nil {
			t.Fatal("it is not remembered")
		}
		return weak.Make(&text[0])
	}()
	text = nil
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the text of a policy that nobody has any more is kept")
	}
	for range 3 {
		if got, _ := f.identify(uaident.Default(), userAgent, &noOverlay); got.Known() {
			t.Errorf("%+v where no policy names it", got)
		}
	}
}

// TestFamiliarBrowsersByPolicy has a policy name what is a browser where no policy does,
// in the place of one that did not.
func TestFamiliarBrowsersByPolicy(t *testing.T) {
	f, registry := newFamiliar(), uaident.Default()
	const userAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 ShopTool/2.0"
	browser := func(names ...string) bool {
		beside, last := besideOf(registry, registry.Overlay(names)), uaident.Identity{}
		for range 4 {
			last, _ = f.identify(registry, userAgent, beside)
		}
		return last.Class == uaident.Browser
	}
	for range 3 {
		if !browser() || !browser("OtherTool") {
			t.Error("it is no browser where nobody names it")
		}
		if browser("ShopTool") {
			t.Error("it is a browser where the policy names it")
		}
		runtime.GC() // so that overlays may come to lie where others did
	}
}

func TestFamiliarUserAgentsFromManySides(t *testing.T) {
	f, want := newFamiliar(), uaident.Default().Identify("Googlebot/2.1")
	var sides sync.WaitGroup
	for side := range 4 {
		sides.Go(func() {
			for i := range 2000 {
				f.identify(uaident.Default(), fmt.Sprint("Visitor/", side, i%50), &noOverlay)
				if got, _ := f.identify(uaident.Default(), "Googlebot/2.1", &noOverlay); got != want {
					t.Errorf("%+v, want %+v", got, want)
					return
				}
			}
		})
	}
	sides.Wait()
}

func BenchmarkFamiliar(b *testing.B) {
	for name, agents := range map[string]int{"returning": 1000, "never seen": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			f, all := newFamiliar(), make([]string, agents)
			for i := range all {
				all[i] = fmt.Sprintf("Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) (compatible; Googlebot/2.%d; +https://crawl.example/about)", i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f.identify(uaident.Default(), all[i%len(all)], &noOverlay)
			}
		})
		b.Run(name+"/identify", func(b *testing.B) {
			all := make([]string, agents)
			for i := range all {
				all[i] = fmt.Sprintf("Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) (compatible; Googlebot/2.%d; +https://crawl.example/about)", i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				uaident.Default().IdentifyWith(all[i%len(all)], nil)
			}
		})
	}
}
