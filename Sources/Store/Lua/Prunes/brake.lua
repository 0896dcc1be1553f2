#!lua flags=allow-oom
-- Puts a credential's brake on, unless it is.
-- KEYS brakes
-- ARGV credential, time, seen, dead, the rest, channel
local entry = table.concat({ARGV[2], ARGV[3], ARGV[4], ARGV[5]}, ' ')
if redis.call('HSETNX', KEYS[1], ARGV[1], entry) == 0 then return 0 end
redis.call('PUBLISH', ARGV[6], 'b')
return 1
