#!lua flags=allow-oom
-- Permissions from buckets that must all have some; none is taken unless all are. A bucket fills at its rate, holds
-- what came in `burst`, and one at first. With a ramp its rate grows from a fiftieth to the whole in that time, and
-- begins anew after as long a rest. One that is counted keeps what it gave in each tenth of a second, and the sum of
-- the last ten seconds and a little never passes `most`, whoever comes late. What lies ahead of Redis' clock, as that
-- went back, is of now: all that was given counts as given this moment.
-- KEYS buckets
-- ARGV how many, then per bucket: rate per second, burst and ramp in milliseconds, most or 0
-- → how many, milliseconds until there is one more
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local count, wait, buckets = tonumber(ARGV[1]), 0, {}
for i, key in ipairs(KEYS) do
  local a = i * 4 - 2
  local rate, burst, ramp, most = tonumber(ARGV[a]), ARGV[a + 1] * 1000, ARGV[a + 2] * 1000, tonumber(ARGV[a + 3])
  local held = redis.call('HMGET', key, 'n', 'b', 'c', 's')
  local last = math.min(now, tonumber(held[1] or now))
  local began = math.min(now, tonumber(held[2] or now))
  if ramp > 0 then
    if not held[1] or now - last > ramp then began = now end
    rate = rate * math.max(RAMP_FLOOR, math.min(1, (now - began) / ramp))
  end
  local one = 1000000 / rate
  -- One and a little more, as now is not exact to the last microsecond: a bucket that waits for one gets it.
  local least = math.ceil(one) + 1
  local taken = math.max(held[1] and last or now - least, now - math.max(burst, least))
  local has = (now - taken) / one
  local whole = math.floor(has + 0.000001)
  count = math.min(count, whole)
  wait = math.max(wait, (1 - (has - whole)) * one)
  local b = {taken = taken, one = one, began = began, keep = ramp + burst, old = {}}
  b.ahead = held[1] and tonumber(held[1]) > now or tonumber(held[2] or 0) > now
  if most > 0 then
    local cell = math.floor(now / RATE_CELL_US)
    b.sum = tonumber(held[4] or 0)
    if tonumber(held[3] or 0) > cell then
      for other = 0, RATE_CELLS - 1 do b.old[#b.old + 1] = other end
      redis.call('HDEL', key, unpack(b.old))
      redis.call('HSET', key, cell % RATE_CELLS, b.sum, 'c', cell)
      b.old, held[3] = {}, cell
    end
    b.cell = cell
    for cell = math.max(tonumber(held[3] or b.cell), b.cell - RATE_CELLS) + 1, b.cell do
      b.old[#b.old + 1] = cell % RATE_CELLS
    end
    if #b.old > 0 then
      for _, gone in ipairs(redis.call('HMGET', key, unpack(b.old))) do b.sum = b.sum - (gone or 0) end
    end
    count = math.min(count, most - b.sum)
    if b.sum >= most then wait = math.max(wait, RATE_CELL_US - now % RATE_CELL_US) end
  end
  if b.ahead then redis.call('HSET', key, 'n', string.format('%.0f', taken), 'b', string.format('%.0f', began)) end
  buckets[i] = b
end
if count > 0 then
  for i, key in ipairs(KEYS) do
    local b = buckets[i]
    redis.call('HSET', key, 'n', string.format('%.0f', b.taken + count * b.one), 'b', string.format('%.0f', b.began))
    if b.cell then
      if #b.old > 0 then redis.call('HDEL', key, unpack(b.old)) end
      redis.call('HINCRBY', key, b.cell % RATE_CELLS, count)
      redis.call('HSET', key, 'c', b.cell, 's', b.sum + count)
    end
    redis.call('PEXPIRE', key, string.format('%.0f', 60000 + (b.one + b.keep) / 1000))
  end
end
return {math.max(0, count), math.ceil(wait / 1000)}
