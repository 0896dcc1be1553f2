#!lua flags=allow-oom
-- A message that waits at home was cancelled, and has no time to wait for; or it was resumed, and waits no longer than
-- planned. Repeatable.
-- KEYS message, scheduled
-- ARGV raw id, channel, partition
local m = redis.call('HMGET', KEYS[1], 'st', 'at', 'can')
local held = redis.call('ZSCORE', KEYS[2], ARGV[1])
if m[1] ~= 'w' or not held then return 0 end
local due = m[3] and '0' or m[2]
if tonumber(held) <= tonumber(due) then return 0 end
redis.call('ZADD', KEYS[2], due, ARGV[1])
redis.call('PUBLISH', ARGV[2], 's ' .. ARGV[3])
return 1
