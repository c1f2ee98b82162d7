package main

// caddyfile is that of each instance. Clients ask by the usual ports, wherever it
// listens, so that a site is the same at all of them.
const caddyfile = `{
	admin 127.0.0.1:$ADMIN
	persist_config off
	skip_install_trust
	storage_clean_interval off # it may remove the folder of a certificate that is being stored
	auto_https disable_redirects
	storage file_system $STORE
	robots_guard {
		storage on
		registry $REGISTRY
		verify {
			ranges configured
			rdns off
		}
		crawler Verix {
			class research
			ranges file $RANGES
		}
	}
	servers {
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}
}
(guarded) {
	header X-Config $NAME
	header >X-Verdict {http.robots_guard.verdict}
	header >X-Class {http.robots_guard.class}
	header >X-Identity {http.robots_guard.identity}
	robots_guard {args[0]} {
		ttl 1s 1s
		fetch_timeout 2s
		grace off
		status $STATUS
		{block}
	}
}
(proxied) {
	reverse_proxy {args[0]} {
		{block}
		transport http {
			keepalive off # Caddy leaves these connections idle after a reload
			dial_timeout 30s # of 3 s a loaded machine needs more
		}
	}
}
https://files.test:$TLS {
	tls internal
	import guarded enforce {
		rate
	}
	root $FILES
	file_server
}
https://checked.test:$TLS {
	tls internal
	import guarded enforce {
		rate
	}
	import proxied $CHECKED {
		fail_duration 1h
		max_fails 1
		unhealthy_status 5xx
	}
}
https://failing.test:$TLS {
	tls internal
	import guarded enforce
	import proxied $FAILING
}
https://strict.test:$TLS {
	tls internal
	import guarded enforce {
		spoofed block
		rate enforce {
			crawl_delay off
			limit SemrushBot 1/24h burst 1
		}
	}
	import proxied $STRICT
}
https://managed.test:$TLS {
	tls internal
	import guarded enforce
	robots_txt {
		confirm off
		disallow CCBot
	}
	import proxied $MANAGED
}
https://decide.test:$TLS {
	tls internal
	import guarded enforce {
		decide forwarded asked.test
		source http://$ASKED/robots.txt host {host}
		allow_private on
		fetch_wait 2s
	}
}
http://monitored.test:$CLEAR {
	import guarded monitor {
		rate
	}
	import proxied $MONITORED
}
http://:$CLEAR {
	import guarded enforce
	import proxied $INVENTED
}
`
