-- Asks Robots Guard whether a request may pass.
local http = require("socket.http")
local ltn12 = require("ltn12")

local guard = "http://127.0.0.1:9181/"

-- What is done without an answer: true lets everybody pass.
local pass_without = true

-- How long is waited for one, in seconds. It takes a worker of Apache.
http.TIMEOUT = 2

-- What of the client's own header the guard needs.
local wanted = { "User-Agent", "Accept", "Referer", "Signature", "Signature-Input", "Signature-Agent" }

-- What the application is told, as header fields.
local told = { "X-Robots-Guard-Verdict", "X-Robots-Guard-Crawler", "X-Robots-Guard-Identity" }

-- The host that is asked for, the first one of the site where HTTP/1.0 names none.
local function host_of(r)
	local host = r.hostname or r.server_name
	if host:find(":", 1, true) then
		return "[" .. host .. "]" -- an address of IPv6, which Apache has without
	end
	return host
end

function ask(r)
	if not r.is_initial_req then
		return apache2.DECLINED -- it was asked about
	end
	local question = {
		["Host"] = "robots-guard",
		["X-Forwarded-Method"] = r.method,
		["X-Forwarded-Proto"] = r.is_https and "https" or "http",
		["X-Forwarded-Host"] = host_of(r),
		["X-Forwarded-Uri"] = r.unparsed_uri, -- as it was sent
		["X-Forwarded-For"] = r.useragent_ip,
	}
	for _, name in ipairs(wanted) do
		local value = r.headers_in[name]
		-- Without one the library would send its own.
		if value or name == "User-Agent" then
			question[name] = value or ""
		end
	end
	for _, name in ipairs(told) do
		r.headers_in[name] = nil -- whatever the client says
	end
	local body = {}
	local _, status, header = http.request({ url = guard, headers = question, redirect = false, sink = ltn12.sink.table(body) })
	if status == 200 then
		for _, name in ipairs(told) do
			local value = header[name:lower()]
			if value then
				r.headers_in[name] = value
			end
		end
		return apache2.DECLINED -- others may still refuse it
	end
	if type(status) ~= "number" then
		r:warn("robots_guard: no answer from " .. guard .. ": " .. tostring(status))
		return pass_without and apache2.DECLINED or 503
	end
	r.status = status
	-- As it came: Apache would call a text of its own HTML.
	r.content_type = header["content-type"] or "text/plain"
	for _, name in ipairs({ "cache-control", "vary", "retry-after", "ratelimit", "ratelimit-policy" }) do
		if header[name] then
			r.err_headers_out[name] = header[name]
		end
	end
	r:write(table.concat(body))
	return apache2.DONE
end
