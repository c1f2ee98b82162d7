package logformat

import "testing"

// BenchmarkCaddyLine parses a line of Caddy's log.
func BenchmarkCaddyLine(b *testing.B) {
	line := []byte(`{"level":"info","ts":1795419547.5203204,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"192.0.2.7","remote_port":"50312","client_ip":"192.0.2.7","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"/products/1234?page=2","headers":{"User-Agent":["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"],"Accept":["text/html,application/xhtml+xml"],"Accept-Encoding":["gzip, br"],"Accept-Language":["en"],"Referer":["https://example.com/"]},"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"example.com"}},"bytes_read":0,"user_id":"","duration":0.000153,"size":1024,"status":200,"resp_headers":{"Server":["Caddy"],"Content-Type":["text/html; charset=utf-8"],"Etag":["\"abc\""],"Cache-Control":["max-age=60"]}}`)
	var p jsonParser
	var r Record
	b.ReportAllocs()
	for b.Loop() {
		if what, why := p.Parse(line, &r); what != Request {
			b.Fatal(why)
		}
	}
}
