#!lua
-- Stores who is in a part, counts what ended before it began, and adds a job for each credential.
-- KEYS lease, work, snapshot, codes, starts, seq, ready, waiting, ends, finished, segments, kept, streams…, tallies
-- ARGV owner, raw id, hour, retention, channel, partition, members, members to be sent, snapshot, when what is left
-- ends, 1 if made for a cancelled message, number of counters, (counter, count)…, number of jobs, (place of its
-- stream, name, first, count, due or '')…
-- → 0: it was started, has ended or is paused; 1: started; 2: it was cancelled meanwhile; or how it ended, if nothing
-- is left to do
-- use owner, clock, keepInPlace, mark, tally
local w, id = KEYS[2], ARGV[2]
local flag = redis.call('HMGET', w, 'a', 'n', 'c', 'ap')
if not flag[1] or flag[2] then
  redis.call('ZREM', KEYS[5], id)
  return 0
end
local word = flag[3] and string.sub(flag[3], 1, 1)
if word == 'c' and ARGV[11] ~= '1' then return 2 end
if word == 'p' and tonumber(now()) < tonumber(ARGV[10]) then
  redis.call('ZADD', KEYS[5], 'XX', ARGV[10], id)
  return 0
end
local count, open = tonumber(ARGV[7]), tonumber(ARGV[8])
local base = redis.call('INCRBY', KEYS[6], count) - count + 1
redis.call('HSET', w, 's', string.format('%.0f', base), 'n', count, 'x', open, 'r', 0, 'u', ARGV[10])
local at = 13
for i = 1, tonumber(ARGV[12]) do
  redis.call('HSET', w, ARGV[at], ARGV[at + 1])
  tally(ARGV[at], ARGV[at + 1], flag[4])
  at = at + 2
end
settleTallies()
redis.call('SET', KEYS[3], ARGV[9])
redis.call('ZREM', KEYS[5], id)
if open == 0 then
  return keepInPlace(id, {w, KEYS[3]}, KEYS[11], KEYS[12], KEYS[10], ARGV[3], ARGV[4])
end
-- All at once: a string that grows is given twice its room.
redis.call('SET', KEYS[4], string.rep('\0', math.floor((open + 1) / 2)))
redis.call('ZADD', KEYS[9], ARGV[10], id)
local jobs = tonumber(ARGV[at])
at = at + 1
for i = 1, jobs do
  local name, first = ARGV[at + 1], ARGV[at + 2]
  redis.call('HSET', w, 'j' .. first, ARGV[at + 3])
  if ARGV[at + 4] ~= '' then
    redis.call('ZADD', KEYS[5], ARGV[at + 4], id .. struct.pack('>I4', tonumber(first)))
  else
    redis.call('XADD', KEYS[13 + tonumber(ARGV[at])], string.format('%.0f', base + tonumber(first)) .. mark(id),
      'm', id, 'a', first, 'c', ARGV[at + 3])
    local wakes = redis.call('SADD', KEYS[7], name) + redis.call('SREM', KEYS[8], name)
    if wakes > 0 then redis.call('PUBLISH', ARGV[5], 'w ' .. ARGV[6] .. ' ' .. name) end
  end
  at = at + 5
end
return 1
