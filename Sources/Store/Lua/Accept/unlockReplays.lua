#!lua flags=allow-oom
-- The replay is made, or is not.
-- KEYS replays
-- ARGV mark
local held = redis.call('HGET', KEYS[1], '')
if held and string.match(held, '^%d+') == ARGV[1] then redis.call('HDEL', KEYS[1], '') end
return 1
