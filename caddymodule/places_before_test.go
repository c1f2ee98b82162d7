package caddymodule

import "testing"

// TestGuardBehindManyHandlers loads configurations with many other handlers before the first guard.
func TestGuardBehindManyHandlers(t *testing.T) {
	const all = `{
	order robots_guard before redir
}
(common) {
	encode zstd gzip
	header {
		Strict-Transport-Security max-age=31536000
		-Server
	}
	log
}
a.test, www.a.test, *.a.test {
	import common
	@www host www.a.test
	redir @www https://a.test{uri} permanent
	@old path_regexp old ^/old/(.*)$
	rewrite @old /new/{re.old.1}
	uri strip_prefix /x
	@bad expression {http.request.method} == "PUT"
	error @bad 405
	@ip remote_ip 10.0.0.0/8
	@q query a=b
	@h header X-A b
	@hr header_regexp X-A b.*
	@vars vars {a} b
	@proto protocol https
	@tls not protocol http
	@file file {path} {path}/index.php
	respond @ip ok 200
	respond @vars x
	respond @file x
	map {host} {backend} {
		a.test one
		default two
	}
	vars a b
	request_body {
		max_size 1MB
	}
	push /a.js
	templates /t/*
	tracing {
		span x
	}
	basic_auth /private/* {
		anna $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
	}
	forward_auth /auth/* auth:80 {
		uri /verify
		copy_headers X-User
	}
	intercept {
		@e status 500
		handle_response @e {
			respond oops
		}
	}
	acme_server /acme/*
	metrics /metrics
	handle_path /api/* {
		reverse_proxy api1:80 api2:80 {
			lb_policy least_conn
			health_uri /h
			fail_duration 30s
			transport http {
				tls
				tls_server_name x
			}
			header_up Host {upstream_hostport}
			@e status 404
			handle_response @e {
				respond nope
			}
		}
	}
	handle /srv/* {
		reverse_proxy {
			dynamic srv _a._tcp.test
		}
	}
	log_append k v
	root * /var/www
	php_fastcgi unix//run/php.sock
	file_server {
		hide .git
		precompressed gzip
	}
	handle_errors {
		respond {err.status_code}
	}
}
b.test {
	import common
	robots_guard enforce
	root * /srv
	php_fastcgi 127.0.0.1:9000
	file_server
}
http://c.test:8081, :8082 {
	robots_guard
	handle_path /blog/* {
		robots_guard enforce
		reverse_proxy blog:80
	}
	handle {
		reverse_proxy app:80
	}
}`
	for name, config := range map[string]string{
		"all before":          all,
		"early hints":         "a.test {\n route {\n header Link x\n respond 103\n robots_guard\n reverse_proxy app:80\n }\n}",
		"early hints for all": "a.test {\n route {\n respond 103\n robots_guard\n reverse_proxy app:80\n }\n}",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := validate(t, config); err != nil {
				t.Error(err)
			}
		})
	}
}
