-- Asks Robots Guard whether a request may pass.
-- It is asked by way of HAProxy itself, which waits two seconds for an answer.
local guard = "http://127.0.0.1:9182/"

-- What is done without an answer: true lets everybody pass.
local pass_without = true

-- What of the client's own header the guard needs.
local wanted = { "user-agent", "accept", "referer", "signature", "signature-input", "signature-agent" }

-- What the application is told, as header fields.
local told = { "x-robots-guard-verdict", "x-robots-guard-crawler", "x-robots-guard-identity" }

local function refuse(txn, status, response)
	local reply = txn:reply({ status = status })
	if response then
		for _, name in ipairs({ "content-type", "cache-control", "vary", "retry-after", "ratelimit", "ratelimit-policy" }) do
			for _, value in pairs(response.headers[name] or {}) do
				reply:add_header(name, value)
			end
		end
		if txn.f:method() ~= "HEAD" then
			reply:set_body(response.body or "")
		end
	end
	txn:done(reply)
end

-- The host that is asked for. HTTP/1.0 needs to name none: then it is the address, as for
-- other health checks.
local function host_of(txn)
	local host = txn.f:req_hdr("host") or ""
	if host == "" then
		host = txn.f:dst()
		if host:find(":", 1, true) then
			host = "[" .. host .. "]"
		end
	end
	return host
end

core.register_action("robots_guard", { "http-req" }, function(txn)
	local sent = txn.http:req_get_headers()
	local question = {
		["x-forwarded-method"] = { txn.f:method() },
		["x-forwarded-proto"] = { txn.f:ssl_fc() == 1 and "https" or "http" },
		["x-forwarded-host"] = { host_of(txn) },
		["x-forwarded-uri"] = { txn.f:url() }, -- as it was sent
		["x-forwarded-for"] = { txn.f:src() },
	}
	for _, name in ipairs(wanted) do
		if sent[name] then
			-- In one field: HAProxy sends no question of more than a hundred. It counts from 0.
			question[name] = { table.concat(sent[name], ", ", 0) }
		end
	end
	for _, name in ipairs(told) do
		txn.http:req_del_header(name) -- whatever the client says
	end
	local response = core.httpclient():get({ url = guard, headers = question, timeout = 3000 })
	local status = response and response.status or 0
	local found = response and response.headers or {}
	-- What HAProxy answers itself, while nobody else does, is a 5xx without the guard's fields.
	-- A 4xx without them is an answer: the client sent what is no HTTP, or too much of it.
	local answered = found["x-robots-guard-verdict"] or found["x-robots-guard-undecided"]
	if status == 200 then
		for _, name in ipairs(told) do
			for _, value in pairs(response.headers[name] or {}) do
				txn.http:req_set_header(name, value)
			end
		end
	elseif status == 0 or (status >= 500 and not answered) then
		core.Warning("robots_guard: no answer from " .. guard)
		if not pass_without then
			refuse(txn, 503)
		end
	else
		refuse(txn, status, response)
	end
end)
