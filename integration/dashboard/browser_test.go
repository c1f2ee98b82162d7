package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// chromium is the browser of all tests. The first test starts it.
var chromium struct {
	once   sync.Once
	ctx    context.Context
	cancel func()
	reason string // why the browser is missing
}

// startBrowser starts Chromium. TestMain stops it.
func startBrowser() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		chromium.reason = "no chromium on this machine"
		return
	}
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), // with a new data directory
		chromedp.ExecPath(path), chromedp.Flag("headless", "new"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-timer-throttling", true), chromedp.Flag("disable-renderer-backgrounding", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true), chromedp.Flag("disable-sync", true), chromedp.Flag("no-default-browser-check", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.WSURLReadTimeout(harness.Patience))
	browser, endBrowser := chromedp.NewContext(allocator)
	chromium.cancel = func() { endBrowser(); endAllocator() }
	if err := chromedp.Run(browser); err != nil {
		chromium.reason = fmt.Sprintf("%s does not start: %v", path, err)
		return
	}
	chromium.ctx = browser
}

// missing skips the test because of a missing program. In CI, where everything is
// installed, it fails the test.
func missing(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // console messages and errors of the browser
}

// look is a screen with the user's preferences.
type look struct {
	width, height int64
	dark          bool
	still         bool // prefers-reduced-motion
}

var (
	wide   = look{width: 1440, height: 900}
	narrow = look{width: 390, height: 844}
)

// open shows the page in a new tab and waits until its data has loaded.
func open(t *testing.T, url string, l look) *tab {
	t.Helper()
	p := browse(t, url, l)
	p.settled()
	return p
}

// browse shows a URL in a new tab. The test fails if the browser reports a problem.
func browse(t *testing.T, url string, l look) *tab {
	t.Helper()
	chromium.once.Do(startBrowser)
	if chromium.reason != "" {
		missing(t, chromium.reason)
	}
	// In a window of its own, because a tab behind another one is hidden.
	var window target.ID
	if err := chromedp.Run(chromium.ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		executor := cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		window, err = target.CreateTarget("about:blank").WithNewWindow(true).Do(executor)
		return err
	})); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithTargetID(window))
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.listen)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			t.Errorf("the browser reports: %s", problem)
		}
	})
	if err := chromedp.Run(ctx); err != nil { // attaches to the window, which lives as long as this context
		t.Fatal(err)
	}
	scheme, motion := "light", "no-preference"
	if l.dark {
		scheme = "dark"
	}
	if l.still {
		motion = "reduce"
	}
	p.run(
		log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(l.width, l.height, 1, l.width < 600),
		emulation.SetScrollbarsHidden(true),
		emulation.SetFocusEmulationEnabled(true), // other tests have windows, too
		// A headless browser is no person: the guard would count its requests.
		emulation.SetUserAgentOverride("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36"),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
		}),
		chromedp.Navigate(url),
	)
	return p
}

func (p *tab) listen(event any) {
	problem := ""
	switch event := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.APITypeError || event.Type == runtime.APITypeWarning || event.Type == runtime.APITypeAssert {
			text, _ := json.Marshal(event.Args)
			problem = string(text)
		}
	case *runtime.EventExceptionThrown:
		problem = event.ExceptionDetails.Error()
	case *log.EventEntryAdded: // includes violations of the Content-Security-Policy
		if event.Entry.Level == log.LevelError || event.Entry.Level == log.LevelWarning {
			problem = fmt.Sprintf("%s: %s %s", event.Entry.Level, event.Entry.Text, event.Entry.URL)
		}
	}
	if problem != "" {
		p.mu.Lock()
		p.problems = append(p.problems, problem)
		p.mu.Unlock()
	}
}

// forgive removes the reported problems that contain a text.
func (p *tab) forgive(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.problems[:0]
	for _, problem := range p.problems {
		if !strings.Contains(problem, text) {
			kept = append(kept, problem)
		}
	}
	p.problems = kept
}

func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, harness.Patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression as a string.
func (p *tab) eval(expression string) string {
	p.t.Helper()
	var value any
	p.run(chromedp.Evaluate(expression, &value, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	if s, ok := value.(string); ok {
		return s
	}
	text, err := json.Marshal(value)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// until waits until a JavaScript expression is true.
func (p *tab) until(expression string) {
	p.t.Helper()
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if p.eval("Boolean("+expression+")") == "true" {
			return
		}
	}
	p.t.Fatalf("timeout while waiting for: %s\nthe page: %.3000s", expression, p.eval("document.body.innerText"))
}

// settled waits until the current view has loaded all its data.
func (p *tab) settled() {
	p.t.Helper()
	p.until(`document.querySelector("main h1") && !document.querySelector(".waiting") && !document.querySelector("main[aria-busy]") && document.querySelector("#foot time")`)
}

// visit navigates to another state of the page.
func (p *tab) visit(hash string) {
	p.t.Helper()
	p.eval(fmt.Sprintf("void (location.hash = %q)", hash))
	view, _, _ := strings.Cut(strings.TrimPrefix(hash, "#/"), "?")
	p.until(fmt.Sprintf(`document.querySelector("nav [aria-current]")?.getAttribute("href").startsWith("#/%s")`, view))
	p.settled()
}

// text returns the visible text of the elements that match a selector.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return p.eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.innerText.trim()).join("\n")`, selector))
}

// press presses keys, such as kb.Tab.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.run(chromedp.KeyEvent(key))
	}
}

// picture returns a screenshot of the whole page, or of its upper part if height is not
// 0, as PNG.
func (p *tab) picture(height int64) []byte {
	p.t.Helper()
	var picture []byte
	p.run(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		shot := cdpage.CaptureScreenshot().WithFormat(cdpage.CaptureScreenshotFormatPng)
		if height == 0 {
			shot = shot.WithCaptureBeyondViewport(true)
			_, _, _, _, _, size, err := cdpage.GetLayoutMetrics().Do(ctx)
			if err != nil {
				return err
			}
			shot = shot.WithClip(&cdpage.Viewport{Width: size.Width, Height: size.Height, Scale: 1})
		}
		picture, err = shot.Do(ctx)
		return err
	}))
	return picture
}
