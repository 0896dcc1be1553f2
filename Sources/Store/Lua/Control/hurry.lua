#!lua flags=allow-oom
-- A cancelled message that waits for its time has none to wait for.
-- KEYS message, scheduled
-- ARGV raw id, channel, partition
if redis.call('ZADD', KEYS[2], 'XX', 'CH', 0, ARGV[1]) == 1 then redis.call('PUBLISH', ARGV[2], 's ' .. ARGV[3]) end
return 1
