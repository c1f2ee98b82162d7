package sample

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// field is a header field.
type field struct{ name, value string }

// CaddyFull writes a line as Caddy's access log has it of what browsers and robots send
// today: with so many header fields, in any order.
func (e *Entry) CaddyFull(w io.Writer) error {
	random := rand.New(rand.NewPCG(uint64(e.Time.UnixNano()), uint64(e.Size)))
	_, err := fmt.Fprintf(w, `{"level":"info","ts":%.7f,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":%q,"remote_port":"%d",`+
		`"client_ip":%q,"proto":"HTTP/2.0","method":%q,"host":%q,"uri":%q,"headers":%s,`+
		`"tls":{"resumed":%t,"version":772,"cipher_suite":4865,"proto":"h2","server_name":%q}},`+
		`"bytes_read":0,"user_id":"","duration":%s,"size":%d,"status":%d,"resp_headers":%s}`+"\n",
		float64(e.Time.UnixNano())/1e9, e.Address, 1024+random.IntN(64000), e.Address, e.Method, e.Host, e.Target, shuffled(random, e.sent()),
		random.IntN(2) > 0, e.Host, strconv.FormatFloat(random.ExpFloat64()/1e3, 'f', 9, 64), e.Size, e.Status, shuffled(random, e.answered(random)))
	return err
}

// sent is what the client sends.
func (e *Entry) sent() []field {
	fields := []field{{"User-Agent", e.UserAgent}, {"Accept-Encoding", "gzip, deflate, br, zstd"}}
	if e.Referer != "-" {
		fields = append(fields, field{"Referer", e.Referer})
	}
	if _, version, isChrome := strings.Cut(e.UserAgent, "Chrome/"); isChrome && strings.HasPrefix(e.Address, "198.") {
		version, _, _ = strings.Cut(version, ".")
		return append(fields, field{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"},
			field{"Accept-Language", "en-US,en;q=0.9"}, field{"Sec-Ch-Ua", fmt.Sprintf(`"Chromium";v="%s", "Google Chrome";v="%s", "Not_A Brand";v="24"`, version, version)},
			field{"Sec-Ch-Ua-Mobile", "?0"}, field{"Sec-Ch-Ua-Platform", `"Windows"`}, field{"Upgrade-Insecure-Requests", "1"}, field{"Sec-Fetch-Site", "same-origin"},
			field{"Sec-Fetch-Mode", "navigate"}, field{"Sec-Fetch-User", "?1"}, field{"Sec-Fetch-Dest", "document"}, field{"Priority", "u=0, i"}, field{"Cookie", "REDACTED"})
	}
	if strings.HasPrefix(e.Address, "198.") {
		return append(fields, field{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, field{"Accept-Language", "de,en-US;q=0.7,en;q=0.3"},
			field{"Sec-Fetch-Dest", "document"}, field{"Sec-Fetch-Mode", "navigate"}, field{"Sec-Fetch-Site", "none"}, field{"Te", "trailers"})
	}
	return append(fields, field{"Accept", "*/*"}, field{"From", "crawler(at)example.com"})
}

// answered is what the server answers.
func (e *Entry) answered(random *rand.Rand) []field {
	fields := []field{{"Server", "Caddy"}, {"Alt-Svc", `h3=":443"; ma=2592000`}, {"Content-Type", "text/html; charset=utf-8"}, {"Vary", "Accept-Encoding"}}
	if e.Status == http.StatusOK {
		fields = append(fields, field{"Etag", fmt.Sprintf(`"dn%x"`, random.Uint64())}, field{"Last-Modified", e.Time.Add(-1e9 * 3600).Format(http.TimeFormat)},
			field{"Accept-Ranges", "bytes"}, field{"Content-Length", strconv.Itoa(e.Size)}, field{"Cache-Control", "public, max-age=300"})
	}
	return fields
}

// shuffled writes fields in any order, as an object of arrays.
func shuffled(random *rand.Rand, fields []field) string {
	random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	var b strings.Builder
	for i, f := range fields {
		value, _ := json.Marshal([]string{f.value})
		b.WriteString([]string{"{", ","}[min(i, 1)] + strconv.Quote(f.name) + ":" + string(value))
	}
	return b.String() + "}"
}
