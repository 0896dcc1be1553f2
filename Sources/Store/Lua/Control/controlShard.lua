#!lua flags=allow-oom
-- What `control` does, in one of the message's partitions, unless a later one is known there. What was not started
-- starts now to be counted as cancelled, or no earlier than its ttl is over, or at its own time.
-- KEYS work, starts, ends
-- ARGV channel, message, raw id, partition, control
local part = redis.call('HMGET', KEYS[1], 'l', 'a', 'n', 'x', 'c', 'at')
local word = string.sub(ARGV[5], 1, 1)
if part[1] and part[4] ~= '0' then
  if part[5] and tonumber(string.sub(part[5], 2)) > tonumber(string.sub(ARGV[5], 2)) then return 0 end
  redis.call('HSET', KEYS[1], 'c', ARGV[5])
  if part[2] and word == 'c' then redis.call('ZADD', KEYS[3], 'XX', 0, ARGV[3]) end
  if part[2] and not part[3] then
    local start = part[6]
    if word == 'c' then start = '0' end
    if word == 'p' then start = string.format('%.0f', part[6] + math.max(part[1] * 1000, SHORTEST_START)) end
    redis.call('ZADD', KEYS[2], 'XX', start, ARGV[3])
    if word ~= 'p' then redis.call('PUBLISH', ARGV[1], 's ' .. ARGV[4]) end
  end
end
redis.call('PUBLISH', ARGV[1], 'c ' .. ARGV[4] .. ' ' .. ARGV[2] .. ' ' .. ARGV[5])
return 1
