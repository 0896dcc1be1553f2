#!lua flags=allow-oom
-- All partitions know it.
-- KEYS message, controlled
-- ARGV control, raw id
local held = redis.call('HMGET', KEYS[1], 'ctl', 'st')
if held[1] and (held[1] ~= ARGV[1] or held[2] == 's' or held[2] == 'w') then return 0 end
return redis.call('SREM', KEYS[2], ARGV[2])
