-- wrk script: sends the requests of a file in turn, unchanged, and prints a report at the end.
local requests, at = {}, 0

function init()
  local file = assert(io.open(os.getenv('REQUESTS'), 'rb'))
  for length in function() return file:read('*n') end do
    file:read(1)
    requests[#requests + 1] = file:read(length)
  end
  file:close()
end

function request()
  at = at % #requests + 1
  return requests[at]
end

-- Share of the requests that took more than `most` microseconds.
local function share_beyond(latency, most)
  local all, beyond = 0, 0
  for i = 1, #latency do
    local microseconds, count = latency(i)
    all = all + count
    if microseconds > most then beyond = beyond + count end
  end
  return all == 0 and 0 or beyond / all
end

function done(summary, latency)
  local failed = summary.errors
  local slow_ms = tonumber(os.getenv('SLOW_MS'))
  local slow = slow_ms and 1e3 * slow_ms or tonumber(os.getenv('SLOW_FACTOR')) * latency:percentile(50)
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"seconds":%.6f,"failed":%d,"p50":%.3f,"p99":%.3f,"p999":%.3f,"slowShare":%.6f,"cpuSeconds":%.3f}\n',
    summary.requests, summary.bytes, summary.duration / 1e6,
    failed.connect + failed.read + failed.write + failed.status + failed.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3,
    share_beyond(latency, slow), os.clock()))
end
