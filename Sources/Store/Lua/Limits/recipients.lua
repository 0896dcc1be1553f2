#!lua flags=allow-oom
-- Counts recipients by steps of time, each a field. A step that lies ahead, as the clock went back, counts as the
-- present one.
-- KEYS window
-- ARGV how many, most, milliseconds of a step, steps
-- → 1 if taken, milliseconds until it may be, sum
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local count, most, long, steps = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local step = math.floor(now / long)
local sum, ahead, held = 0, 0, {}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local at, some = tonumber(fields[i]), tonumber(fields[i + 1])
  if at < step - steps then
    redis.call('HDEL', KEYS[1], fields[i])
  else
    sum = sum + some
    if at > step then
      redis.call('HDEL', KEYS[1], fields[i])
      ahead, at = ahead + some, step
    end
    held[#held + 1] = {at, some}
  end
end
local keep = (steps + 2) * long
if ahead > 0 then
  redis.call('HINCRBY', KEYS[1], step, ahead)
  redis.call('PEXPIRE', KEYS[1], keep)
end
if count == 0 then return {0, 0, sum} end
if sum == 0 or sum + count <= most then
  redis.call('HINCRBY', KEYS[1], step, count)
  redis.call('PEXPIRE', KEYS[1], keep)
  return {1, 0, sum + count}
end
table.sort(held, function(a, b) return a[1] < b[1] end)
local left, wait = sum, 0
for _, one in ipairs(held) do
  left = left - one[2]
  wait = (one[1] + steps + 1) * long - now
  if left == 0 or left + count <= most then break end
end
return {0, math.max(1, wait), sum}
