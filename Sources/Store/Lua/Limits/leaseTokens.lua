#!lua flags=allow-oom
-- Tokens of a bucket that holds `quota` of them, and gets as many in each window, evenly. What is kept is when it will
-- be full again (GCRA): a bucket without a key is full, and the key lives until then. A clock that went back makes it
-- full within one window from now.
-- KEYS bucket
-- ARGV quota, window in microseconds, the least that helps, the most that is wanted
-- → tokens granted, 0 or at least the least, and never more than half of what is there unless the least is more; tokens
--   that stay in the bucket; milliseconds until it has the least
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local quota, window, least, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local one = window / quota
local held = tonumber(redis.call('GET', KEYS[1]) or 0)
local full = math.max(now, math.min(now + window, held))
local left = math.floor(quota - (full - now) / one + 0.000001)
local granted, wait = 0, 0
if left >= least then
  granted = math.min(wanted, math.max(least, math.floor(left / 2)))
else
  wait = math.max(1, math.ceil((full - now - (quota - least) * one) / 1000))
end
full = full + granted * one
if granted > 0 or held > full then
  redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', string.format('%.0f', (full - now) / 1000 + 1000))
end
return {granted, left - granted, wait}
