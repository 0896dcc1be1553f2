#!lua flags=allow-oom
-- Ends members of a job that have no outcome, a bounded range at a time.
-- KEYS lease, work, codes, ends, finished, segments, kept, ready, stream, snapshot, deliveries, slices, tallies
-- ARGV owner, raw id, hour, retention, code, first of the job, its entry, name of the stream, (from, to, counter)…
-- → 0 or how the part ended
-- use owner, clock, keepInPlace, tally
local w, codes, id, code = KEYS[2], KEYS[3], ARGV[2], tonumber(ARGV[5])
local job = 'j' .. ARGV[6]
local flag = redis.call('HMGET', w, 'x', job, 'ap')
if not flag[1] or not flag[2] then return 0 end
local total = 0
for at = 9, #ARGV, 3 do
  local from, to = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local first = math.floor(from / 2)
  local old = redis.call('GETRANGE', codes, first, math.floor((to - 1) / 2))
  local bytes, ended = {string.byte(old, 1, -1)}, 0
  for i = 1, #bytes do
    local byte, index = bytes[i], (first + i - 1) * 2
    local high = math.floor(byte / 16)
    local low = byte - high * 16
    if high == 0 and index >= from then
      high = code
      ended = ended + 1
    end
    if low == 0 and index + 1 >= from and index + 1 < to then
      low = code
      ended = ended + 1
    end
    bytes[i] = high * 16 + low
  end
  if ended > 0 then
    redis.call('SETRANGE', codes, first, string.char(unpack(bytes)))
    redis.call('HINCRBY', w, ARGV[at + 2], ended)
    tally(ARGV[at + 2], ended, flag[3])
    total = total + ended
  end
end
settleTallies()
local left = tonumber(flag[2]) - total
if total > 0 then redis.call('HSET', w, job, left, 'lo', now()) end
if left == 0 then
  redis.call('XDEL', KEYS[9], ARGV[7])
  if redis.call('XLEN', KEYS[9]) == 0 then
    redis.call('DEL', KEYS[9])
    redis.call('SREM', KEYS[8], ARGV[8])
  end
end
if total > 0 and redis.call('HINCRBY', w, 'x', -total) == 0 then
  redis.call('ZREM', KEYS[4], id)
  return keepInPlace(id, {w, KEYS[10], codes, KEYS[11], KEYS[12]}, KEYS[6], KEYS[7], KEYS[5], ARGV[3], ARGV[4])
end
return 0
