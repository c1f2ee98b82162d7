package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sampleRobots is the robots.txt for the sample logs.
const sampleRobots = `User-agent: *
Disallow: /admin/
Disallow: /search
Disallow: /*?sort=
Allow: /admin/help
Crawl-delay: 5

User-agent: GPTBot
User-agent: CCBot
Disallow: /articles/
Allow: /articles/free/

User-agent: Googlebot
Disallow: /search
Disallow: /cart/

User-agent: curl
Disallow: /api/private/

Sitemap: https://www.example.com/sitemap.xml
`

// sampleAgents are User-Agents of robots with their weights.
var sampleAgents = []struct {
	share     int
	userAgent string
}{
	{20, "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
	{10, "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.7390.122 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
	{12, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"},
	{12, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"},
	{8, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"},
	{6, "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"},
	{6, "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"},
	{4, "CCBot/2.0 (https://commoncrawl.org/faq/)"},
	{4, "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"},
	{3, "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"},
	{3, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"},
	{2, "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)"},
	{2, "curl/8.7.1"},
	{2, "python-requests/2.32.3"},
	{2, "Go-http-client/2.0"},
	{1, "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0 Safari/537.36"},
	{1, "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"},
	{1, "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers)"},
	{1, "ExampleSpider-%d/1.0 (+https://spider-%d.example/about)"}, // a different name each time
}

// samplePlatforms are the platforms in User-Agents of browsers.
var samplePlatforms = []string{
	"Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64", "Linux; Android 10; K",
	"iPhone; CPU iPhone OS 18_5 like Mac OS X", "Linux; Android 14; SM-S918B", "X11; CrOS x86_64 14541.0.0",
}

// sampleLines makes log lines like those of a busy site. Seven of ten requests come from browsers
// and three from robots. All data is invented, and the same seed makes the same log.
type sampleLines struct {
	random *rand.Rand
	at     time.Time
	share  int
	zipf   *rand.Zipf
}

// newSample returns a log that begins at the given time.
func newSample(seed uint64, begin time.Time) *sampleLines {
	random := rand.New(rand.NewPCG(seed, 1))
	l := &sampleLines{random: random, at: begin, zipf: rand.NewZipf(random, 1.2, 4, 5000)}
	for _, r := range sampleAgents {
		l.share += r.share
	}
	return l
}

// Skip adds a pause without requests.
func (l *sampleLines) Skip(d time.Duration) { l.at = l.at.Add(d) }

// sampleEntry is a request.
type sampleEntry struct {
	Time                                        time.Time
	Address, Method, Target, Referer, UserAgent string
	Host                                        string
	Status, Size                                int
}

// Next returns the next request.
func (l *sampleLines) Next() sampleEntry {
	l.at = l.at.Add(time.Duration(l.random.ExpFloat64() * float64(40*time.Millisecond)))
	e := sampleEntry{Time: l.at, Method: "GET", Referer: "-", Host: "www.example.com"}
	e.Status, e.Size = 200, 300+l.random.IntN(60000)
	switch l.random.IntN(20) {
	case 0:
		e.Status, e.Size = 404, 153
	case 1:
		e.Status, e.Size = 301, 169
	case 2:
		e.Status, e.Size = 304, 0
	}
	e.Target = l.target()
	if l.random.IntN(10) < 7 {
		e.Address = fmt.Sprintf("198.51.%d.%d", l.random.IntN(256), l.random.IntN(256))
		e.UserAgent = l.browser()
		if l.random.IntN(3) > 0 {
			e.Referer = "https://www.example.com/articles/" + strconv.Itoa(l.random.IntN(3000))
		}
		return e
	}
	e.Address = fmt.Sprintf("203.0.113.%d", l.random.IntN(256))
	e.UserAgent = l.robot()
	if l.random.IntN(200) == 0 {
		e.Target = "/robots.txt"
	}
	return e
}

func (l *sampleLines) robot() string {
	n := l.random.IntN(l.share)
	for _, r := range sampleAgents {
		if n -= r.share; n < 0 {
			if r.share == 1 && r.userAgent[:7] == "Example" {
				return fmt.Sprintf(r.userAgent, l.random.IntN(1e6), l.random.IntN(1e6))
			}
			return r.userAgent
		}
	}
	panic("the shares do not add up")
}

func (l *sampleLines) browser() string {
	platform := samplePlatforms[l.random.IntN(len(samplePlatforms))]
	major, patch := 120+l.random.IntN(24), 0
	if l.random.IntN(4) == 0 {
		patch = l.random.IntN(200)
	}
	switch l.random.IntN(6) {
	case 0:
		return fmt.Sprintf("Mozilla/5.0 (%s; rv:%d.0) Gecko/20100101 Firefox/%d.0", platform, major, major)
	case 1:
		return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.%d Mobile/15E148 Safari/604.1", platform, l.random.IntN(7))
	case 2:
		return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36 Edg/%d.0.0.%d", platform, major, major, patch)
	}
	return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.%d Safari/537.36", platform, major, 6000+patch*3, patch)
}

func (l *sampleLines) target() string {
	n := int(l.zipf.Uint64())
	switch l.random.IntN(20) {
	case 0:
		return "/"
	case 1:
		return fmt.Sprintf("/search?q=word%d&page=%d", n, l.random.IntN(9))
	case 2:
		return fmt.Sprintf("/articles/free/%d", n)
	case 3:
		return fmt.Sprintf("/shop/item/%d?sort=price&utm_source=newsletter", n)
	case 4:
		return fmt.Sprintf("/admin/report/%d", n)
	case 5:
		return fmt.Sprintf("/api/private/v2/users/%d", n)
	case 6:
		return fmt.Sprintf("/b%%C3%%BCcher/%d%%2Fkapitel", n)
	case 7, 8, 9:
		return fmt.Sprintf("/assets/app.%08x.js", n)
	}
	return fmt.Sprintf("/articles/2026/%02d/a-title-of-some-length-%d", 1+n%12, n)
}

// Combined writes a line of the Combined format.
func (e *sampleEntry) Combined(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s - - [%s] \"%s %s HTTP/1.1\" %d %d \"%s\" \"%s\"\n",
		e.Address, e.Time.Format("02/Jan/2006:15:04:05 -0700"), e.Method, e.Target, e.Status, e.Size, e.Referer, e.UserAgent)
	return err
}

// Caddy writes a line of Caddy's JSON log.
func (e *sampleEntry) Caddy(w io.Writer) error {
	_, err := fmt.Fprintf(w, `{"level":"info","ts":%.7f,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":%q,"remote_port":"40000",`+
		`"client_ip":%q,"proto":"HTTP/2.0","method":%q,"host":%q,"uri":%q,"headers":{"Accept":["text/html,*/*;q=0.8"],"Accept-Encoding":["gzip, deflate, br"],`+
		`"User-Agent":[%q],"Referer":[%q]},"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"www.example.com"}},`+
		`"bytes_read":0,"user_id":"","duration":0.000912,"size":%d,"status":%d,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/html; charset=utf-8"]}}`+"\n",
		float64(e.Time.UnixNano())/1e9, e.Address, e.Address, e.Method, e.Host, e.Target, e.UserAgent, e.Referer, e.Size, e.Status)
	return err
}

// sampleField is a header field.
type sampleField struct{ name, value string }

// CaddyFull writes a line of Caddy's log with the header fields of current browsers and robots, in
// any order.
func (e *sampleEntry) CaddyFull(w io.Writer) error {
	random := rand.New(rand.NewPCG(uint64(e.Time.UnixNano()), uint64(e.Size)))
	_, err := fmt.Fprintf(w, `{"level":"info","ts":%.7f,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":%q,"remote_port":"%d",`+
		`"client_ip":%q,"proto":"HTTP/2.0","method":%q,"host":%q,"uri":%q,"headers":%s,`+
		`"tls":{"resumed":%t,"version":772,"cipher_suite":4865,"proto":"h2","server_name":%q}},`+
		`"bytes_read":0,"user_id":"","duration":%s,"size":%d,"status":%d,"resp_headers":%s}`+"\n",
		float64(e.Time.UnixNano())/1e9, e.Address, 1024+random.IntN(64000), e.Address, e.Method, e.Host, e.Target, shuffled(random, e.sent()),
		random.IntN(2) > 0, e.Host, strconv.FormatFloat(random.ExpFloat64()/1e3, 'f', 9, 64), e.Size, e.Status, shuffled(random, e.answered(random)))
	return err
}

// sent returns the request header.
func (e *sampleEntry) sent() []sampleField {
	fields := []sampleField{{"User-Agent", e.UserAgent}, {"Accept-Encoding", "gzip, deflate, br, zstd"}}
	if e.Referer != "-" {
		fields = append(fields, sampleField{"Referer", e.Referer})
	}
	if _, version, isChrome := strings.Cut(e.UserAgent, "Chrome/"); isChrome && strings.HasPrefix(e.Address, "198.") {
		version, _, _ = strings.Cut(version, ".")
		return append(fields, sampleField{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"},
			sampleField{"Accept-Language", "en-US,en;q=0.9"}, sampleField{"Sec-Ch-Ua", fmt.Sprintf(`"Chromium";v="%s", "Google Chrome";v="%s", "Not_A Brand";v="24"`, version, version)},
			sampleField{"Sec-Ch-Ua-Mobile", "?0"}, sampleField{"Sec-Ch-Ua-Platform", `"Windows"`}, sampleField{"Upgrade-Insecure-Requests", "1"}, sampleField{"Sec-Fetch-Site", "same-origin"},
			sampleField{"Sec-Fetch-Mode", "navigate"}, sampleField{"Sec-Fetch-User", "?1"}, sampleField{"Sec-Fetch-Dest", "document"}, sampleField{"Priority", "u=0, i"}, sampleField{"Cookie", "REDACTED"})
	}
	if strings.HasPrefix(e.Address, "198.") {
		return append(fields, sampleField{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, sampleField{"Accept-Language", "de,en-US;q=0.7,en;q=0.3"},
			sampleField{"Sec-Fetch-Dest", "document"}, sampleField{"Sec-Fetch-Mode", "navigate"}, sampleField{"Sec-Fetch-Site", "none"}, sampleField{"Te", "trailers"})
	}
	return append(fields, sampleField{"Accept", "*/*"}, sampleField{"From", "crawler(at)example.com"})
}

// answered returns the response header.
func (e *sampleEntry) answered(random *rand.Rand) []sampleField {
	fields := []sampleField{{"Server", "Caddy"}, {"Alt-Svc", `h3=":443"; ma=2592000`}, {"Content-Type", "text/html; charset=utf-8"}, {"Vary", "Accept-Encoding"}}
	if e.Status == http.StatusOK {
		fields = append(fields, sampleField{"Etag", fmt.Sprintf(`"dn%x"`, random.Uint64())}, sampleField{"Last-Modified", e.Time.Add(-1e9 * 3600).Format(http.TimeFormat)},
			sampleField{"Accept-Ranges", "bytes"}, sampleField{"Content-Length", strconv.Itoa(e.Size)}, sampleField{"Cache-Control", "public, max-age=300"})
	}
	return fields
}

// shuffled writes the fields as a JSON object of arrays, in random order.
func shuffled(random *rand.Rand, fields []sampleField) string {
	random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	var b strings.Builder
	for i, f := range fields {
		value, _ := json.Marshal([]string{f.value})
		b.WriteString([]string{"{", ","}[min(i, 1)] + strconv.Quote(f.name) + ":" + string(value))
	}
	return b.String() + "}"
}
