#!lua flags=allow-oom
-- Ends deliveries whose job or record cannot be read.
-- KEYS lease, finished, retry, segments, odd, work, deliveries, slices, message (or again work, when home is
-- elsewhere), segment, kept, tallies
-- ARGV owner, raw id, hour, retention, home here, how many are odd, 1 if those that wait for a retry are meant,
-- (index, head, counter)…
-- → fields and values of `finished`
-- use owner, archive, keepInPlace, earlier, tally
local id, w, d = ARGV[2], KEYS[6], KEYS[7]
if ARGV[6] ~= '0' then redis.call('INCRBY', KEYS[5], ARGV[6]) end
local told, ended, retrying, held = {}, 0, 0, 0
if redis.call('HEXISTS', w, 'x') == 0 then return told end
for at = 8, #ARGV, 3 do
  local record = redis.call('HGET', d, ARGV[at])
  if not record or (ARGV[7] == '1' and string.byte(record) ~= 70) then
    if record then
      retrying = retrying - 1
      if earlier(record) == '' then held = held - 1 end
    end
    redis.call('HSET', d, ARGV[at], ARGV[at + 1])
    redis.call('HINCRBY', w, ARGV[at + 2], 1)
    tally(ARGV[at + 2], 1)
    redis.call('ZREM', KEYS[3], id .. struct.pack('>I4', tonumber(ARGV[at])))
    ended = ended + 1
  end
end
settleTallies()
if retrying ~= 0 then redis.call('HINCRBY', w, 'r', retrying) end
if held ~= 0 then redis.call('HINCRBY', w, 'h', held) end
if ended == 0 or redis.call('HINCRBY', w, 'x', -ended) > 0 then return told end
if tonumber(redis.call('HGET', w, 'n')) > inPlaceFrom then
  told = {id, keepInPlace(id, {w, d, KEYS[8]}, KEYS[4], KEYS[11], KEYS[2], ARGV[3], ARGV[4])}
else
  close(id, redis.call('HGETALL', w), redis.call('HGETALL', d), KEYS[9], KEYS[10], KEYS[4], KEYS[2], ARGV[3],
    ARGV[4], ARGV[5], told)
  for i = 6, 8 do drop(KEYS[i]) end
  settle()
end
return told
